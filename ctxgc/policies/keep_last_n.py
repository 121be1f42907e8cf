"""Keep last n: all tool results but the newest few become stubs. A baseline that others are measured against.

Rule: only the order of the results counts, and what goes goes at once, whatever that costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import arrived, check_least, in_order, shortened


@dataclass(frozen=True, slots=True)
class KeepLastN:
    """Keep the newest tool results and make a stub of each other one.

    ``n``: how many results stay, those that just arrived included; at least 1; default 10.
    """

    n: int = 10

    def __post_init__(self) -> None:
        check_least(1, n=self.n)

    @property
    def name(self) -> str:
        """``keep_last_n``."""
        return "keep_last_n"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result but the last ``n``."""
        found = in_order(heap)
        for one in found[: len(found) - max(self.n - arrived(heap), 0)]:
            if not one.pinned:
                reason = f"not among the last {self.n} results"
                yield from shortened(self.name, heap, one, 0.0, reason, one.turn + 1, "now")
