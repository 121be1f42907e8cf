"""Oracle: the policy that knows the recorded future. What others save is measured against it. Replay only.

Rule: it knows when each result was needed last and nothing else; it does not know which part of it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, in_order, shortened


@dataclass(frozen=True, slots=True)
class Oracle:
    """Make a stub of each result after the turn at which it was needed last. For replays of recorded histories only.

    ``needs``: pairs of a tool result's ordinal in the history (from 0, tool results only, as the model reads them) and
    the last turn at which it is needed; of several for one result the last turn counts. Results that are not
    listed are dead after the turn they arrived in. There is no default: without a recorded future there is no oracle.
    """

    needs: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.needs:
            raise ValueError("the oracle knows only recorded futures, and got none: it is for replay only")
        for ordinal, turn in self.needs:
            check_least(0, ordinal=ordinal, turn=turn)

    @property
    def name(self) -> str:
        """``oracle``."""
        return "oracle"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that is not needed in this turn or later."""
        last: dict[int, int] = {}
        for ordinal, turn in self.needs:
            last[ordinal] = max(turn, last.get(ordinal, turn))
        for ordinal, one in enumerate(in_order(heap)):
            needed = last.get(ordinal, one.turn)
            if heap.turn > needed and not one.pinned:
                reason = f"needed last in turn {needed}" if ordinal in last else "never needed"
                yield from shortened(self.name, heap, one, 0.0, reason, max(needed, one.turn) + 1)
