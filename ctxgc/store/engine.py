"""Writing appends into SQLite: one transaction for all of them, one savepoint for each.

Rule: what is refused leaves no trace, and a record whose idem is there already is not written again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import apsw

from ctxgc.store.batch import Batch, Memory
from ctxgc.store.codec import Packer
from ctxgc.store.connection import Place, writer
from ctxgc.store.errors import StoreBusy, StoreError, StoreRefused
from ctxgc.store.faults import BROKEN, translate, translated
from ctxgc.store.records import Record

# What one record can be guilty of alone; anything else concerns the whole transaction.
_REFUSED = (
    StoreRefused,
    apsw.ConstraintError,
    apsw.TooBigError,
    AttributeError,
    OverflowError,
    TypeError,
    ValueError,
    struct.error,
)


class Engine:
    """One writing connection, used by one thread."""

    def __init__(self, place: Place, clock: Callable[[], int], *, recover: bool = False) -> None:
        """Open it; `clock` gives ms since the epoch. Raises StoreError.

        `recover` says that the last connection failed: rows that can be read may then still sit in memory
        only, with a sync that failed and will not be tried again. A full checkpoint writes and syncs them
        anew, in the main file; nothing is acknowledged before.
        """
        self._place = place
        self._clock = clock
        self._packer = Packer()
        self._memory = Memory()
        with translated(place):
            self._db = writer(place)
            if recover:
                self._checkpoint()

    def write(self, appends: Sequence[Sequence[Record]]) -> list[StoreError | None]:
        """Commit appends durably, in order; per append None or why it was refused.

        Raises StoreError if the transaction failed: then the outcome is unknown, except after StoreBusy.
        """
        with translated(self._place):
            self._db.execute("BEGIN IMMEDIATE")
        try:
            return self._transaction(appends)
        except BROKEN as error:
            self._roll_back()
            raise translate(error, self._place) from error
        except BaseException:
            self._roll_back()
            raise

    def close(self) -> None:
        """Let go of the connection; the last one to do so folds the log into the main file."""
        with translated(self._place):
            self._db.close()

    def _transaction(self, appends: Sequence[Sequence[Record]]) -> list[StoreError | None]:
        batch = Batch(self._db, self._packer, self._clock(), self._memory)
        outcomes = [self._one(batch, records) for records in appends]
        newest = batch.seal()
        self._db.execute("COMMIT")
        self._memory.seal = newest
        return outcomes

    def _one(self, batch: Batch, records: Sequence[Record]) -> StoreError | None:
        mark = batch.mark()
        refused: StoreRefused | None = None
        self._db.execute("SAVEPOINT append")
        try:
            for record in records:
                batch.add(record)
        except _REFUSED as error:
            self._db.execute("ROLLBACK TO append")
            batch.undo(mark)
            refused = error if isinstance(error, StoreRefused) else _refusal(error)
        self._db.execute("RELEASE append")
        return refused

    def _roll_back(self) -> None:
        """After some errors SQLite has rolled back already, after others it cannot: the caller drops us."""
        self._memory.forget()
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except apsw.Error:
            pass

    def _checkpoint(self) -> None:
        try:
            frames, done = self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
            if frames != done:
                raise StoreBusy(f"{self._place} is in use while it recovers: retry")
        except BaseException:
            self._db.close()
            raise


def _refusal(error: Exception) -> StoreRefused:
    return StoreRefused(f"the record breaks a rule of the store ({error}): correct it")
