"""Amounts with labels under a name, and the arithmetic of a panel: sums and quantiles by label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Labels = frozenset[tuple[str, str]]


@dataclass
class Facts:
    """Amounts with labels, under a name: tokens that were sent, dollars, seconds."""

    rows: dict[str, list[tuple[dict[str, str], float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, amount: float, **labels: str) -> None:
        self.rows[name].append((labels, amount))

    def groups(self, name: str, by: Sequence[str] = (), **where: str) -> dict[Labels, list[float]]:
        """The amounts by these labels, of the rows that have those values (``a|b``: any of them)."""
        found: dict[Labels, list[float]] = defaultdict(list)
        for labels, amount in self.rows[name]:
            if all(labels[key] in value.split("|") for key, value in where.items()):
                found[frozenset((key, labels[key]) for key in by if labels[key])].append(amount)
        return dict(found)

    def sums(self, name: str, by: Sequence[str] = (), **where: str) -> dict[Labels, float]:
        return {labels: sum(amounts) for labels, amounts in self.groups(name, by, **where).items()}

    def sum(self, name: str, **where: str) -> float:
        return self.sums(name, **where).get(frozenset(), 0.0)


def quantile(share: float, counts: Sequence[tuple[float, float]]) -> float:
    """The quantile of a histogram (upper bounds, the last infinite, with cumulated counts), as Prometheus estimates it:
    even within a bucket, from zero in the first, and the last bound that is finite beyond it."""
    rank = share * counts[-1][1]
    steps = pairwise([(0.0, 0.0), *counts])
    for (low, before), (high, upto) in steps:
        if upto >= rank and upto > before:
            return low if high == float("inf") else low + (high - low) * (rank - before) / (upto - before)
    return float("nan")


def cumulated(bounds: Sequence[float], amounts: Sequence[float]) -> list[tuple[float, float]]:
    """How many amounts are within each bound."""
    return [(bound, float(sum(amount <= bound for amount in amounts))) for bound in (*bounds, float("inf"))]
