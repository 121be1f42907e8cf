"""The figures of a process: told every journal entry after it was applied, and what only the proxy knows.

Rule: counters only rise. A request's context is counted when the request ends, with the edits that were made for it
and without those that came later, so nothing has ever to be taken back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

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
from ctxgc.tokens import Calibration, Price

from . import metrics as m
from .carried import Carried
from .collected import Collected
from .labels import Provenance, outcome_of, reason_of
from .models import Models
from .paid import Paid
from .reports import Reports
from .requests import Requests
from .series import Board

P = ParamSpec("P")


def _guarded(verb: Callable[Concatenate[Figures, P], None]) -> Callable[Concatenate[Figures, P], None]:
    """The one guard between the figures and the request path: serialised, and a fault of theirs is only counted."""

    @wraps(verb)
    def safe(self: Figures, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with self._lock:
            try:
                verb(self, *args, **kwargs)
            except Exception:  # whatever is wrong with the figures, the request goes on
                self._board.add(m.FAULTS)

    return safe


def _zero() -> int:
    return 0


class Figures:
    """Counts what happens. Thread-safe; its verbs never raise, and what they fail to count is a metric of its own.

    ``price`` gives a model's price or None (``PriceTable.price``); ``sessions`` and ``store_bytes`` are asked for
    their gauges when figures are read.
    """

    def __init__(
        self,
        price: Callable[[str], Price | None],
        sessions: Callable[[], int] = _zero,
        store_bytes: Callable[[], int] = _zero,
    ) -> None:
        self._gauges: dict[str, Callable[[], int]] = {
            m.SESSIONS: sessions,
            m.STORE_BYTES: store_bytes,
            m.IN_FLIGHT: self.in_flight,
        }
        self._board = Board(m.TABLE)
        self._models = Models(price)
        self._provenance = Provenance()
        self._requests = Requests(self._board, self._provenance)
        self._collections = Collected(self._board, self._provenance, self._requests)
        self._reports = Reports(self._board)
        self._paid = Paid(self._board)
        self._bypass = (b"", "")
        self._in_flight = 0
        self._lock = threading.Lock()

    @property
    def calibration(self) -> Calibration:
        """What reported usage taught about our counts so far."""
        return self._reports.calibration

    def in_flight(self) -> int:
        """Requests that were started and have not ended."""
        return self._in_flight

    @_guarded
    def observe(self, state: State, entry: AnyEntry) -> None:
        """Take an entry that ``state`` has just applied: the callback of ``Kit.observe``."""
        self._board.add(m.ENTRIES)
        match entry:
            case Allocation():
                self._allocated(state, entry)
            case Collection():
                self._collections.collected(state, entry)
            case Compaction():
                self._collections.compacted(state, entry)
            case Settlement():
                self._settled(entry)
            case Recovery():
                self._ended(self._requests.end(entry.call))
            case Recall():
                self._collections.recalled(state, entry)
            case Bypass():
                self._passed(state, entry)
            case Gap():
                self._board.add(m.GAPS, (), entry.calls)
            case Insertion() if entry.told >= 0:
                self._board.add(m.NEWS)
                self._requests.look_again(state, entry.call)
            case Summary():
                self._asked(entry)
            case Milestone():
                self._board.add(m.MILESTONES)
            case _:
                pass

    @_guarded
    def bypassed(self, reason: str) -> None:
        """A request went on without us and no journal says so, because there was no session to book it."""
        self._board.add(m.FAIL_OPEN, (reason_of(reason),))

    @_guarded
    def request_started(self) -> None:
        """A request has come in."""
        self._in_flight += 1

    @_guarded
    def request_ended(
        self, model: str, outcome: str, overhead: float, duration: float, first_byte: float | None
    ) -> None:
        """A request was answered. Seconds: of our own work, of the upstream's whole answer, of its first byte.

        Durations of answers that are not ``ok`` say nothing about the upstream's speed and are left out.
        """
        self._in_flight = max(self._in_flight - 1, 0)
        self._board.observe(m.OVERHEAD, (), overhead)
        labels = self._models.find(model).labels
        if outcome == "ok":
            self._board.observe(m.UPSTREAM_DURATION, labels, duration)
        if first_byte is not None:
            self._board.observe(m.FIRST_BYTE, labels, first_byte)

    def board(self) -> Board:
        """All counters and histograms as they stand."""
        with self._lock:
            return self._board.copy()

    def gauges(self) -> dict[str, int]:
        """The gauges as they stand; one that cannot be read is left out."""
        read = ((name, _value(gauge)) for name, gauge in self._gauges.items())
        return {name: value for name, value in read if value is not None}

    def _allocated(self, state: State, entry: Allocation) -> None:
        self._collections.known(state)
        aborted = self._bypass == (entry.call, "invalid")
        self._ended(self._requests.begin(state, entry, "aborted" if aborted else "noop"))
        self._paid.paced(state, entry, lambda: self._models.find(entry.model).price)

    def _settled(self, entry: Settlement) -> None:
        carried = self._requests.end(entry.call)
        name = carried.entry.model if carried else entry.model
        model = self._models.find(name, entry.model)
        self._board.add(m.REQUESTS, (*model.labels, outcome_of(entry.outcome)))
        if carried:
            self._requests.count(carried, model)
        if entry.usage:
            self._reports.count(model, entry.usage)
            self._reports.calibrate(model, name, entry.estimated, entry.usage.input)
        if entry.usage and carried:
            self._reports.spare(model, name, entry.usage, carried.saved())
            least = model.price.min_cacheable if model.price else 0
            self._reports.foretell(carried.predicted(least), entry.usage)

    def _ended(self, carried: Carried | None) -> None:
        """A request of which no more will be heard."""
        if carried:
            self._requests.count(carried, self._models.find(carried.entry.model))

    def _passed(self, state: State, entry: Bypass) -> None:
        bypass = (entry.call, "refused" if entry.plain else reason_of(entry.reason))
        if bypass != self._bypass:  # a policy that fails on each of a request's messages is one reason, not many
            self._board.add(m.FAIL_OPEN, bypass[1:])
        self._bypass = bypass
        if entry.plain:
            self._requests.look_again(state, entry.call)

    def _asked(self, entry: Summary) -> None:
        """A model was asked for its part of a record."""
        self._board.add(m.SUMMARIES, ("taken" if entry.outcome == "taken" else "refused",))
        self._board.add(m.SUMMARY_TOKENS, ("input",), entry.input)
        self._board.add(m.SUMMARY_TOKENS, ("output",), entry.output)


def _value(gauge: Callable[[], int]) -> int | None:
    try:
        return gauge()
    except Exception:  # a store that is closing must not take all other figures with it
        return None
