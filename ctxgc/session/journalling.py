"""A session's way to the store: entries are written in order, and kept until they are durable.

Rule: at most one batch of a session is under way, so that an entry is never stored before one that it builds on; what
could not be stored is tried again with the next entry, and the journal says how many calls were late.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import NamedTuple

from ctxgc.core import journal
from ctxgc.store import Node, Record, Store, StoreError, StoreRefused, Stub

LIMIT = 256 * 1024 * 1024
"""Bytes of entries that may wait for a store that does not answer, per session."""


class Overdue(StoreError):
    """The store has not taken anything for so long that no more is kept for it."""


class Broken(StoreError):
    """Something before this was lost, so nothing may follow it: the session must be read from the store again."""


class _Waiting(NamedTuple):
    records: tuple[Record, ...]
    future: Future[None]
    size: int
    call: bytes


class Journal:
    """Writes one session's entries. Thread-safe: the store answers from its own thread."""

    def __init__(
        self,
        store: Store,
        session: bytes,
        clock: Callable[[], float],
        told: Callable[[journal.Gap], None] = lambda _gap: None,
        new_id: Callable[[], bytes] = lambda: uuid.uuid4().bytes,
    ) -> None:
        self._new_id = new_id
        self._told = told
        self._store = store
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._flying = False
        self._gathering = False
        self._late: set[bytes] = set()
        self._since = 0.0
        self._reason = ""
        self.broken = False
        """Whether something was lost for good: the session must then be built anew from what is stored."""

    @property
    def waiting(self) -> bool:
        """Whether anything is not durable yet."""
        with self._lock:
            return bool(self._waiting)

    def record(
        self,
        entry: journal.AnyEntry,
        blobs: Sequence[bytes] = (),
        nodes: Sequence[Node] = (),
        stubs: Sequence[Stub] = (),
    ) -> Record:
        """The record of an entry, with an id of its own that makes a second attempt harmless."""
        body, idem = journal.encode(entry), self._new_id()
        return Record(self._session, journal.kind(entry), body, idem, tuple(blobs), tuple(nodes), tuple(stubs))

    def write(self, *records: Record, call: bytes = b"") -> Future[None]:
        """Queue records, of a call. The future is done when they are durable, or holds the error of the first attempt.

        Nothing is written behind what was lost.
        """
        future: Future[None] = Future()
        size = sum(len(record.body) + sum(map(len, record.blobs)) for record in records)
        with self._lock:
            if self.broken:
                future.set_exception(Broken("an entry of this session was lost: read the session again"))
                return future
            if size + sum(waiting.size for waiting in self._waiting) > LIMIT:
                self.broken = True
                future.set_exception(Overdue("the audit store takes nothing: free its disk or restart it"))
                return future
            self._waiting.append(_Waiting(records, future, size, call))
            if self._flying or self._gathering:
                return future
            self._flying = True
        self._send()
        return future

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is written in this block goes to the store at its end, in one piece: one commit, and not several."""
        with self._lock:
            self._gathering = True
        try:
            yield
        finally:
            with self._lock:
                self._gathering = False
                send = bool(self._waiting) and not self._flying
                self._flying = self._flying or send
            if send:
                self._send()

    def flush(self) -> None:
        """Wait until everything written so far is durable. Raises ``StoreError`` where it could not be stored."""
        if self.waiting or self.broken:
            self.write().result()

    def loss(self) -> journal.Gap | None:
        """What a broken journal has lost, for the session that is restored in its place; None if nothing."""
        if not (self.broken and self._late):
            return None
        reason = self._reason.replace("stored late", "lost")
        return journal.Gap(at=self._clock(), calls=len(self._late), since=self._since, reason=reason)

    def _send(self) -> None:
        with self._lock:
            batch = list(self._waiting)
        records = [record for waiting in batch for record in waiting.records]
        gap = None
        if self._late:
            gap = journal.Gap(at=self._clock(), calls=len(self._late), since=self._since, reason=self._reason)
            records.append(self.record(gap))
        try:
            self._store.append(records).add_done_callback(lambda done: self._done(batch, done.exception(), gap))
        except Exception as error:  # whatever is wrong with the store, what it did not take must not be lost
            self._done(batch, error)

    def _done(self, batch: list[_Waiting], error: BaseException | None, gap: journal.Gap | None = None) -> None:
        with self._lock:
            self._flying = False
            if error is None:
                self._late = set()
                del self._waiting[: len(batch)]
                self._flying = bool(self._waiting)
            else:
                self._note_late(batch, error)
                if isinstance(error, StoreRefused):  # no second attempt can help, and nothing may follow it
                    self.broken = True
                    self._note_late(self._waiting, error)
                    batch, self._waiting = self._waiting, []
            again = self._flying
        for waiting in batch:
            if not waiting.future.done():
                waiting.future.set_exception(error) if error else waiting.future.set_result(None)
        if gap is not None and error is None:
            self._told(gap)
        if again:
            self._send()

    def _note_late(self, batch: list[_Waiting], error: BaseException) -> None:
        self._since = self._since if self._late else self._clock()
        self._late |= {waiting.call for waiting in batch if waiting.call}
        self._reason = f"stored late: {type(error).__name__}"
