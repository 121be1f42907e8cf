"""Refcount: results that nothing has referred to for some turns leave an excerpt.

Rule: a reference by the agent is the only sign of life; age alone kills nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Urgency, Verdict
from ctxgc.policies._residents import check_least, check_shares, results, shortened, spared, turns


@dataclass(frozen=True, slots=True)
class Refcount:
    """Shorten every result that was not referred to for so many turns.

    ``idle``: turns since a result arrived or was last referred to, from which on it is dead; at least 1; default 6.
    ``keep``: the share of its tokens that the excerpt may take, 0 to 1; default 0.15.
    ``eager``: at once, whatever rewriting the cached prefix costs, and not when it pays; default false.
    ``quotable_idle``: turns without a reference after which the newest view of a resource goes too; default 12,
    0 for never.
    """

    idle: int = 6
    keep: float = 0.15
    eager: bool = False
    quotable_idle: int = 12

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle)
        check_least(0, quotable_idle=self.quotable_idle)
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``refcount``."""
        return "refcount"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that was idle long enough."""
        urgency: Urgency = "now" if self.eager else "priced"
        for one in results(heap):
            idle = one.idle(heap.turn)
            if idle >= self.idle and not spared(one, heap.turn, self.quotable_idle):
                since = one.referenced + max(self.idle, self.quotable_idle if one.quotable else 0)
                yield from shortened(self.name, heap, one, self.keep, f"unused for {turns(idle)}", since, urgency)
