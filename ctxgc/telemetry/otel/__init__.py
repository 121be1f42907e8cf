"""OpenTelemetry: spans, log events and GenAI metrics over OTLP, made of the same journal entries as all other figures.

Rule: nothing of OpenTelemetry is imported before ``start`` is asked for it; no fault of tracing reaches a request.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxgc.core.journal import AnyEntry
from ctxgc.core.state import State
from ctxgc.errors import ConfigError
from ctxgc.tokens import Price

from .trail import UNTRACED, Sending, Tracer, Trail

if TYPE_CHECKING:
    from .tracing import Tracing

__all__ = ["UNTRACED", "Sending", "Tracer", "Trail", "observing", "start"]

Observe = Callable[[State, AnyEntry], None]
EXTRA = "otel needs OpenTelemetry, which is an extra: pip install 'ctxgc[otel]', or set otel to off"

_REFUSED = "otel: OpenTelemetry does not take what the environment's OTEL_* say"


def _no_price(_model: str) -> Price | None:
    return None


def _nothing() -> None:
    pass


def start(
    mode: str,
    *,
    upstream: str = "",
    price: Callable[[str], Price | None] = _no_price,
    failed: Callable[[], None] = _nothing,
) -> Tracing | None:
    """Begin to trace, as the environment's ``OTEL_*`` say; None for the mode ``off``, or ``OTEL_SDK_DISABLED``.

    ``auto`` leaves a request's tokens to a caller that traces it itself (it sends a ``traceparent``, sampled or not:
    its metrics count what its sampler leaves out), ``always`` says them, ``never`` does not. ``upstream`` is the base
    URL of the model API, ``price`` the price table, and ``failed`` is called whenever tracing failed at something.
    Call ``close`` at the end.
    Raises ``ConfigError`` where the extra, or an exporter that is asked for, is not installed, and for what
    OpenTelemetry refuses of ``OTEL_*``.
    """
    if mode == "off" or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    try:
        from . import providers
        from .tracing import Tracing

        found = providers.from_environment()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        raise ConfigError(EXTRA) from None
    except ValueError as error:  # by modules when they are imported, too
        raise ConfigError(f"{_REFUSED}: {' '.join(str(error).split())}") from None
    return Tracing(found, mode, upstream=upstream, price=price, failed=failed)


def observing(observe: Observe, tracing: Tracing | None) -> Observe:
    """One observer of journal entries that tells both: the callback of ``Kit.observe``."""
    if tracing is None:
        return observe
    also = tracing.observe

    def both(state: State, entry: AnyEntry) -> None:
        observe(state, entry)
        also(state, entry)

    return both
