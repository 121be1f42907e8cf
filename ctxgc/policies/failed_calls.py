"""Failed calls: the failure of a call that succeeded later goes.

Rule: only the heap says which failure was overcome; one that was not may still matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, results, shortened, spared


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """Shorten results of calls that failed and then succeeded.

    ``idle``: turns since the failure arrived or was last referred to, from which on it is dead; at least 1; default 2.
    ``keep``: the share of its tokens that the excerpt may take, 0 to 1; default 0: a stub is left.
    """

    idle: int = 2
    keep: float = 0.0

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle)
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``failed_calls``."""
        return "failed_calls"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each failure that was overcome and idle long enough."""
        for one in results(heap):
            if one.overcome and one.idle(heap.turn) >= self.idle and not spared(one, heap.turn):
                reason = "failed; the call succeeded later"
                yield from shortened(self.name, heap, one, self.keep, reason, one.referenced + self.idle)
