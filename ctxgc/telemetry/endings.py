"""How requests end: what they carried, what the provider reports, and how long it took.

Rule: all of it is in the settlement, so that any figure here can be had from the journal again.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxgc.core.journal import Settlement

from . import metrics as m
from .carried import Carried
from .labels import outcome_of
from .models import Model
from .reports import Reports
from .requests import Requests
from .series import Board, Trace


class Endings:
    """Counts settlements. ``find`` gives the model of the first of several names that is known."""

    __slots__ = ("_board", "_find", "_requests", "reports")

    def __init__(self, board: Board, requests: Requests, find: Callable[..., Model]) -> None:
        self._board = board
        self._requests = requests
        self._find = find
        self.reports = Reports(board)

    def settled(self, entry: Settlement, carried: Carried | None, trace: Trace) -> None:
        """Take the end of a request; ``carried`` is None where it was never read."""
        name = carried.entry.model if carried else entry.model
        model = self._find(name, entry.model)
        self._board.add(m.REQUESTS, (*model.labels, outcome_of(entry.outcome)))
        self._times(entry, model, trace)
        if carried:
            self._requests.count(carried, model, trace)
        if entry.usage:
            self.reports.count(model, entry.usage)
            self.reports.calibrate(model, name, entry.estimated, entry.usage.input)
        if entry.usage and carried:
            self.reports.spare(model, name, entry.usage, carried.saved())
            least = model.price.min_cacheable if model.price else 0
            self.reports.foretell(carried.predicted(least), entry.usage)

    def _times(self, entry: Settlement, model: Model, trace: Trace) -> None:
        """Seconds; zero is not known. An answer that is not whole says nothing of how long one takes."""
        if entry.overhead > 0:
            self._board.observe(m.OVERHEAD, (), entry.overhead, trace)
        if entry.outcome == "ok" and entry.duration > 0:
            self._board.observe(m.UPSTREAM_DURATION, model.labels, entry.duration, trace)
        if entry.first_token > 0:
            self._board.observe(m.FIRST_TOKEN, model.labels, entry.first_token)
