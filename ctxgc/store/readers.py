"""Reading SQLite from any thread.

Rule: no statement stays open between two rows handed out, so a slow reader never holds up a checkpoint.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from ctxgc.store.connection import Place
from ctxgc.store.digests import Counts
from ctxgc.store.errors import StoreUnavailable
from ctxgc.store.faults import translated
from ctxgc.store.rows import Raw

Connect = Callable[[Place], apsw.Connection]

_SELECT = {
    "log": "SELECT id, session, opened FROM log",
    "blob": "SELECT id, hash, size, enc, data FROM blob",
    "node": "SELECT id, log, node, parent, chain, message, (SELECT hash FROM blob b WHERE b.id = node.blob) FROM node",
    "stub": "SELECT id, handle, log, cell FROM stub",
    "entry": "SELECT id, log, seq, kind, idem, leaf, enc, body FROM entry",
}
_PAGE = {"log": 500, "blob": 8, "node": 500, "stub": 500, "entry": 64}
_NEWEST = ", ".join(f"(SELECT max(coalesce(max(id), 0), count(*)) FROM {table})" for table in _SELECT)
_SEALED = "SELECT logs, blobs, nodes, stubs, entries FROM seal ORDER BY id DESC LIMIT 1"
_COUNTS = f"SELECT sealed.*, {_NEWEST} FROM (SELECT 1) LEFT JOIN ({_SEALED}) AS sealed"
_SEALS = "SELECT id, logs, blobs, nodes, stubs, entries, digest FROM seal WHERE id > ? ORDER BY id LIMIT 500"


class Readers:
    """A pool with as many read connections as threads ever read at once."""

    def __init__(self, place: Place, connect: Connect) -> None:
        self._place = place
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """A connection of one's own for a while. Raises StoreError, also for errors inside."""
        with translated(self._place):
            db = self._take()
            try:
                yield db
            finally:
                self._give(db)

    def fetch(self, sql: str, *params: apsw.SQLiteValue) -> list[Raw]:
        """All rows of a query."""
        with self.connection() as db:
            return db.execute(sql, params).fetchall()

    def paged(self, sql: str, first: int, key: int, *params: apsw.SQLiteValue) -> Iterator[Raw]:
        """Rows of a query that takes (..., after) and orders by its column `key`, read page by page."""
        while page := self.fetch(sql, *params, first):
            yield from page
            first = _number(page[-1][key], first)

    def close(self) -> None:
        """Close what is idle now, and the rest when it is given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        with translated(self._place):
            for db in idle:
                db.close()

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed: open it again")
            if self._idle:
                return self._idle.pop()
        return self._connect(self._place)

    def _give(self, db: apsw.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(db)
                return
        db.close()


class SqliteRows:
    """`Rows` over a pool of readers."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def meta(self) -> dict[str, object]:
        """See `Rows.meta`."""
        return {str(key): value for key, value in self._readers.fetch("SELECT key, value FROM meta")}

    def counts(self) -> tuple[Counts, Counts]:
        """See `Rows.counts`."""
        numbers = [value if isinstance(value, int) else 0 for value in self._readers.fetch(_COUNTS)[0]]
        return Counts(*numbers[:5]), Counts(*numbers[5:])

    def newest(self) -> int:
        """See `Rows.newest`."""
        return _number(self._readers.fetch("SELECT max(id) FROM seal")[0][0], -2)

    def seals(self) -> Iterator[Raw]:
        """See `Rows.seals`."""
        return self._readers.paged(_SEALS, -1, 0)

    def select(self, table: str, after: int, upto: int) -> Iterator[Raw]:
        """See `Rows.select`."""
        sql = f"{_SELECT[table]} WHERE id <= ? AND id > ? ORDER BY id LIMIT {_PAGE[table]}"
        return self._readers.paged(sql, after, 0, upto) if upto > after else iter(())

    def chain(self, log: int, node: int) -> object:
        """See `Rows.chain`."""
        found = self._readers.fetch("SELECT chain FROM node WHERE log = ? AND node = ?", log, node)
        return found[0][0] if found else None


def _number(value: object, after: int) -> int:
    """A damaged file can hold anything in an id; going on from the next one ends the paging for sure."""
    return value if isinstance(value, int) and value > after else after + 1
