"""Accumulators: plain dictionaries by label values, about a microsecond an update.

Rule: a counter never goes down, and the number of its label sets is bounded by its metric's limit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from .labels import REST
from .metrics import Metric

Labels = tuple[str, ...]


class Trace(NamedTuple):
    """The trace that an observation belongs to (32 hex digits; empty: none), and when it was made, in Unix seconds."""

    id: str = ""
    at: float = 0.0


class Exemplar(NamedTuple):
    """An observation that can be looked up in a trace."""

    trace: Trace
    value: float


UNTRACED = Trace()


@dataclass(slots=True)
class Counts:
    """A counter: a sum per label set."""

    limit: int = 0
    source: int = -1
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, labels: Labels, amount: float) -> None:
        """Count ``amount`` more; what is not above zero changes nothing."""
        if amount <= 0:
            return
        if labels not in self.values and self.limit and len(self.values) >= self.limit:
            labels = self._folded(labels)
        self.values[labels] = self.values.get(labels, 0) + amount

    def _folded(self, labels: Labels) -> Labels:
        """The labels without their source, for a metric that has enough of them."""
        if not labels[self.source]:
            return labels
        return (*labels[: self.source], REST, *labels[self.source + 1 :])


@dataclass(slots=True)
class Buckets:
    """One histogram of one label set: observations per bucket (not cumulated; the last is above all bounds), and of
    each bucket the newest observation that was traced."""

    counts: list[int]
    sum: float = 0.0
    exemplars: dict[int, Exemplar] = field(default_factory=dict)

    def copy(self) -> Buckets:
        """As it stands now."""
        return Buckets(list(self.counts), self.sum, dict(self.exemplars))


@dataclass(slots=True)
class Spread:
    """A histogram: buckets per label set."""

    bounds: tuple[float, ...]
    values: dict[Labels, Buckets] = field(default_factory=dict)

    def observe(self, labels: Labels, value: float, trace: Trace = UNTRACED) -> None:
        """Count one observation; a value equal to a bound is within it. Below zero is a clock's fault, and zero."""
        value = max(value, 0.0)
        found = self.values.get(labels)
        if found is None:
            found = self.values[labels] = Buckets([0] * (len(self.bounds) + 1))
        bucket = bisect_left(self.bounds, value)
        found.counts[bucket] += 1
        found.sum += value
        if trace.id:
            found.exemplars[bucket] = Exemplar(trace, value)


class Board:
    """The accumulators of all counters and histograms of a table, by metric name."""

    __slots__ = ("counters", "histograms")

    def __init__(self, table: Iterable[Metric]) -> None:
        self.counters: dict[str, Counts] = {}
        self.histograms: dict[str, Spread] = {}
        for metric in table:
            if metric.type == "counter":
                source = metric.labels.index("source") if "source" in metric.labels else -1
                self.counters[metric.name] = Counts(metric.limit, source, dict.fromkeys(metric.known, 0))
            elif metric.type == "histogram":
                empty = {labels: Buckets([0] * (len(metric.buckets) + 1)) for labels in metric.known}
                self.histograms[metric.name] = Spread(metric.buckets, empty)

    def add(self, name: str, labels: Labels = (), amount: float = 1) -> None:
        """Count on a counter."""
        self.counters[name].add(labels, amount)

    def observe(self, name: str, labels: Labels, value: float, trace: Trace = UNTRACED) -> None:
        """Observe into a histogram."""
        self.histograms[name].observe(labels, value, trace)

    def copy(self) -> Board:
        """As it stands now, unchanged by what comes."""
        other = Board(())
        for name, counts in self.counters.items():
            other.counters[name] = Counts(counts.limit, counts.source, dict(counts.values))
        for name, spread in self.histograms.items():
            values = {labels: each.copy() for labels, each in spread.values.items()}
            other.histograms[name] = Spread(spread.bounds, values)
        return other
