"""A policy under which results go at once: for what must hold when something is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict


@dataclass(frozen=True, slots=True)
class Gone:
    """Every result of ``lookup`` goes with the next request, where that is free."""

    name: str = "gone"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.tool == "lookup":
                yield Verdict(one.id, self.name, "stub", "not used", excerpt=0.0, since=one.turn)
