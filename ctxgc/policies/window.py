"""Window: only the results at the end of the history stay. A baseline that others are measured against.

Rule: what lies before the window becomes a stub at once, whatever refers to it and whatever that costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, results, shortened, turns


@dataclass(frozen=True, slots=True)
class Window:
    """Keep the last turns, or the last blocks, of a history: of what is older, every result becomes a stub.

    ``messages``: blocks at the end that stay, those that just arrived included; a message of most formats is one
    block; at least 0; default 0: turns count instead.
    ``turns``: turns at the end that stay, where ``messages`` is 0; at least 1; default 10.
    """

    messages: int = 0
    turns: int = 10

    def __post_init__(self) -> None:
        check_least(0, messages=self.messages)
        check_least(1, turns=self.turns)

    @property
    def name(self) -> str:
        """``window``."""
        return "window"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result before the window."""
        inside = self._last(heap) if self.messages else frozenset()
        reason = f"not among the last {self.messages} blocks" if self.messages else f"older than {turns(self.turns)}"
        for one in results(heap):
            stays = one.id in inside if self.messages else heap.turn - one.turn <= self.turns
            if not stays:
                yield from shortened(self.name, heap, one, 0.0, reason, one.turn + 1, "now")

    def _last(self, heap: Heap) -> frozenset[int]:
        places: list[Resident] = sorted(heap.residents, key=lambda one: one.position, reverse=True)
        return frozenset(one.id for one in places[: max(self.messages - len(heap.eden), 0)])
