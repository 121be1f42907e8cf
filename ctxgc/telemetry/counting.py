"""Counting: from a journal's entries, as they are applied, to counters and histograms.

Rule: counters only rise. A request's context is counted when the request ends, with the edits that were made for it
and without those that came later, so nothing has ever to be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Insertion,
    Recall,
    Recovery,
    Settlement,
)
from ctxgc.core.state import State

from . import metrics as m
from .carried import Carried
from .collected import Collected
from .endings import Endings
from .labels import Provenance, reason_of
from .live import Live
from .models import Models
from .paid import Paid
from .requests import Requests
from .series import Board, Trace
from .undone import Undone


class Counting:
    """Counts onto a board. Not thread-safe, and may raise: ``Figures`` is the guard around it."""

    def __init__(
        self, board: Board, models: Models, provenance: Provenance, live: Callable[[], Iterable[State]] | None
    ) -> None:
        self._board = board
        self._models = models
        self._requests = Requests(board, provenance)
        self._collections = Collected(board, provenance, self._requests)
        self._endings = Endings(board, self._requests, models.find)
        self._undone = Undone()
        self._paid = Paid(board)
        self._bypass = (b"", "")
        self.live = Live(provenance, live)
        self.reports = self._endings.reports

    def met(self, state: State) -> None:
        """Take note of where a session stands, before it goes on. A request waits for this, so it is little."""
        self._paid.met(state)

    def take(self, state: State, entry: AnyEntry) -> None:
        """Take an entry that ``state`` has just applied, but for a settlement."""
        self._board.add(m.ENTRIES)
        match entry:
            case Allocation():
                self._allocated(state, entry)
            case Collection():
                self._undone.changed(state, entry)
                self._collections.collected(state, entry)
            case Compaction():
                self._undone.changed(state, entry)
                self._collections.compacted(state, entry)
            case Recovery():
                self._recovered(state, entry)
            case Recall():
                self._collections.recalled(state, entry)
            case Bypass():
                self._passed(state, entry)
            case Gap():
                self._board.add(m.GAPS, (), entry.calls)
            case Insertion():
                self._inserted(state, entry)
            case Summary():
                self._asked(entry)
            case Milestone():
                self._board.add(m.MILESTONES)
            case _:
                pass

    def _allocated(self, state: State, entry: Allocation) -> None:
        self._collections.known(state)
        self._undone.known(state)
        aborted = self._bypass == (entry.call, "invalid")
        self._ended(self._requests.begin(state, entry, "aborted" if aborted else "noop"))
        self._paid.paced(state, entry, lambda: self._models.find(entry.model).price)

    def settled(self, state: State, entry: Settlement, trace: Trace) -> None:
        """Take the end of a request. The state may have gone on since: what is counted was remembered before."""
        self._board.add(m.ENTRIES)
        carried = self._requests.end(entry.call)
        if carried:
            self.live.ended(state, carried)
        self._endings.settled(entry, carried, trace)

    def _recovered(self, state: State, entry: Recovery) -> None:
        carried = self._requests.end(entry.call)
        if carried:
            self.live.ended(state, carried)
        self._ended(carried)

    def _ended(self, carried: Carried | None) -> None:
        """A request of which no more will be heard."""
        if carried:
            self._requests.count(carried, self._models.find(carried.entry.model))

    def _inserted(self, state: State, entry: Insertion) -> None:
        self._undone.changed(state, entry)
        if entry.told >= 0:
            self._board.add(m.NEWS)
            self._requests.look_again(state, entry.call)

    def _passed(self, state: State, entry: Bypass) -> None:
        bypass = (entry.call, "refused" if entry.plain else reason_of(entry.reason))
        if bypass != self._bypass:  # a policy that fails on each of a request's messages is one reason, not many
            self._board.add(m.FAIL_OPEN, bypass[1:])
        self._bypass = bypass
        if entry.plain:
            request = self._requests.entry(entry.call)
            self._requests.undone(state, entry.call, self._undone.cost(state, request) if request else 0)

    def _asked(self, entry: Summary) -> None:
        """A model was asked for its part of a record."""
        self._board.add(m.SUMMARIES, ("taken" if entry.outcome == "taken" else "refused",))
        self._board.add(m.SUMMARY_TOKENS, ("input",), entry.input)
        self._board.add(m.SUMMARY_TOKENS, ("output",), entry.output)
