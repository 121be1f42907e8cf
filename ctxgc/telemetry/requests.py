"""Requests under way: remembered from their allocation, and counted once when they end.

Rule: what a request carried is what its own entries say, read when they came: edits that later requests bring do not
change it.
"""

from __future__ import annotations

from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import Tally
from ctxgc.core.state import State

from . import metrics as m
from .carried import STAGES, Carried
from .labels import NONE, Provenance
from .models import Model
from .series import Board

LIMIT = 10_000
"""Requests remembered; the oldest is let go first."""


class Requests:
    """What the requests under way carry, and the counting of it."""

    __slots__ = ("_board", "_provenance", "_unended")

    def __init__(self, board: Board, provenance: Provenance) -> None:
        self._board = board
        self._provenance = provenance
        self._unended: dict[bytes, Carried] = {}

    def begin(self, state: State, entry: Allocation, outcome: str) -> Carried | None:
        """Remember a request; ``outcome`` is its collection's so far. Returns the one let go for it, if any."""
        self._unended[entry.call] = Carried.at(state, entry, outcome)
        return self.end(next(iter(self._unended))) if len(self._unended) > LIMIT else None

    def look_again(self, state: State, call: bytes, outcome: str = "", record: Tally | None = None) -> None:
        """What a request carries has changed with the entry just applied; ``record`` stands for a span of it."""
        carried = self._unended.get(call)
        if carried is not None:
            made = carried.record if record is None else record
            self._unended[call] = Carried.at(state, carried.entry, outcome or carried.outcome, made)

    def sent(self, call: bytes) -> Tally:
        """The tokens of a request's history as it was last seen to leave; none where the request is not known."""
        carried = self._unended.get(call)
        return carried.sent[1] if carried else {}

    def trigger(self, call: bytes) -> str:
        """What made the pacer collect with a request; empty if it did not, or the request is not known."""
        carried = self._unended.get(call)
        return carried.entry.pace.trigger if carried and carried.entry.pace else ""

    def end(self, call: bytes) -> Carried | None:
        """What a request carried, which is now forgotten; None if it is not known."""
        return self._unended.pop(call, None)

    def count(self, carried: Carried, model: Model) -> None:
        """Count what an ended request carried."""
        for stage in STAGES[carried.entry.again :]:  # what we sent once more came from nobody
            self._size(stage, model, self._tokens(stage, carried))
        if carried.outcome != "collected":  # those are counted with their entries
            self._board.add(m.COLLECTIONS, (NONE, NONE, carried.outcome))
        pace = carried.entry.pace
        self._board.add(m.COLLECTION_COST, ("saved",), sum(carried.saved()))
        self._board.add(m.COLLECTION_COST, ("rewritten",), pace.live if pace and pace.trigger else 0)

    def _tokens(self, stage: str, carried: Carried) -> int:
        total = 0
        for tag, fresh, replayed in carried.parts(stage):
            labels = self._provenance.of(tag)
            self._board.add(m.CONTEXT, (stage, *labels, "fresh"), fresh)
            self._board.add(m.CONTEXT, (stage, *labels, "replayed"), replayed)
            total += fresh + replayed
        return total

    def _size(self, stage: str, model: Model, tokens: int) -> None:
        self._board.observe(m.REQUEST_CONTEXT, (stage, model.model), tokens)
        window = model.price.max_input_tokens if model.price else None
        if window:
            self._board.observe(m.UTILIZATION, (stage, model.model), tokens / window)
