"""The GenAI conventions' client metrics, over OTLP only: what `/metrics` has is ctxgc's own, and each has one source.

Rule: the names that dashboards query are always made, the newest ones beside them where they are opted into. No label
holds what a client made up: models are those of the price table, capped as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.metrics import Histogram, Meter

from ctxgc.core.journal import Settlement, Usage
from ctxgc.telemetry.models import Models
from ctxgc.tokens import Price

from . import names as n
from .describing import Attributes, failure

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Bounds that the conventions advise."""
_UNKNOWN = {n.MODALITY: "unknown"}


class Measures:
    """Records one call. ``about`` are the attributes that all calls share: provider-independent ones."""

    def __init__(self, meter: Meter, price: Callable[[str], Price | None], about: Attributes, *, latest: bool) -> None:
        self._models = Models(price)
        self._about = {n.OPERATION: n.CHAT, **about}
        durations = (n.DURATION, n.INFERENCE_DURATION) if latest else (n.DURATION,)
        firsts = (n.TIME_TO_FIRST_CHUNK, n.INFERENCE_FIRST_CHUNK) if latest else (n.TIME_TO_FIRST_CHUNK,)
        self._durations = [_histogram(meter, name, "s", SECONDS) for name in durations]
        self._firsts = [_histogram(meter, name, "s", SECONDS) for name in firsts]
        self._tokens = _histogram(meter, n.TOKEN_USAGE, "{token}", TOKENS)
        self._latest = _Latest(meter) if latest else None

    def record(self, model: str, provider: str, settlement: Settlement, *, stream: bool) -> None:
        """Record how a call ended, in the seconds and tokens of its journal entry."""
        asked, answered = self._models.find(model).model, self._models.find(settlement.model, model).model
        labels = {**self._about, n.PROVIDER: provider, n.REQUEST_MODEL: asked, n.RESPONSE_MODEL: answered}
        error = failure(settlement)
        ended = {**labels, n.ERROR: error} if error else labels
        if settlement.duration:  # zero is not known: in process, nobody measures how long a call takes
            for duration in self._durations:
                duration.record(settlement.duration, ended)
        if stream and settlement.first_byte:
            for first in self._firsts:
                first.record(settlement.first_byte, labels)
        if settlement.usage:
            self._tokens.record(settlement.usage.input, {**labels, n.TOKEN_TYPE: "input"})
            self._tokens.record(settlement.usage.output, {**labels, n.TOKEN_TYPE: "output"})
        if self._latest:
            self._latest.record(settlement.usage or Usage(), labels)


class _Latest:
    """The token instruments of the newest conventions: counters, and a histogram for each direction."""

    def __init__(self, meter: Meter) -> None:
        names = (n.USAGE_INPUT, n.USAGE_OUTPUT, n.USAGE_CACHE_READ, n.USAGE_CACHE_WRITE, n.USAGE_REASONING)
        self._counters = [meter.create_counter(name, "{token}") for name in names]
        self._input = _histogram(meter, n.OPERATION_INPUT, "{token}", TOKENS)
        self._output = _histogram(meter, n.OPERATION_OUTPUT, "{token}", TOKENS)

    def record(self, usage: Usage, labels: Attributes) -> None:
        """Record a call's tokens; one for which none were reported counts as 0, as the conventions say."""
        kinds = (usage.input, usage.output, usage.cached, usage.written, usage.reasoning)
        for counter, tokens in zip(self._counters, kinds, strict=True):
            counter.add(tokens, {**labels, **_UNKNOWN})
        self._input.record(usage.input, labels)
        self._output.record(usage.output, labels)


def _histogram(meter: Meter, name: str, unit: str, bounds: tuple[float, ...]) -> Histogram:
    return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=list(bounds))
