"""Items: of a long result that was used, the items that were referred to stay, and the others go.

Rule: only results with references are named; the collector keeps the lines that these point to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, results, shortened, spared, turns


@dataclass(frozen=True, slots=True)
class Items:
    """Shorten used results (search hits, arrays, listings) to the items that were used.

    ``idle``: turns since the last reference to any of its items, from which on the others are dead; at least 1;
    default 6.
    ``min_tokens``: tokens of the smallest result that is looked at, as it came; a smaller one holds few items;
    at least 0; default 400, about 20 lines.
    ``keep``: the share of its tokens that the items may take, 0 to 1; default 0.1. Those referred to stay in any case.
    """

    idle: int = 6
    min_tokens: int = 400
    keep: float = 0.1

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle)
        check_least(0, min_tokens=self.min_tokens)
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``items``."""
        return "items"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result with items that were used, and not lately."""
        for one in results(heap):
            idle = one.idle(heap.turn)
            used = one.marks and one.tokens >= self.min_tokens
            if used and idle >= self.idle and not spared(one, heap.turn):
                places = "1 place" if len(one.marks) == 1 else f"{len(one.marks)} places"
                reason = f"used at {places}, last {turns(idle)} ago"
                yield from shortened(self.name, heap, one, self.keep, reason, one.referenced + self.idle)
