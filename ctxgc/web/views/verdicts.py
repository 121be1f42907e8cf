"""Verdicts: in a few words, how a cell stands in the newest request, and why.

Rule: made of what the journal says of a cell; most cells have one of the first two, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxgc.core.collector import Edit
from ctxgc.core.state import State
from ctxgc.lab.compactions import span
from ctxgc.lab.requests import Request
from ctxgc.web.views.figures import Names
from ctxgc.web.views.plain import plain

SENT, ABSENT, PINNED = "sent", "not in the newest request", "sent: pinned"


class Verdicts:
    """The verdicts of a session's cells. The words for an edit are made once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._edited: dict[int, tuple[Edit, str]] = {}

    def column(
        self, newest: Request | None, resident: Sequence[int], out: frozenset[int], pinned: Sequence[int]
    ) -> tuple[list[str], list[int]]:
        """The words that occur, and the number of each cell's. ``out`` are the cells that a record stands for."""
        names = Names()
        sent, absent, stays = map(names.number, (SENT, ABSENT, PINNED))
        found = [(stays if pin else sent) if here else absent for here, pin in zip(resident, pinned, strict=True)]
        for cell, edit in self._state.edits.items():
            if resident[cell]:
                found[cell] = names.number(self._edit(cell, edit))
        if out and newest is not None:
            words = names.number(self._left_out(newest))
            for cell in out:
                found[cell] = words
        return names.names, found

    def _edit(self, cell: int, edit: Edit) -> str:
        known = self._edited.get(cell)
        if known is None or known[0] is not edit:
            known = self._edited[cell] = edit, verdict(edit)
        return known[1]

    def _left_out(self, newest: Request) -> str:
        made = self._state.node(newest.head).compacted
        turns = [node.turn for node in span(self._state, made)] if made else [0]
        return f"left out: record of turns {turns[0]}-{turns[-1]}"


def verdict(edit: Edit) -> str:
    """What an edit made of a cell, in the policy's own word: its text, which may be left out, is not looked at."""
    what = plain(edit.action) if edit.of is None else f"pointer to c{edit.of}"
    return f"{what} ({plain(edit.policy)})"
