"""Requests under way: remembered from their allocation, and counted once when they end.

Rule: what a request carried is what its own entries say, read when they came: edits that later requests bring do not
change it.
"""

from __future__ import annotations

from dataclasses import replace

from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import Tally
from ctxgc.core.state import State
from ctxgc.lab.forecasts import in_usd

from . import metrics as m
from .carried import STAGES, Carried
from .labels import NONE, PLAIN, REMEMBERED, Provenance, cause_of
from .models import Model
from .series import UNTRACED, Board, Labels, Trace

LIMIT = 10_000
"""Requests remembered; the oldest is let go first."""


class Requests:
    """What the requests under way carry, and the counting of it."""

    __slots__ = ("_board", "_context", "_labels", "_provenance", "_unended")

    def __init__(self, board: Board, provenance: Provenance) -> None:
        self._board = board
        self._context = board.counters[m.CONTEXT]
        self._labels: dict[tuple[str, str], tuple[Labels, Labels]] = {}
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

    def undone(self, state: State, call: bytes, cost: int) -> None:
        """A request goes as it came after all, for which the cache takes so many tokens anew."""
        self.look_again(state, call)
        carried = self._unended.get(call)
        if carried is not None:
            self._unended[call] = replace(carried, undone=carried.undone + cost)

    def entry(self, call: bytes) -> Allocation | None:
        """The allocation of a request under way; None if it is not known."""
        carried = self._unended.get(call)
        return carried.entry if carried else None

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

    def count(self, carried: Carried, model: Model, trace: Trace = UNTRACED) -> None:
        """Count what an ended request carried."""
        for stage in STAGES[carried.entry.again :]:  # what we sent once more came from nobody
            self._size(stage, model, self._tokens(stage, carried), trace)
        if carried.outcome != "collected":  # those are counted with their entries
            self._board.add(m.COLLECTIONS, (NONE, NONE, carried.outcome))
        self._board.add(m.COLLECTION_COST, ("saved",), sum(carried.saved()))
        self._rewritten(carried, model)

    def _rewritten(self, carried: Carried, model: Model) -> None:
        """Count what had to be sent anew, and what the pacer took that to cost."""
        pace = carried.entry.pace
        if pace is not None and pace.trigger:
            self._board.add(m.COLLECTION_COST, ("rewritten",), pace.live)
            self._board.add(m.INVALIDATED, (model.provider, cause_of(pace.trigger)), pace.live)
            if in_usd(pace.write, model.price):
                self._board.add(m.COST, (model.model, "cache_penalty"), pace.price)
        self._board.add(m.INVALIDATED, (model.provider, PLAIN), carried.undone)

    def _tokens(self, stage: str, carried: Carried) -> int:
        total = 0
        for tag, fresh, replayed in carried.parts(stage):
            new, old = self._labels.get((stage, tag)) or self._labelled(stage, tag)
            self._context.add(new, fresh)
            self._context.add(old, replayed)
            total += fresh + replayed
        return total

    def _labelled(self, stage: str, tag: str) -> tuple[Labels, Labels]:
        """The labels of a tag's fresh and replayed tokens, made once: every request needs those of all its tags."""
        labels = self._provenance.of(tag)
        made = (stage, *labels, "fresh"), (stage, *labels, "replayed")
        if len(self._labels) < LIMIT and len(tag) <= REMEMBERED:
            self._labels[stage, tag] = made
        return made

    def _size(self, stage: str, model: Model, tokens: int, trace: Trace) -> None:
        self._board.observe(m.REQUEST_CONTEXT, (stage, model.model), tokens, trace)
        window = model.price.max_input_tokens if model.price else None
        if window:
            self._board.observe(m.UTILIZATION, (stage, model.model), tokens / window)
