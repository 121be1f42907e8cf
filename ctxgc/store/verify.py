"""Re-reading and re-hashing everything, seal by seal, against what the seals say.

Rule: nothing is believed because a hash stored beside it says so; contents are hashed, and every difference is
named where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from ctxgc.store import digests
from ctxgc.store.codec import unpack
from ctxgc.store.digests import NO_PARENT, Counts
from ctxgc.store.errors import StoreCorrupt, StoreError
from ctxgc.store.records import KINDS, Finding, Tip
from ctxgc.store.rows import TABLES, Raw, Rows, SealRow, blob_row, entry_row, log_row, node_row, seal_row, stub_row

Progress = Callable[[int, int], None]
Checked = tuple[bytes, list[Finding]]
"""A row as the seal should cover it, and what is wrong with it."""


def verify_rows(rows: Rows, progress: Progress | None = None, held: Tip | None = None) -> Iterator[Finding]:
    """Everything that disagrees in a store; see `Store.verify`."""
    try:
        yield from _meta(rows)
        yield from _Walk(rows, progress, held).findings()
    except StoreError as error:
        yield Finding("sqlite", None, None, "", str(error))


def _meta(rows: Rows) -> Iterator[Finding]:
    meta = rows.meta()
    created, version, secret = (meta.get(key) for key in ("created", "schema", "secret"))
    if not (isinstance(created, int) and isinstance(version, int) and isinstance(secret, bytes)):
        yield Finding("meta", None, None, "", "The facts about the store are missing or of another type.")
        return
    for key in meta.keys() - {"created", "schema", "secret"}:
        yield Finding("meta", None, None, key, f"The fact {key!r} about the store does not belong here.")
    first = next(rows.seals(), None)
    if first is None or first[-1] != digests.genesis(version, created, sha256(secret).digest()):
        yield Finding("meta", None, None, "seal 0", "The facts about the store do not match its first seal.")


class _Walk:
    """One pass over all seals, with what has to be remembered between rows."""

    def __init__(self, rows: Rows, progress: Progress | None, held: Tip | None) -> None:
        self._rows = rows
        self._progress = progress
        self._held = held
        self._done = 0
        self._sessions: dict[int, bytes] = {}
        self._seqs: dict[int, int] = {}
        self._nodes: dict[int, int] = {}
        self._checks: dict[str, Callable[[Raw], Checked]] = {
            "log": self._log,
            "blob": self._blob,
            "node": self._node,
            "stub": self._stub,
            "entry": self._entry,
        }

    def findings(self) -> Iterator[Finding]:
        total, newest = self._rows.counts()[0].total, self._rows.newest()
        before: SealRow | None = None
        for raw in self._rows.seals():
            try:
                seal = seal_row(raw)
            except StoreCorrupt as error:
                yield Finding("seal", None, None, f"seal {raw[0]}", str(error))
                continue
            yield from self._seal(before, seal)
            before = seal
            if self._progress is not None:
                self._progress(self._done, total)
            if seal.number >= newest:  # or others that keep writing would keep us here
                break
        yield from self._end(before)

    def _seal(self, before: SealRow | None, seal: SealRow) -> Iterator[Finding]:
        ref = f"seal {seal.number}"
        if seal.number != (before.number + 1 if before else 0):
            yield Finding("seal", None, None, ref, f"Seals are missing before {ref}.")
        if self._held and seal.number == self._held.number and seal.digest != self._held.digest:
            yield Finding("tip", None, None, ref, "This seal is not the one that was kept outside.")
        if before is None:
            if seal.counts != Counts():
                yield Finding("seal", None, None, ref, "The first seal counts rows.")
            return
        hashed = sha256()
        for table in TABLES:
            yield from self._table(table, getattr(before.counts, table), getattr(seal.counts, table), hashed.update)
        if seal.digest != digests.seal(seal.number, before.digest, seal.counts, hashed.digest()):
            yield Finding("seal", None, None, ref, f"The rows of {ref} are not those it was made over.")

    def _table(self, table: str, after: int, upto: int, cover: Callable[[bytes], None]) -> Iterator[Finding]:
        due = after + 1
        for raw in self._select(table, after, upto):
            if isinstance(raw, Finding):
                yield raw
                continue
            if raw[0] != due:
                yield _gone(table, due, raw[0])
            try:
                encoded, findings = self._checks[table](raw)
            except StoreCorrupt as error:
                encoded, findings = b"", [Finding(table, None, None, f"{table} {raw[0]}", str(error))]
            cover(encoded)
            yield from findings
            due = raw[0] + 1 if isinstance(raw[0], int) else due + 1
            self._done += 1
        if due <= upto or upto < after:
            yield _gone(table, due, upto + 1)

    def _select(self, table: str, after: int, upto: int) -> Iterator[Raw | Finding]:
        try:
            yield from self._rows.select(table, after, upto)
        except StoreError as error:
            yield Finding("sqlite", None, None, f"{table} {after + 1} to {upto}", str(error))

    def _end(self, last: SealRow | None) -> Iterator[Finding]:
        sealed, newest = self._rows.counts()
        for table in TABLES:
            if getattr(newest, table) > getattr(sealed, table):
                yield Finding(table, None, None, "", f"Rows of {table} come after what the last seal counts.")
        if self._held and (last is None or last.number < self._held.number):
            ref = f"seal {self._held.number}"
            yield Finding("tip", None, None, ref, f"The store ends before {ref}, which was kept outside.")

    def _log(self, raw: Raw) -> Checked:
        row = log_row(raw)
        self._sessions[row.id] = row.session
        return digests.log_row(row.session, row.opened), []

    def _blob(self, raw: Raw) -> Checked:
        row = blob_row(raw)
        encoded = digests.blob_row(row.digest, row.size)
        try:
            matches = sha256(unpack(row.encoding, row.kept, row.size)).digest() == row.digest
        except StoreCorrupt as error:
            return encoded, [Finding("blob", None, None, row.digest.hex(), str(error))]
        wrong = Finding("blob", None, None, row.digest.hex(), "The content of the blob does not match its hash.")
        return encoded, [] if matches else [wrong]

    def _node(self, raw: Raw) -> Checked:
        row = node_row(raw)
        words = []
        due = self._nodes.get(row.log, 0)
        self._nodes[row.log] = row.node + 1
        if row.log not in self._sessions or row.node != due or not -1 <= row.parent < row.node:
            words.append("does not follow from the nodes before it")
        parent = NO_PARENT if row.parent == -1 else self._rows.chain(row.log, row.parent)
        if not isinstance(parent, bytes) or row.chain != digests.chain(parent, row.message):
            words.append("has a chain value that its parent and message do not give")
        if row.blob is None:
            words.append("names a blob that is not there")
        found = [self._at("node", row.log, None, row.id, f"The node {row.node} {word}.") for word in words]
        blob = row.blob or bytes(32)
        return digests.node_row(row.log, row.node, row.parent, row.chain, row.message, blob), found

    def _stub(self, raw: Raw) -> Checked:
        row = stub_row(raw)
        lost = self._at("stub", row.log, None, row.id, f"The handle {row.handle} stands for no session.")
        return digests.stub_row(row.handle, row.log, row.cell), [] if row.log in self._sessions else [lost]

    def _entry(self, raw: Raw) -> Checked:
        row = entry_row(raw)
        words = []
        due = self._seqs.get(row.log, 0)
        self._seqs[row.log] = row.seq + 1
        if row.log not in self._sessions or row.seq != due or row.kind not in KINDS:
            words.append(f"is out of order ({due} is next) or of an unknown kind")
        session = self._sessions.get(row.log, b"")
        try:
            leaf = digests.leaf(session, row.seq, row.kind, row.idem, unpack(row.encoding, row.kept))
            if leaf != row.leaf:
                words.append("does not match its leaf hash")
        except StoreCorrupt as error:
            words.append(f"cannot be read: {error}")
        found = [self._at("entry", row.log, row.seq, row.id, f"The entry {row.seq} {word}.") for word in words]
        return digests.entry_row(row.log, row.seq, row.leaf), found

    def _at(self, kind: str, log: int, seq: int | None, row: int, detail: str) -> Finding:
        session = self._sessions.get(log)
        return Finding(kind, session.hex() if session else None, seq, f"{kind} {row}", detail)


def _gone(table: str, first: int, after: object) -> Finding:
    return Finding(
        table, None, None, f"{table} {first}", f"Rows of {table} are missing from {first} to before {after}."
    )
