"""The figures of a process: told every journal entry after it was applied, and what only the proxy knows.

Rule: nobody waits for them. They never raise, and what the end of a request says is noted at once and counted later,
in its place before all that comes after it.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import wraps
from time import perf_counter
from typing import Concatenate, ParamSpec

from ctxgc.core.journal import AnyEntry, Settlement
from ctxgc.core.state import State
from ctxgc.errors import ConfigError
from ctxgc.lab.suspects import Suspect
from ctxgc.tokens import Calibration, Price

from . import metrics as m
from .counting import Counting
from .labels import Provenance, reason_of, rule_of
from .looking import Looks
from .models import Models
from .phases import Stopwatch
from .requests import LIMIT
from .series import Board, Trace

DUE = 256
"""Ends of requests that may wait to be counted."""
_TRACE = re.compile("(?!0{32})[0-9a-f]{32}").fullmatch

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
    their gauges when figures are read, and ``live`` for the states of the sessions in memory. Metrics in ``exclude``
    are counted and not exposed; without ``sources`` tools are not told apart. ``suspected`` is told of each leak
    suspect with its session's key. ``clock`` gives seconds that only rise.

    Raises ``ConfigError`` for a name in ``exclude`` that is no metric's.
    """

    def __init__(
        self,
        price: Callable[[str], Price | None],
        sessions: Callable[[], int] = _zero,
        store_bytes: Callable[[], int] = _zero,
        *,
        live: Callable[[], Iterable[State]] | None = None,
        exclude: Iterable[str] = (),
        sources: bool = True,
        suspected: Callable[[bytes, Suspect], None] | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._gauges: dict[str, Callable[[], int]] = {
            m.SESSIONS: sessions,
            m.STORE_BYTES: store_bytes,
            m.IN_FLIGHT: self.in_flight,
        }
        self.excluded = excluded(exclude)
        self.timer = Stopwatch(clock, self._took)
        self.looks = Looks()
        self._board = Board(m.TABLE)
        self._counting = Counting(self._board, Models(price), Provenance(sources=sources), live)
        self._suspected = suspected
        self._due: deque[tuple[State, Settlement, Trace]] = deque()
        self._traces: dict[bytes, str] = {}
        self._in_flight = 0
        self._lock = threading.Lock()

    @property
    def calibration(self) -> Calibration:
        """What reported usage taught about our counts so far."""
        self.catch_up()
        return self._counting.reports.calibration

    def in_flight(self) -> int:
        """Requests that were started and have not ended."""
        return self._in_flight

    def observe(self, state: State, entry: AnyEntry) -> None:
        """Take an entry that ``state`` has just applied: the callback of ``Kit.observe``.

        Whoever books the end of a request has a client waiting for it: that is noted, and counted by ``catch_up``, or
        before anything else is.
        """
        if type(entry) is Settlement:
            self._due.append((state, entry, Trace(self._traces.pop(entry.call, ""), entry.at)))
            if len(self._due) < DUE:
                return
            self.catch_up()
        else:
            self._observed(state, entry)

    @_guarded
    def catch_up(self) -> None:
        """Count the ends of requests that were noted. The shell calls it when nobody waits."""
        self._catch_up()

    @_guarded
    def bypassed(self, reason: str) -> None:
        """A request went on without us and no journal says so, because there was no session to book it."""
        self._board.add(m.FAIL_OPEN, (reason_of(reason),))

    @_guarded
    def request_started(self, call: bytes = b"", trace: str = "", state: State | None = None) -> None:
        """A request has come in, and nothing of it is booked. The id of the trace it belongs to, in 32 hex digits (else
        it is taken to have none), is remembered until its end is. ``state`` is its session's, which may have been
        restored for it: what is counted of that begins here."""
        self._in_flight += 1
        if call and _TRACE(trace):
            self._traces[call] = trace
            if len(self._traces) > LIMIT:
                del self._traces[next(iter(self._traces))]
        if state is not None:
            self.looks.met(state)
            self._counting.met(state)

    @_guarded
    def request_ended(self, call: bytes = b"") -> None:
        """A request was answered."""
        self._in_flight = max(self._in_flight - 1, 0)

    @_guarded
    def suspects(self, session: bytes, found: Iterable[Suspect]) -> None:
        """A look at a session (by its key) has found what no earlier look had; see ``looking``."""
        for suspect in found:
            self._board.add(m.SUSPECTS, (rule_of(suspect.rule),))
            if self._suspected is not None:
                self._suspected(session, suspect)

    @_guarded
    def corrupt(self) -> None:
        """Something was read from the store that contradicts its hash: the callback of ``integrity.watched``."""
        self._board.add(m.VERIFY_FAILURES)

    @_guarded
    def failed(self) -> None:
        """Something of telemetry's could not be done."""
        self._board.add(m.FAULTS)

    def board(self) -> Board:
        """All counters and histograms as they stand."""
        self.catch_up()
        with self._lock:
            return self._board.copy()

    def gauges(self) -> dict[str, int]:
        """The gauges as they stand; one that cannot be read is left out."""
        read = ((name, _value(gauge)) for name, gauge in self._gauges.items())
        return {name: value for name, value in read if value is not None}

    def live(self) -> dict[str, int]:
        """Tokens by tag of the newest request of each session in memory; none where that cannot be read."""
        self.catch_up()
        with self._lock:
            try:
                return self._counting.live.tokens()
            except Exception:  # as for any other gauge
                return {}

    @_guarded
    def _took(self, phase: str, seconds: float) -> None:
        self._board.observe(m.DURATION, (phase,), seconds)

    @_guarded
    def _observed(self, state: State, entry: AnyEntry) -> None:
        self._catch_up()
        self._counting.take(state, entry)

    def _catch_up(self) -> None:
        """Count what is due. One that cannot be counted does not keep the others from it."""
        while self._due:
            state, entry, trace = self._due.popleft()
            try:
                self._counting.settled(state, entry, trace)
            except Exception:  # as the guard does for each entry
                self._board.add(m.FAULTS)


def excluded(names: Iterable[str]) -> frozenset[str]:
    """Names of metrics that are not to be exposed. Raises ``ConfigError`` for one that is no metric's."""
    wrong = sorted(set(names := tuple(names)) - m.METRICS.keys())
    if wrong:
        raise ConfigError(f"there is no metric {wrong[0]!r}: /metrics lists them all")
    return frozenset(names)


def _value(gauge: Callable[[], int]) -> int | None:
    try:
        return gauge()
    except Exception:  # a store that is closing must not take all other figures with it
        return None
