"""Recency: results that arrived long ago leave an excerpt, whether or not anything refers to them.

Rule: only age counts; it is the simplest policy that others are measured against.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, results, shortened, spared, turns


@dataclass(frozen=True, slots=True)
class Recency:
    """Shorten every result that arrived so many turns ago.

    ``turns``: turns since a result arrived, from which on it is dead; at least 1; default 10.
    ``keep``: the share of its tokens that the excerpt may take, 0 to 1; default 0.15.
    ``quotable_idle``: turns without a reference after which the newest view of a resource goes too; default 12,
    0 for never.
    """

    turns: int = 10
    keep: float = 0.15
    quotable_idle: int = 12

    def __post_init__(self) -> None:
        check_least(1, turns=self.turns)
        check_least(0, quotable_idle=self.quotable_idle)
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``recency``."""
        return "recency"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that is old enough."""
        for one in results(heap):
            age = heap.turn - one.turn
            if age >= self.turns and not spared(one, heap.turn, self.quotable_idle):
                since = one.turn + self.turns
                if one.quotable:
                    since = max(since, one.referenced + self.quotable_idle)
                yield from shortened(self.name, heap, one, self.keep, f"arrived {turns(age)} ago", since)
