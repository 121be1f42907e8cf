"""Queries: how metrics are selected, and what is made of them.

Rule: every selector follows the dashboard's variables, and rates are over ``$__rate_interval``, totals over the range
that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

INSTANCE = 'job=~"$job",instance=~"$instance"'
MODEL = 'model=~"$model"'


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a panel, and how its series are named. ``instant`` asks for one value at the end of the range."""

    expr: str
    legend: str = ""
    instant: bool = False
    exemplar: bool = False


def of(metric: str, *labels: str, model: bool = False) -> str:
    """A metric's series: of the job and instances chosen, of the models chosen if it has that label."""
    return f"{metric}{{{','.join([INSTANCE, *([MODEL] if model else []), *labels])}}}"


def rate(metric: str, *labels: str, by: str = "", model: bool = False) -> str:
    """How much a second a counter grows, summed up."""
    return _sum(f"rate({of(metric, *labels, model=model)}[$__rate_interval])", by)


def total(metric: str, *labels: str, by: str = "", model: bool = False, over: str = "$__range") -> str:
    """How much a counter grew in the range that is shown, summed up."""
    return _sum(f"increase({of(metric, *labels, model=model)}[{over}])", by)


def few(metric: str, *labels: str, by: str = "") -> str:
    """How many of something rare there were, in each interval of a graph."""
    return total(metric, *labels, by=by, over="$__rate_interval")


def quantile(share: float, metric: str, *labels: str, by: str = "", model: bool = False, over: str = "") -> str:
    """A quantile of a histogram's observations, in each interval of the graph or ``over`` a range."""
    grew = f"rate({of(f'{metric}_bucket', *labels, model=model)}[{over or '$__rate_interval'}])"
    return f"histogram_quantile({share}, {_sum(grew, f'{by}, le' if by else 'le')})"


def none_is_zero(expr: str) -> str:
    """For counts of faults alone: where there is no series there was no fault."""
    return f"({expr} or vector(0))"


def _sum(expr: str, by: str) -> str:
    return f"sum by ({by}) ({expr})" if by else f"sum({expr})"
