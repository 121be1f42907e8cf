"""Generational: most results die young; one that was still used late in its life gets more patience.

Rule: a result belongs to the young generation until something refers to it past a certain age; its deadline follows
from its last reference alone, so that what is dead stays dead until it is referred to again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, left_of, results, shortened, spared, turns

_PATIENCE = 4
"""Idle limits are never raised above this many times what they are set to."""


@dataclass(frozen=True, slots=True)
class Generational:
    """Shorten results that were not referred to for some turns: young ones soon and a little, old ones later and more.

    ``young``: the age in turns up to which a result is young; one that is referred to at a greater age is old from
    then on; at least 0; default 4.
    ``idle``: turns after which a young result that nothing ever referred to is dead; at least 1; default 3.
    ``idle_referenced``: the same for a young one that something did refer to, counted from then; default 4.
    ``keep``: the share of its tokens that the excerpt of the first may take, 0 to 1; default 0.2.
    ``keep_referenced``: the same for the second; default 0.3.
    ``old_idle``: turns without a reference after which any result is dead, old ones too; at least 1; default 8.
    ``old_keep``: the share of its tokens that it may then take, 0 to 1; default 0.1.
    ``learn``: turns by which each recall of a result of the same tool raises these limits, to four times what they
    are at most; at least 0; default 2.
    ``quotable_idle``: turns without a reference after which the newest view of a resource goes too; default 12,
    0 for never.
    """

    young: int = 4
    idle: int = 3
    idle_referenced: int = 4
    keep: float = 0.2
    keep_referenced: float = 0.3
    old_idle: int = 8
    old_keep: float = 0.1
    learn: int = 2
    quotable_idle: int = 12

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle, idle_referenced=self.idle_referenced, old_idle=self.old_idle)
        check_least(0, young=self.young, learn=self.learn, quotable_idle=self.quotable_idle)
        check_shares(keep=self.keep, keep_referenced=self.keep_referenced, old_keep=self.old_keep)

    @property
    def name(self) -> str:
        """``generational``."""
        return "generational"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result past its generation's deadline."""
        for one in results(heap):
            if not spared(one, heap.turn, self.quotable_idle):
                yield from self._judge(heap, one)

    def _judge(self, heap: Heap, one: Resident) -> Iterator[Verdict]:
        idle, limit, share = one.idle(heap.turn), *self._young(one)
        old_limit, tenured = self._limit(one, self.old_idle), one.referenced - one.turn > self.young
        if idle >= old_limit:
            # What is already short has been dead for less long: only what is left of it counts, and only from now.
            short = tenured or one.sent <= left_of(heap, one, share)
            since, generation, share = (old_limit if short else min(limit, old_limit)), "old", self.old_keep
        elif idle >= limit and not tenured:
            since, generation = limit, "young"
        else:
            return
        since = one.referenced + max(since, self.quotable_idle if one.quotable else 0)
        yield from shortened(self.name, heap, one, share, f"{generation}, unused for {turns(idle)}", since)

    def _young(self, one: Resident) -> tuple[int, float]:
        if one.references:
            return self._limit(one, self.idle_referenced), self.keep_referenced
        return self._limit(one, self.idle), self.keep

    def _limit(self, one: Resident, idle: int) -> int:
        return min(idle + self.learn * one.resurrected, _PATIENCE * idle)
