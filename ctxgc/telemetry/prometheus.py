"""The exposition: figures in Prometheus' text formats.

Rule: families are made anew for each scrape from the accumulators; no registry, and the client library is imported only
when the first scrape comes.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from .figures import Figures
from .metrics import BUILD, LIVE, TABLE, Metric
from .series import Board, Buckets, Exemplar, Labels, Spread

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.samples import Exemplar as Shown

    Bucket = tuple[str, float] | tuple[str, float, Shown]


def render(figures: Figures, accept: str = "") -> tuple[bytes, str]:
    """The exposition and its content type: OpenMetrics where the Accept header asks for it, else the text format."""
    from prometheus_client.exposition import choose_encoder

    try:
        encode, media = choose_encoder(accept)
    except (TypeError, ValueError):  # the client library compares whatever the header calls a version
        encode, media = choose_encoder("")
    return encode(_Families(figures)), media


class _Families(NamedTuple):
    """What the client library calls a collector."""

    figures: Figures

    def collect(self) -> Iterator[Family]:
        """All metrics that have a sample, in the order of the table."""
        board, gauges = self.figures.board(), self.figures.gauges()
        for metric in TABLE:
            if metric.name in self.figures.excluded:
                continue
            if metric.type == "counter":
                yield _counter(metric, board)
            elif metric.type == "histogram":
                yield _histogram(metric, board.histograms[metric.name])
            elif metric.name in gauges:
                yield _gauge(metric, {(): gauges[metric.name]})
            elif metric.name == LIVE:
                yield _gauge(metric, {(tag,): tokens for tag, tokens in self.figures.live().items()})
            elif metric.name == BUILD:
                yield _gauge(metric, {(_version(), platform.python_version()): 1})


def _counter(metric: Metric, board: Board) -> Family:
    from prometheus_client.metrics_core import CounterMetricFamily

    family = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in board.counters[metric.name].values.items():
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, spread: Spread) -> Family:
    from prometheus_client.metrics_core import HistogramMetricFamily

    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, buckets in spread.values.items():
        family.add_metric(labels, _cumulated(spread.bounds, buckets), buckets.sum)
    return family


def _cumulated(bounds: tuple[float, ...], buckets: Buckets) -> list[Bucket]:
    """Each bucket with its exemplar; the text format has no place for those, and the client library leaves them out."""
    names = [*(str(float(bound)) for bound in bounds), "+Inf"]
    cumulated = enumerate(zip(names, accumulate(buckets.counts), strict=True))
    return [(*bucket, _shown(found)) if (found := buckets.exemplars.get(at)) else bucket for at, bucket in cumulated]


def _shown(exemplar: Exemplar) -> Shown:
    from prometheus_client.samples import Exemplar as Shown

    return Shown({"trace_id": exemplar.trace.id}, exemplar.value, exemplar.trace.at)


def _gauge(metric: Metric, values: Mapping[Labels, int]) -> Family:
    from prometheus_client.metrics_core import GaugeMetricFamily

    family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ctxgc")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"
