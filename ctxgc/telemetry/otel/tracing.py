"""Tracing: told every journal entry and, by the proxy, of every request; a thread makes spans of it when all is there.

Rule: on the way of a request, what is seen is only kept, and of its end not even that is looked at; nothing here
raises, and what failed is counted. When more waits than may, it is dropped and counted, and nobody waits.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from queue import Empty, SimpleQueue

from opentelemetry.context import get_current
from opentelemetry.propagate import get_global_textmap

from ctxgc.core.journal import Allocation, AnyEntry, Recall, Settlement
from ctxgc.core.state import State
from ctxgc.lab.suspects import Suspect
from ctxgc.telemetry.labels import REMEMBERED
from ctxgc.tokens import Price

from . import names as n
from .describing import Attributes
from .events import Events
from .making import Maker
from .measures import Measures
from .providers import Providers
from .seen import Call, Seen, recalled
from .sources import address, by_host, by_model
from .switches import Switches, switches
from .trail import UNTRACED, Trail
from .trails import Traced, begin

WAITING = 10_000
"""Requests that may wait to be made spans of."""
PAUSE = 0.01
"""Seconds that work waits before it is begun, so that it does not run beside what it was made by."""
LOOK = 0.5
"""Seconds after which the thread looks whether something has ended that nobody told it of."""
_END = 5.0
"""Seconds that the end waits for those."""

Work = Callable[[], None]


class Tracing:
    """See the module, and ``start`` for the arguments. Thread-safe."""

    def __init__(
        self,
        providers: Providers,
        mode: str = "always",
        *,
        upstream: str = "",
        price: Callable[[str], Price | None] = lambda _model: None,
        failed: Callable[[], None] = lambda: None,
        told: Switches | None = None,
    ) -> None:
        told = switches() if told is None else told
        host, port = address(upstream)
        self.about: Attributes = {n.ADDRESS: host, n.PORT: port} if host else {}
        self.content = told.content
        self.tracer = providers.traces.get_tracer(n.SCOPE)
        self.propagator = get_global_textmap()
        self.faults = self._told = 0
        self._providers, self._price, self._failed = providers, price, failed
        self._host, self._names = by_host(host), dict[str, str]()
        self._seen, self._traced, self._ends = Seen(), set[bytes](), deque[tuple[Settlement, int]]()
        self._lock, self._work, self._hurry = threading.Lock(), SimpleQueue[Work | None](), threading.Event()
        measures = Measures(providers.meters.get_meter(n.SCOPE), price, self.about, latest=told.latest)
        self._maker = Maker(
            self.tracer, Events(providers.logs.get_logger(n.SCOPE), items=told.items), measures, told,
            mode=mode, about=self.about, price=price, provider=self.provider,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._run, name="ctxgc-tracing", daemon=True)
        self._thread.start()

    def request(self, method: str, path: str, headers: Mapping[str, str]) -> Trail:
        """The trail of a request that has just come; header names are lower case."""
        try:
            return begin(self, method, path, headers)
        except Exception:  # the request goes on, untraced
            self.failed()
            return UNTRACED

    def observe(self, state: State, entry: AnyEntry) -> None:
        """Take an entry that ``state`` has just applied: the callback of ``Kit.observe``.

        Whoever books the end of a request has a client waiting for it: that is noted, and taken by what comes next, or
        by the thread when it looks. To wake it would cost more than all else here.
        """
        try:
            if type(entry) is not Settlement:
                self._observe(state, entry)
                return
            self._ends.append((entry, time.time_ns()))
        except Exception:  # the session goes on
            self.failed()

    def suspected(self, key: bytes, suspect: Suspect) -> None:
        """A leak suspect was found in the session of that key."""
        self._hand(lambda: self._maker.events.suspected(key.hex(), suspect, content=self.content))

    def failed_open(self, reason: str) -> None:
        """A request went on without us, and no journal says so."""
        self._hand(lambda: self._maker.events.failed_open(reason))

    def flush(self) -> None:
        """Wait until all that was handed over is made and exported."""
        done = threading.Event()
        self._work.put(self._alone)
        self._work.put(done.set)
        self._hurry.set()
        done.wait(_END)
        self._hurry.clear()
        self._providers.flush()

    def close(self) -> None:
        """Make and export what is left, and end."""
        self._work.put(self._alone)
        self._work.put(None)
        self._hurry.set()
        self._thread.join(_END)
        self._providers.close()

    def failed(self) -> None:
        """Count a fault. Others are told of it by the thread, since they may hold locks of their own here."""
        self.faults += 1
        if self._work.empty():  # else it is told behind what waits there, which so does not grow with each fault
            self._work.put(_nothing)

    def provider(self, model: str) -> str:
        """Who answers for a model, as the conventions name it: by the upstream's address, else by the price table."""
        if self._host:
            return self._host
        found = self._names.get(model)
        if found is None:
            price = self._price(model)
            found = by_model(price.provider or "" if price else "")
            if len(self._names) < WAITING and len(model) <= REMEMBERED:
                self._names[model] = found
        return found

    def expect(self, call: bytes, key: str) -> None:
        """A call of that session is on a trail, which says when all of it has come."""
        with self._lock:
            self._seen.of(call, key)
            self._traced.add(call)

    def ended(self, trail: Traced) -> None:
        """Nothing more comes of a trail."""
        calls = {}
        with self._lock:
            self._settled()
            for decided in trail.decided:
                self._traced.discard(decided.call)
                call = self._seen.end(decided.call)
                if call is not None:
                    calls[decided.call] = call
        self._hand(lambda: self._maker.trail(trail, calls))

    def _observe(self, state: State, entry: AnyEntry) -> None:
        with self._lock:
            self._settled()
            call = self._seen.take(state, entry)
            if isinstance(entry, Recall) and call is None:
                one, key = recalled(state, entry), self._seen.key(state)
                self._hand(lambda: self._maker.events.recalled(key, one))
            if call is None:
                return
            if isinstance(entry, Allocation) and call.id not in self._traced:
                call.around = get_current()

    def _settled(self) -> None:
        """Take the ends that were noted; who calls holds the lock."""
        for call in self._settle():
            self._hand(partial(self._maker.alone, call))

    def _settle(self) -> Iterator[Call]:
        """As ``_settled``; gives the calls of which spans are to be made, since they have no trail."""
        while self._ends:
            call = self._seen.settled(*self._ends.popleft())
            if call.id not in self._traced:
                self._seen.end(call.id)
                yield call

    def _alone(self) -> None:
        """The end of a call in process has come: work itself, so that it is done before what was handed over later."""
        with self._lock:
            calls = list(self._settle())
        for call in calls:
            self._do(partial(self._maker.alone, call))

    def _hand(self, work: Work) -> None:
        if self._work.qsize() < WAITING:
            self._work.put(work)
        else:
            self.failed()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            if self._work.empty():  # whoever handed it over is busy for a moment yet, and one of us can run at a time
                self._hurry.wait(PAUSE)
            self._do(work)
            self._tell()
        self._tell()

    def _next(self) -> Work | None:
        """What was handed over, or, where nothing is for a while, a look at the ends that were noted."""
        try:
            return self._work.get(timeout=LOOK)
        except Empty:
            return self._alone

    def _do(self, work: Work) -> None:
        try:
            work()
        except Exception:  # one request's fault is not the next one's
            self.failed()

    def _tell(self) -> None:
        """Tell of each fault once."""
        while self._told < self.faults:
            self._told += 1
            try:
                self._failed()
            except Exception:  # who is told has faults of his own: there is nobody else to tell
                pass


def _nothing() -> None:
    """Work that only has faults told."""
