"""The rows of one transaction: written, numbered, and sealed together.

Rule: ids run on without gaps, and the seal covers every row that was written.
"""

from __future__ import annotations

from hashlib import sha256

import apsw

from ctxgc.store import digests
from ctxgc.store.codec import Packer
from ctxgc.store.digests import NO_PARENT, Counts
from ctxgc.store.errors import StoreConflict, StoreCorrupt, StoreRefused
from ctxgc.store.records import Node, Record, Stub, check
from ctxgc.store.rows import TABLES

_STATE = (
    "SELECT id, logs, blobs, nodes, stubs, entries, digest, (SELECT coalesce(max(id), 0) FROM log),"
    " (SELECT coalesce(max(id), 0) FROM blob), (SELECT coalesce(max(id), 0) FROM node),"
    " (SELECT coalesce(max(id), 0) FROM stub), (SELECT coalesce(max(id), 0) FROM entry)"
    " FROM seal ORDER BY id DESC LIMIT 1"
)
_CHAIN = "SELECT chain FROM node WHERE log = ? AND node = ?"
_LAST = "SELECT node, chain FROM node WHERE log = ? ORDER BY node DESC LIMIT 1"
_KNOWN = "SELECT seq, leaf FROM entry WHERE log = ? AND idem = ?"


_REMEMBERED = 10_000


class Memory:
    """Where each log ends, so that it is not looked up for every record.

    It holds as long as the newest seal is the one it was learned under: then nobody else has written.
    """

    def __init__(self) -> None:
        self.seal = -1
        self.logs: dict[bytes, int] = {}
        self.seqs: dict[int, int] = {}
        self.nodes: dict[int, tuple[int, bytes]] = {}

    def hold(self, seal: int) -> None:
        """Forget everything unless it was learned under this seal."""
        if seal != self.seal or len(self.logs) > _REMEMBERED:
            self.forget()
            self.seal = seal

    def forget(self) -> None:
        """Know nothing any more."""
        self.logs.clear()
        self.seqs.clear()
        self.nodes.clear()


