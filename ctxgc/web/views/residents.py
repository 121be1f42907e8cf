"""Which cells the newest request carries, kept up to date while a history grows.

Rule: where a history only went on, only its end is looked at; else it is gone through as its request was.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxgc.core.state import State
from ctxgc.lab.compactions import parts
from ctxgc.lab.requests import Request


class Residents:
    """``flags`` says of each cell, by id, whether it is resident (1) or not (0); ``out`` are the cells of the same
    history that a record stands for."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: tuple[int, int, bool, int] | None = None
        self.flags: list[int] = []
        self.out: frozenset[int] = frozenset()

    def update(self, newest: Request | None, changes: int) -> None:
        """Look at the newest request of the main history. ``changes`` counts what changed what is ours, or left out."""
        self.flags += [0] * (len(self._state.cells) - len(self.flags))
        if newest is None:
            return
        known, found = self._known, (newest.head, newest.toolset, newest.offered, changes)
        self._known = found
        if known == found or (known is not None and known[1:] == found[1:] and self._went_on(known[0], newest.head)):
            return
        self._whole(newest)

    def _went_on(self, before: int, head: int) -> bool:
        """Take the end of a history that went on from where it was; False where it did not."""
        state, new = self._state, list[int]()
        if before < 0 or before in state.own.inserted or state.node(head).compacted is not state.node(before).compacted:
            return False
        while head > before:  # a parent's number is below its children's
            node = state.node(head)
            if head in state.own.inserted:
                return False
            new += node.cells
            head = node.parent
        if head != before:
            return False
        for cell in new:
            self.flags[cell] = 1
        return True

    def _whole(self, newest: Request) -> None:
        state, out, flags = self._state, list[int](), [0] * len(self.flags)
        for cells, left_out in self._parts(newest.head):
            if left_out:
                out += cells
                continue
            for cell in cells:
                flags[cell] = 1
        offer = state.node(newest.head).offer if newest.offered else -1
        own = (state.own.offers[offer].cell,) if offer >= 0 else ()
        for cell in (*own, *state.toolset(newest.toolset).cells):
            flags[cell] = 1
        self.flags, self.out = flags, frozenset(out)

    def _parts(self, head: int) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Cells that stand together, and whether a record stands for them."""
        state = self._state
        if state.own.inserted or state.node(head).compacted is not None:
            return ((part.cells, part.out) for part in parts(state, head))
        return ((node.cells, False) for node in state.path(head))  # nothing of ours is in it, and nothing is left out
