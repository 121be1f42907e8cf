"""The audit store on SQLite.

Rule: one thread of a process writes, any thread reads, and no verb changes what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from hashlib import sha256

from ctxgc.store import connection, digests, merkle
from ctxgc.store.codec import unpack
from ctxgc.store.connection import Place
from ctxgc.store.engine import Engine
from ctxgc.store.errors import StoreCorrupt, StoreMissing, StoreUnavailable
from ctxgc.store.inspection import inspect
from ctxgc.store.opening import place_of, prepare
from ctxgc.store.readers import Readers, SqliteRows
from ctxgc.store.records import Finding, Node, Record, SessionRow, Stored, Tip
from ctxgc.store.rows import Rows, blob_row, entry_row, seal_row
from ctxgc.store.schema import check_version
from ctxgc.store.verify import verify_rows
from ctxgc.store.writer import DEFAULT, Limits, Writer

_LAST_SEAL = "SELECT id, logs, blobs, nodes, stubs, entries, digest FROM seal ORDER BY id DESC LIMIT 1"
_BLOB = "SELECT id, hash, size, enc, data FROM blob WHERE hash = ?"
_ENTRIES = (
    "SELECT id, log, seq, kind, idem, leaf, enc, body FROM entry"
    " WHERE log = (SELECT id FROM log WHERE session = ?) AND seq > ? ORDER BY seq LIMIT 64"
)
_NODES = (
    "SELECT node, parent, chain, message, (SELECT hash FROM blob WHERE blob.id = node.blob) FROM node"
    " WHERE log = (SELECT id FROM log WHERE session = ?) AND node > ? ORDER BY node LIMIT 500"
)
_LEAVES = (
    "SELECT seq, leaf FROM entry WHERE log = (SELECT id FROM log WHERE session = ?) AND seq > ? ORDER BY seq LIMIT 500"
)
_SESSIONS = (
    "SELECT id, session, opened, (SELECT coalesce(max(seq), -1) + 1 FROM entry WHERE log = log.id),"
    " (SELECT coalesce(max(node), -1) + 1 FROM node WHERE log = log.id) FROM log WHERE id > ? ORDER BY id LIMIT 500"
)
_FIND = "SELECT session FROM log WHERE id = (SELECT max(log) FROM node WHERE chain = ?)"
_RESOLVE = "SELECT session, cell FROM stub JOIN log ON log.id = stub.log WHERE handle = ?"


class SqliteStore:
    """A `Store` in one SQLite file, or in memory."""

    def __init__(
        self, place: Place, *, create: bool = True, limits: Limits = DEFAULT, clock: Callable[[], int] | None = None
    ) -> None:
        """Open it; `clock` gives ms since the epoch. Raises StoreError."""
        self._place = place
        self._clock = clock or _now
        # What lives in memory lives as long as one connection to it does.
        self._keeper = connection.connect(place) if place.path is None else None
        prepare(place, create=create, now=self._clock())
        self._readers = Readers(place, connection.reader)
        try:
            self._check_version()
            self._secret = self._read_secret()
            self._writer = None if place.read_only else Writer(self._engine, limits)
        except BaseException:
            self._readers.close()
            raise

    @property
    def secret(self) -> bytes:
        """See `Store.secret`."""
        return self._secret

    def append(self, records: Sequence[Record]) -> Future[None]:
        """See `Store.append`."""
        if self._writer is not None:
            return self._writer.append(records)
        future: Future[None] = Future()
        future.set_exception(StoreUnavailable(f"{self._place} is open for reading only: open it for writing"))
        return future

    def entries(self, session: bytes, start: int = 0) -> Iterator[Stored]:
        """See `Store.entries`."""
        start = max(start, 0)
        for seq, raw in enumerate(self._readers.paged(_ENTRIES, start - 1, 2, session), start):
            row = entry_row(raw)
            body = unpack(row.encoding, row.kept)
            leaf = digests.leaf(session, seq, row.kind, row.idem, body)
            if (seq, leaf) != (row.seq, row.leaf):
                raise StoreCorrupt(f"entry {seq} of session {session.hex()} does not match its leaf: run verify")
            yield Stored(seq, row.kind, body, leaf, row.idem)

    def nodes(self, session: bytes) -> Iterator[Node]:
        """See `Store.nodes`."""
        for raw in self._readers.paged(_NODES, -1, 0, session):
            yield Node(*raw)  # type: ignore[arg-type]

    def blob(self, digest: bytes) -> bytes:
        """See `Store.blob`."""
        found = self._readers.fetch(_BLOB, digest)
        if not found:
            raise StoreMissing(f"there is no blob {digest.hex()} in {self._place}: check the digest")
        row = blob_row(found[0])
        data = unpack(row.encoding, row.kept, row.size)
        if sha256(data).digest() != digest:
            raise StoreCorrupt(f"blob {digest.hex()} does not match its hash: run verify")
        return data

    def find(self, chain: bytes) -> bytes | None:
        """See `Store.find`."""
        found = self._readers.fetch(_FIND, chain)
        return bytes(found[0][0]) if found else None  # type: ignore[call-overload]

    def resolve(self, handle: str) -> tuple[bytes, int] | None:
        """See `Store.resolve`."""
        found = self._readers.fetch(_RESOLVE, handle)
        return found[0] if found else None  # type: ignore[return-value]

    def sessions(self) -> list[SessionRow]:
        """See `Store.sessions`."""
        return [SessionRow(*row[1:]) for row in self._readers.paged(_SESSIONS, 0, 0)]  # type: ignore[arg-type]

    def root(self, session: bytes) -> tuple[int, bytes]:
        """See `Store.root`."""
        tree = merkle.CompactRange()
        for _, leaf in self._readers.paged(_LEAVES, -1, 0, session):
            tree.append(leaf)  # type: ignore[arg-type]
        return tree.size, tree.root()

    def tip(self) -> Tip:
        """See `Store.tip`."""
        seals = self._readers.fetch(_LAST_SEAL)
        if not seals:
            raise StoreCorrupt(f"{self._place} has no seals: run verify")
        row = seal_row(seals[0])
        return Tip(row.number, row.digest)

    def rows(self) -> Rows:
        """See `Store.rows`."""
        return SqliteRows(self._readers)

    def size(self) -> int:
        """See `Store.size`."""
        path = self._place.path
        if path is None:
            with self._readers.connection() as db:
                return int(db.pragma("page_count")) * int(db.pragma("page_size"))
        files = (path, path.with_name(f"{path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def verify(
        self, progress: Callable[[int, int], None] | None = None, *, held: Tip | None = None
    ) -> Iterator[Finding]:
        """See `Store.verify`."""
        yield from inspect(self._readers)
        yield from verify_rows(self.rows(), progress, held)

    def flush(self) -> None:
        """See `Store.flush`."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """See `Store.close`. The writer goes last, since only it can fold the log into the main file."""
        self.flush()
        self._readers.close()
        if self._writer is not None:
            self._writer.close()
        if self._keeper is not None:
            self._keeper.close()

    def _engine(self, recover: bool) -> Engine:
        return Engine(self._place, self._clock, recover=recover)

    def _check_version(self) -> None:
        """Once more, with the log: a newer ctxgc may have migrated and not yet folded it into the main file."""
        with self._readers.connection() as db:
            check_version(int(db.pragma("user_version")), str(self._place))

    def _read_secret(self) -> bytes:
        secret = self.rows().meta().get("secret")
        if not isinstance(secret, bytes) or len(secret) != 32:
            raise StoreCorrupt(f"{self._place} has lost its secret: restore it from a copy")
        return secret


def _now() -> int:
    return time.time_ns() // 1_000_000


def open_sqlite(url: str, *, create: bool, read_only: bool) -> SqliteStore:
    """See `ctxgc.store.open_store`."""
    return SqliteStore(place_of(url, read_only=read_only), create=create)
