"""Dedup: an identical call with an identical result becomes a pointer to the result that is already in context.

Rule: only the heap says what is identical; nothing near is taken for the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxgc.core import stub
from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.policy import Verdict

_HANDLE = "a" * 16


@dataclass(frozen=True, slots=True)
class Dedup:
    """Point back to an earlier identical result instead of repeating it.

    ``min_tokens``: results of fewer tokens stay, because the pointer takes some tokens itself.
    """

    min_tokens: int = 64

    @property
    def name(self) -> str:
        """``dedup``."""
        return "dedup"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """A verdict for each arrival whose result a visible cell already holds, where the pointer is shorter."""
        for arrival in heap.eden:
            earlier = heap.same(arrival)
            if earlier is not None and earlier != arrival.id and self._worth_it(heap, arrival):
                yield Verdict(arrival.id, self.name, "dedup", "same call, same result", of=earlier)

    def _worth_it(self, heap: Heap, arrival: Arrival) -> bool:
        # A token is at least a byte: the length tells of most short results without counting.
        if len(arrival.text) <= len(stub.pointer(_HANDLE, arrival.site)):
            return False
        size = len(arrival.text.encode("utf-8", "surrogatepass"))
        return size >= self.min_tokens and heap.count(arrival.text) >= self.min_tokens
