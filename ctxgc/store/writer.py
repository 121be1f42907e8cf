"""Group commit: one thread that writes everything queued in one transaction.

Rule: an append is acknowledged when it is durable; after an error its outcome is unknown until it was read again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from ctxgc.store.errors import StoreBusy, StoreError, StoreFull, StoreUnavailable
from ctxgc.store.records import Record


class Engine(Protocol):
    """What the writer needs of a database connection."""

    def write(self, appends: Sequence[Sequence[Record]]) -> list[StoreError | None]:
        """Commit appends durably and in order, skipping records that are there already.

        Returns per append None or why it alone was refused. Raises StoreError if the transaction failed:
        nothing is written after StoreBusy, and anything may be after any other.
        """

    def close(self) -> None:
        """Let go of the connection."""


Connect = Callable[[bool], Engine]
"""Opens an engine; True asks it to make everything it can read durable before it returns."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may wait to be written, and how many bytes go into one transaction."""

    records: int = 20_000
    bytes: int = 128 << 20
    transaction: int = 16 << 20


DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class Append:
    """Records that are written together or not at all."""

    records: tuple[Record, ...]
    weight: int
    future: Future[None]


class Writer:
    """The queue and its thread."""

    def __init__(self, connect: Connect, limits: Limits = DEFAULT) -> None:
        """Start the thread. The first connection is made here, so that its errors surface at once."""
        self._connect = connect
        self._limits = limits
        self._engine: Engine | None = connect(False)
        self._changed = threading.Condition()
        self._queue: deque[Append] = deque()
        self._records = self._bytes = 0
        self._accepted = self._settled = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="ctxgc-store", daemon=True)
        self._thread.start()

    def append(self, records: Sequence[Record]) -> Future[None]:
        """Queue records; never waits for the disk. See `Store.append`."""
        future: Future[None] = Future()
        # Running from the start: a caller that stops waiting must not take its records out of the journal.
        future.set_running_or_notify_cancel()
        append = Append(tuple(records), sum(record.weight for record in records), future)
        with self._changed:
            refused = self._refusal(append)
            if refused is None:
                self._enqueue(append)
        if refused is not None:
            future.set_exception(refused)
        return future

    def flush(self) -> None:
        """Wait until all that is queued now has succeeded or failed."""
        with self._changed:
            last = self._accepted
            self._changed.wait_for(lambda: self._settled >= last)

    def close(self) -> None:
        """Write what is queued, end the thread, close the connection. Raises StoreError if that fails."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _refusal(self, append: Append) -> StoreError | None:
        if self._closing:
            return StoreUnavailable("the store is closed: open it again")
        # A single append may be larger than the limit, or it could never be written.
        full = (
            self._records + len(append.records) > self._limits.records
            or self._bytes + append.weight > self._limits.bytes
        )
        if full and self._records:
            return StoreUnavailable(f"{self._records} records wait to be written: slow down, then append again")
        return None

    def _enqueue(self, append: Append) -> None:
        self._queue.append(append)
        self._records += len(append.records)
        self._bytes += append.weight
        self._accepted += 1
        if len(self._queue) == 1:  # else the thread is awake, and finds the rest when it comes back
            self._changed.notify_all()

    def _run(self) -> None:
        while batch := self._take():
            self._settle(batch, self._outcomes([append.records for append in batch]))

    def _take(self) -> list[Append]:
        """Everything queued, up to the size of a transaction; empty when it is time to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            batch: list[Append] = []
            weight = 0
            while self._queue and (not batch or weight + self._queue[0].weight <= self._limits.transaction):
                batch.append(self._queue.popleft())
                weight += batch[-1].weight
            return batch

    def _outcomes(self, appends: Sequence[Sequence[Record]]) -> list[StoreError | None]:
        try:
            return self._write(appends)
        except Exception as error:  # a fault of ours must fail its appends, not hang them and all later ones
            self._drop()
            known = error if isinstance(error, StoreError) else StoreUnavailable(f"{error!r}: report this bug")
            return [known] * len(appends)

    def _write(self, appends: Sequence[Sequence[Record]]) -> list[StoreError | None]:
        """Once, and after an error once more on a new connection, which first reads what is there by idem."""
        try:
            return self._connection().write(appends)
        except StoreBusy:
            raise  # the wait is over, and nothing was written
        except StoreError:
            self._drop()
        try:
            return self._connection().write(appends)
        except StoreFull:
            raise
        except StoreError as error:
            raise StoreUnavailable(f"not known to be stored, append again with the same idem: {error}") from error

    def _connection(self) -> Engine:
        if self._engine is None:
            self._engine = self._connect(True)
        return self._engine

    def _drop(self) -> None:
        engine, self._engine = self._engine, None
        try:
            if engine is not None:
                engine.close()
        except StoreError:
            pass  # it failed before; what counts is what the next connection reads

    def _settle(self, batch: list[Append], outcomes: list[StoreError | None]) -> None:
        for append, outcome in zip(batch, outcomes, strict=True):
            if outcome is None:
                append.future.set_result(None)
            else:
                append.future.set_exception(outcome)
        with self._changed:
            self._records -= sum(len(append.records) for append in batch)
            self._bytes -= sum(append.weight for append in batch)
            self._settled += len(batch)
            self._changed.notify_all()
