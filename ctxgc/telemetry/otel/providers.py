"""OpenTelemetry's providers, as the environment's ``OTEL_*`` ask for them; nothing is registered globally.

Rule: what the SDK reads from the environment by itself (samplers, endpoints, headers, limits, batches) is left to it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from ctxgc.errors import ConfigError

from .names import SCOPE

FLUSH = 5.0
"""Seconds that the end waits for what is still to be exported."""


@dataclass(frozen=True, slots=True)
class Providers:
    """Where spans, log records and measurements go."""

    traces: TracerProvider
    logs: LoggerProvider
    meters: MeterProvider

    def flush(self) -> None:
        """Export what is left, as far as that can be done in ``FLUSH`` seconds."""
        _in_time([self.traces.force_flush, self.logs.force_flush, self.meters.force_flush])

    def close(self) -> None:
        """Export what is left, and end. A back end that does not answer costs ``FLUSH`` seconds, and no error."""
        _in_time([partial(_end, provider) for provider in (self.traces, self.logs, self.meters)])


def _end(provider: TracerProvider | LoggerProvider | MeterProvider) -> None:
    provider.force_flush()
    provider.shutdown()


def _in_time(works: list[Callable[[], object]]) -> None:
    """Do all of it side by side, for as long as there is time. Exporters try again and again, and take no limit for
    all that they have: what is not done by then is left to threads that do not hold up the end of the process."""
    until = time.monotonic() + FLUSH
    threads = [threading.Thread(target=_tried, args=(work,), name="ctxgc-export", daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0.0))


def _tried(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:  # it was tried
        pass


def from_environment() -> Providers:
    """The providers that the environment asks for. Raises ``ConfigError`` for an exporter that is not there."""
    about = resource()
    traces = TracerProvider(resource=about, shutdown_on_exit=False)
    for exporter in _exporters("traces"):
        traces.add_span_processor(BatchSpanProcessor(exporter))
    logs = LoggerProvider(resource=about, shutdown_on_exit=False)
    for exporter in _exporters("logs"):
        logs.add_log_record_processor(BatchLogRecordProcessor(exporter))
    readers = [
        one if isinstance(one, MetricReader) else PeriodicExportingMetricReader(one) for one in _exporters("metrics")
    ]
    return Providers(traces, logs, MeterProvider(readers, resource=about, shutdown_on_exit=False))


def resource() -> Resource:
    """Who we are: ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES``, and ``ctxgc`` where they do not say."""
    told = Resource.create()
    ours = Resource({SERVICE_VERSION: _version()})
    if str(told.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        ours = ours.merge(Resource({SERVICE_NAME: SCOPE}))
        return told.merge(ours)
    return ours.merge(told)


def _exporters(signal: str) -> Iterator[Any]:
    """What a signal is exported by: ``OTEL_TRACES_EXPORTER`` and so on, names with commas between; OTLP by default."""
    names = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip() or "otlp"
    for name in filter(None, (name.strip() for name in names.split(","))):
        if name.lower() != "none":
            yield _exporter(signal, _by_protocol(signal) if name == "otlp" else name)


def _by_protocol(signal: str) -> str:
    """The OTLP exporter for the protocol that is asked for; over HTTP by default, as the specification says."""
    protocol = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    return "otlp_proto_grpc" if protocol.strip() == "grpc" else "otlp_proto_http"


def _exporter(signal: str, name: str) -> Any:
    try:
        found = next(iter(entry_points(group=f"opentelemetry_{signal}_exporter", name=name)))
        return found.load()()
    except (StopIteration, ImportError):
        text = (
            f"otel: there is no {signal} exporter {name!r}; install its package or set OTEL_{signal.upper()}_EXPORTER"
        )
        raise ConfigError(text) from None


def _version() -> str:
    try:
        return version(SCOPE)
    except PackageNotFoundError:  # run from a source tree
        return "unknown"