class Batch:
    """The rows of one transaction, on their way in and into its seal."""

    def __init__(self, db: apsw.Connection, packer: Packer, now: int, memory: Memory | None = None) -> None:
        self._db = db
        self._packer = packer
        self._now = now
        self._rows: dict[str, list[bytes]] = {table: [] for table in TABLES}
        state = db.execute(_STATE).get
        if state is None or state[1:6] != state[7:]:
            raise StoreCorrupt("rows and seals disagree: run verify, then start a new store")
        self._number: int = state[0] + 1
        self._base = Counts(*state[1:6])
        self._previous: bytes = state[6]
        self._blobs: dict[bytes, int] = {}
        self._memory = memory or Memory()
        self._memory.hold(state[0])

    def mark(self) -> tuple[int, ...]:
        """Where each table is now, for `undo`."""
        return tuple(map(len, self._rows.values()))

    def undo(self, mark: tuple[int, ...]) -> None:
        """Forget the rows after `mark`; the caller rolls back to its savepoint."""
        self._memory.forget()
        self._blobs.clear()
        for rows, length in zip(self._rows.values(), mark, strict=True):
            del rows[length:]

    def add(self, record: Record) -> None:
        """Write a record, unless it is there already. Raises StoreRefused (StoreConflict too) and apsw.Error."""
        check(record)
        log = self._log(record.session)
        if self._is_known(log, record):
            return
        seq = self._seq(log)
        if record.at not in (None, seq):
            raise StoreConflict(f"entry {record.at} comes where {seq} is next: read the log again, then append anew")
        for data in record.blobs:
            self._blob(data)
        for node in record.nodes:
            self._node(log, node)
        for stub in record.stubs:
            self._stub(log, stub)
        self._entry(log, seq, record)

    def seal(self) -> int:
        """Write the seal over everything added, none over nothing; the number of the newest one."""
        if not any(self._rows.values()):
            return self._number - 1
        after = [getattr(self._base, table) + len(rows) for table, rows in self._rows.items()]
        rows = sha256(b"".join(b"".join(rows) for rows in self._rows.values())).digest()
        digest = digests.seal(self._number, self._previous, Counts(*after), rows)
        self._db.execute("INSERT INTO seal VALUES(?, ?, ?, ?, ?, ?, ?)", (self._number, *after, digest))
        return self._number

    def _next(self, table: str, encoded: bytes) -> int:
        rows = self._rows[table]
        rows.append(encoded)
        return int(getattr(self._base, table)) + len(rows)

    def _log(self, session: bytes) -> int:
        log = self._memory.logs.get(session)
        if log is None:
            log = self._memory.logs[session] = self._find_log(session)
        return log

    def _find_log(self, session: bytes) -> int:
        found = self._number_of("SELECT id FROM log WHERE session = ?", session)
        if found is not None:
            return found
        log = self._next("log", digests.log_row(session, self._now))
        self._db.execute("INSERT INTO log VALUES(?, ?, ?)", (log, session, self._now))
        return log

    def _is_known(self, log: int, record: Record) -> bool:
        found = self._db.execute(_KNOWN, (log, record.idem)).get
        if found is None:
            return False
        seq, leaf = found
        if leaf != digests.leaf(record.session, seq, record.kind, record.idem, record.body):
            raise StoreRefused("this idem belongs to another entry: make a new one for every new entry")
        return True

    def _blob(self, data: bytes) -> None:
        digest = sha256(data).digest()
        if digest in self._blobs or self._number_of("SELECT id FROM blob WHERE hash = ?", digest) is not None:
            return
        row = self._blobs[digest] = self._next("blob", digests.blob_row(digest, len(data)))
        self._db.execute("INSERT INTO blob VALUES(?, ?, ?, ?, ?)", (row, digest, len(data), *self._packer.pack(data)))

    def _node(self, log: int, node: Node) -> None:
        last, chain = self._memory.nodes.get(log) or self._last_node(log)
        due = last + 1
        if node.id != due:
            raise StoreRefused(f"node {node.id} comes where {due} is next: read the session again, it has grown")
        parent = NO_PARENT
        if node.parent == last >= 0:
            parent = chain
        elif node.parent >= 0:
            parent = self._db.execute(_CHAIN, (log, node.parent)).get
        if node.chain != digests.chain(parent, node.message):
            raise StoreRefused(
                f"node {node.id} has a chain value that its parent and message do not give: recompute it"
            )
        blob = self._blobs.get(node.blob) or self._number_of("SELECT id FROM blob WHERE hash = ?", node.blob)
        if blob is None:
            raise StoreRefused(f"node {node.id} names a blob that is not stored: give its content along")
        encoded = digests.node_row(log, node.id, node.parent, node.chain, node.message, node.blob)
        row = (self._next("node", encoded), log, node.id, node.parent, node.chain, node.message, blob)
        self._db.execute("INSERT INTO node VALUES(?, ?, ?, ?, ?, ?, ?)", row)
        self._memory.nodes[log] = node.id, node.chain

    def _last_node(self, log: int) -> tuple[int, bytes]:
        found = self._db.execute(_LAST, (log,)).get
        return found or (-1, NO_PARENT)

    def _stub(self, log: int, stub: Stub) -> None:
        found = self._db.execute("SELECT log, cell FROM stub WHERE handle = ?", (stub.handle,)).fetchall()
        if found == [(log, stub.cell)]:
            return
        if found:
            raise StoreRefused(f"handle {stub.handle} stands for another cell: mint another")
        row = self._next("stub", digests.stub_row(stub.handle, log, stub.cell))
        self._db.execute("INSERT INTO stub VALUES(?, ?, ?, ?)", (row, stub.handle, log, stub.cell))

    def _seq(self, log: int) -> int:
        """The position that the next entry of a log gets."""
        seq = self._memory.seqs.get(log)
        if seq is None:
            seq = self._number_of("SELECT coalesce(max(seq), -1) + 1 FROM entry WHERE log = ?", log) or 0
        return seq

    def _entry(self, log: int, seq: int, record: Record) -> None:
        leaf = digests.leaf(record.session, seq, record.kind, record.idem, record.body)
        row = self._next("entry", digests.entry_row(log, seq, leaf))
        values = (row, log, seq, record.kind, record.idem, leaf, *self._packer.pack(record.body))
        self._db.execute("INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?)", values)
        self._memory.seqs[log] = seq + 1

    def _number_of(self, sql: str, param: int | bytes) -> int | None:
        found: int | None = self._db.execute(sql, (param,)).get
        return found
