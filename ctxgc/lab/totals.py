"""Totals over sessions: the bill, distributions, survival by tool, and which policies are dominated.

Rule: totals are sums of sessions and not means of ratios; where a distribution is given, its worst is given too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.lab.batch import Compared
from ctxgc.lab.comparison import Run
from ctxgc.lab.judge import Judged, Survival


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution over sessions: tenth, fiftieth and ninetieth percentile, and the worst."""

    p10: float
    median: float
    p90: float
    worst: float


@dataclass(frozen=True, slots=True)
class Totals:
    """All sessions under one policy at one class. Ratios are to never collecting; ``cost`` is of the sum of all.

    ``rewrites`` is the share of turns that changed something already sent; ``tokens`` the share of tokens sent.
    Survival is pooled over all needs in ``survival``; ``survivals`` is over the sessions that have any.
    """

    policy: str
    price_class: str
    sessions: int
    turns: int
    cost: float
    costs: Spread
    tokens: float
    tokens_spread: Spread
    rewrites: float
    rewrites_spread: Spread
    rewritten: float
    survival: Survival
    survivals: Spread
    by_tag: Mapping[str, Survival]
    by_use: Mapping[str, Survival]
    invalid: int
    bypasses: int
    prepare_seconds: float
    admit_seconds: float
    collections: Mapping[str, int]
    compactions: int = 0


def totals(compared: Sequence[Compared]) -> tuple[Totals, ...]:
    """One for each policy and class, in the order in which they were run."""
    groups: dict[tuple[str, str], list[tuple[Run, Judged]]] = defaultdict(list)
    for one in compared:
        for run in one.runs:
            groups[run.policy, run.price_class.name].append((run, one.never))
    return tuple(_totals(policy, name, group) for (policy, name), group in groups.items())


def spread(values: Iterable[float], *, least: bool = False) -> Spread:
    """The distribution of values; the worst is the largest, or the ``least``. Ones where there are none."""
    ordered = sorted(values) or [1.0]
    worst = ordered[0] if least else ordered[-1]
    return Spread(quantile(ordered, 0.1), quantile(ordered, 0.5), quantile(ordered, 0.9), worst)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of ordered values lies, interpolated (Hyndman and Fan 1996, type 7)."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def dominated(points: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Which (cost, survival) points another one beats: no dearer and no worse, and better in one of the two."""
    return tuple(any(_beats(other, one) for other in points) for one in points)


def pooled(parts: Iterable[Mapping[str, Survival]]) -> dict[str, Survival]:
    """Survival by name, summed; the most needed first."""
    found = defaultdict[str, Survival](Survival)
    for part in parts:
        for name, survival in part.items():
            found[name] = found[name] + survival
    return dict(sorted(found.items(), key=lambda item: (-item[1].needed, item[0])))


def _beats(other: tuple[float, float], one: tuple[float, float]) -> bool:
    return other != one and other[0] <= one[0] and other[1] >= one[1]


def _totals(policy: str, price_class: str, group: Sequence[tuple[Run, Judged]]) -> Totals:
    runs = [run for run, _ in group]
    judged = [run.judged for run in runs]
    before = sum(run.price_class.cost(never.read, never.written) for run, never in group)
    received = sum(never.tokens for _, never in group)
    turns = sum(one.turns for one in judged)
    return Totals(
        policy=policy,
        price_class=price_class,
        sessions=len(group),
        turns=turns,
        cost=_share(sum(run.cost for run in runs), before, 1.0),
        costs=spread(run.cost_ratio(never) for run, never in group),
        tokens=_share(sum(one.tokens for one in judged), received, 1.0),
        tokens_spread=spread(_share(run.judged.tokens, never.tokens, 1.0) for run, never in group),
        rewrites=_share(sum(one.rewrites for one in judged), turns, 0.0),
        rewrites_spread=spread(_share(one.rewrites, one.turns, 0.0) for one in judged),
        rewritten=sum(one.rewritten for one in judged),
        survival=sum((one.survival for one in judged), Survival()),
        survivals=spread((one.survival.survived for one in judged if one.survival.needed), least=True),
        by_tag=pooled(one.by_tag for one in judged),
        by_use=pooled(one.by_use for one in judged),
        invalid=sum(len(one.invalid) for one in judged),
        bypasses=sum(run.bypasses for run in runs),
        prepare_seconds=sum(run.prepare_seconds for run in runs),
        admit_seconds=sum(run.admit_seconds for run in runs),
        collections=dict(sum((Counter(run.collections) for run in runs), Counter())),
        compactions=sum(run.compactions for run in runs),
    )


def _share(part: float, whole: float, otherwise: float) -> float:
    return part / whole if whole else otherwise
