"""What was taken out of context, and what of it was asked for again.

Rule: each token is counted once, when it goes: of a cell that had gone in part, only what was still sent of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Collection, Recall
from ctxgc.core.nodes import Compacted, add
from ctxgc.core.state import State
from ctxgc.lab.compactions import follows, left_out

from . import metrics as m
from .labels import SUMMARIZE, Provenance, action_of, collected_by, compacted_by
from .requests import Requests
from .series import Board


@dataclass(slots=True)
class _Gone:
    """Of one session: the tokens that stand for the text of each edited cell, and the cells that records stand for."""

    edited: dict[int, int] = field(default_factory=dict)
    out: set[int] = field(default_factory=set)


class Collected:
    """Counts collections and recalls. What a session had collected before it came into memory is not counted again."""

    __slots__ = ("_board", "_gone", "_provenance", "_requests")

    def __init__(self, board: Board, provenance: Provenance, requests: Requests) -> None:
        self._board = board
        self._provenance = provenance
        self._requests = requests
        self._gone: WeakKeyDictionary[State, _Gone] = WeakKeyDictionary()

    def known(self, state: State) -> _Gone:
        """Take note of a session as it stands, before anything more of it is collected."""
        found = self._gone.get(state)
        if found is None:
            edited = {edit.cell: edit.after for edit in state.edits.values()}
            out = {cell for made in _compacted(state) for cell in left_out(state, made)}
            found = self._gone[state] = _Gone(edited, out)
        return found

    def collected(self, state: State, entry: Collection) -> None:
        """Take a collection that ``state`` has just applied."""
        # Of a session that was never looked at before, the state has this entry by now: it is taken to be the first.
        edited = self._gone[state].edited if state in self._gone else {}
        for edit in entry.edits:
            labels = self._provenance.of(state.cells[edit.cell].tag)
            gone = edited.get(edit.cell, edit.before) - edit.after
            self._board.add(m.COLLECTED, (*labels, action_of(edit.action)), gone)
            edited[edit.cell] = edit.after
        if not follows(entry):  # what a compaction changes behind its span counts with it
            self._board.add(m.COLLECTIONS, collected_by(entry.generation, self._requests.trigger(entry.call)))
        self._requests.look_again(state, entry.call, "collected")

    def compacted(self, state: State, entry: Compaction) -> None:
        """Take a compaction that ``state`` has just applied: what went is what the request was without its span."""
        before, record = self._requests.sent(entry.call), add({}, ((cell.tag, cell.tokens) for cell in entry.cells))
        self._requests.look_again(state, entry.call, "collected", record)
        after = self._requests.sent(entry.call)
        for tag, tokens in before.items():
            gone = tokens - (after.get(tag, 0) - record.get(tag, 0))
            self._board.add(m.COLLECTED, (*self._provenance.of(tag), SUMMARIZE), gone)
        self._board.add(m.COLLECTIONS, collected_by("major", entry.trigger))
        self._board.add(m.COMPACTIONS, compacted_by(entry.trigger, entry.by))
        made = state.node(entry.upto).compacted
        if made is not None:
            self.known(state).out.update(left_out(state, made))

    def recalled(self, state: State, entry: Recall) -> None:
        """Take a recall that ``state`` has just applied."""
        if not entry.found:
            self._board.add(m.RESURRECTIONS, ("", "miss"))
            return
        if entry.cell < 0:  # a voucher of the ledger: it was never in context
            self._board.add(m.RESURRECTIONS, ("ledger", "hit"))
            return
        labels = self._provenance.of(state.cells[entry.cell].tag)
        self._board.add(m.RESURRECTIONS, (labels[0], "hit"))
        self._board.add(m.RESURRECTED, labels, self._missing(state, entry.cell))

    def _missing(self, state: State, cell: int) -> int:
        """What of a cell was not sent; nothing where all that the session had collected was taken back."""
        edit = state.edits.get(cell)
        if not state.plain and cell in self.known(state).out:
            return state.cells[cell].tokens
        return edit.before - edit.after if edit else 0


def _compacted(state: State) -> Iterator[Compacted]:
    """Every span of a session that is left out of some history."""
    return (node.compacted for node in state.nodes if node.compacted and node.compacted.upto == node.id)
