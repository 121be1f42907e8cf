"""Budget: when the context is too large for its window or for a quality budget, the largest of the longest idle go.

Rule: nothing goes unless something must, and no more than must.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, left_of, results, shortened, turns


@dataclass(frozen=True, slots=True)
class Budget:
    """Make room where the heap says that room must be made, by tokens times idle turns, largest first.

    Results of the newest turn go last, largest first, and only where all others are not enough.

    ``target``: tokens that a request's context should take at most, for the quality of the answers; the session makes
    the heap's ``surplus`` of it; at least 0; default 0: only the model's window counts.
    ``keep``: the share of its tokens that the excerpt of a result may take, 0 to 1; default 0: a stub is left.
    """

    target: int = 0
    keep: float = 0.0

    def __post_init__(self) -> None:
        check_least(0, target=self.target)
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``budget``."""
        return "budget"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """Verdicts for as many results as free ``heap.surplus`` tokens, if there are so many."""
        missing = heap.surplus
        for one in results(heap) if missing > 0 else ():
            if one.points:  # it goes with what it points at, or that could not go
                yield from shortened(self.name, heap, one, 0.0, "points at another result", heap.turn, "forced")
        for one in _by_weight(heap) if missing > 0 else ():
            freed = one.sent - left_of(heap, one, self.keep)
            if missing <= 0 or freed <= 0:
                continue
            missing -= freed
            reason = f"{one.sent} tokens unused for {turns(one.idle(heap.turn))}: {heap.surplus} too many"
            yield from shortened(self.name, heap, one, self.keep, reason, heap.turn, "forced")


def _by_weight(heap: Heap) -> list[Resident]:
    """Earlier turns' results by tokens times idle turns, then those of the newest by tokens."""

    def weight(one: Resident) -> tuple[bool, int, int]:
        newest = one.turn >= heap.turn - 1
        return newest, -one.sent * (1 if newest else max(one.idle(heap.turn), 1)), one.position

    return sorted(results(heap), key=weight)
