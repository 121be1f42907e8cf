"""Reasoning: what the agent thought some turns ago goes; what it concluded stands in its replies and calls.

Rule: only thinking parts are named, whole; whether a wire format can do without them is for the collector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, turns


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Drop the agent's reasoning of earlier turns.

    ``idle``: turns since the reasoning, or since something last referred to it, from which on it is dead; at least 1;
    default 3.
    """

    idle: int = 3

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle)

    @property
    def name(self) -> str:
        """``reasoning``."""
        return "reasoning"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each thinking part that is old enough and not pinned."""
        for one in heap.residents:
            idle = one.idle(heap.turn)
            if one.kind is Kind.THINKING and one.sent and not one.pinned and idle >= self.idle:
                reason, since = f"reasoning, unused for {turns(idle)}", one.referenced + self.idle
                yield Verdict(one.id, self.name, "drop", reason, excerpt=0.0, since=since)
