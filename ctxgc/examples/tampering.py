"""Changing random bytes of a store as somebody could who has its file, and seeing who notices.

Rule: only a copy is ever changed; one change is one byte of one stored value, and it counts as named only where a
finding names that very value.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from ctxgc.core.bookings import Artifact
from ctxgc.ledger import Ledger, Report, open_ledger
from ctxgc.ledger.log import booking
from ctxgc.ledger.vault import digest_of
from ctxgc.store import Finding, Record, Store, Stored, StoreError, open_store
from ctxgc.store.codec import unpack

_COLUMNS = {"blob": "data", "entry": "body"}


@dataclass(frozen=True, slots=True)
class Tamper:
    """One byte of one stored value, changed; ``ref`` is the voucher's sha256 or the entry's position."""

    table: str
    ref: str

    def in_report(self, report: Report, ledger: Ledger) -> bool:
        """Whether a reconciliation names it."""
        if self.table == "entry":
            named = f"entry {self.ref} "
        else:
            vouchers = ledger.books.artifacts.values()
            named = next((f"voucher {one.id} " for one in vouchers if one.hash == f"sha256:{self.ref}"), "no voucher")
        return any(row.state in ("corrupt", "missing") and named in row.detail for row in report.rows)

    def in_findings(self, findings: Sequence[Finding]) -> bool:
        """Whether verifying the store names it."""
        return any(
            found.kind == self.table and self.ref == (str(found.seq) if self.table == "entry" else found.ref)
            for found in findings
        )


@dataclass(frozen=True, slots=True)
class Tampering:
    """How many changes there were, in which table who named them, and what was found where nothing was changed.

    ``void`` is changes of compressed bytes that left the content what it was; they are not counted as ``tampers``.
    """

    tampers: int
    void: int
    named: dict[str, dict[str, int]]
    untouched: int

    @property
    def missed(self) -> int:
        """The changes that nobody named."""
        return sum(by.get("nobody", 0) for by in self.named.values())

    @property
    def ok(self) -> bool:
        """Whether each change was named, and nothing where there was none."""
        return self.tampers > 0 and not self.missed and not self.untouched


def copied(store: Store, key: bytes, path: Path) -> None:
    """Copy one ledger, entries and vouchers, into a new store at ``path``, as its ledger of the same key."""
    copy = open_store(f"sqlite:///{path}")
    try:
        copy.append([_record(store, key, entry) for entry in store.entries(key)]).result()
    finally:
        copy.close()


def _record(store: Store, key: bytes, entry: Stored) -> Record:
    booked = booking(entry.body)
    along = (store.blob(digest_of(booked)),) if isinstance(booked, Artifact) else ()
    return Record(key, entry.kind, entry.body, entry.idem, along, at=entry.seq)


def tampering(path: Path, count: int, dice: random.Random, name: str = "main", root: str | Path = "") -> Tampering:
    """Change one random byte in a copy of the store at ``path``, ``count`` times, and once none."""
    found: dict[str, Counter[str]] = {"blob": Counter(), "entry": Counter(), "": Counter()}
    for table, by in campaign(path, count, dice, name, root):
        found[table][by] += 1
    named = {table: dict(sorted(found[table].items())) for table in ("blob", "entry")}
    return Tampering(count, found[""]["void"], named, untouched(path, name, root))


def campaign(
    path: Path, count: int, dice: random.Random, name: str = "main", root: str | Path = ""
) -> Iterator[tuple[str, str]]:
    """For each change the table, and who names it: ``both``, ``reconcile``, ``verify`` or ``nobody``.

    ``void`` in no table is a change of compressed bytes that leaves the content what it was.
    """
    copy, done = path.with_name("copy.db"), 0
    while done < count:
        shutil.copyfile(path, copy)
        tamper = change(copy, dice)
        if tamper is None:
            yield "", "void"
            continue
        done += 1
        yield tamper.table, _names(*look(copy, tamper, name, root))


def change(path: Path, dice: random.Random) -> Tamper | None:
    """Change a byte of a random voucher or entry, guards put back; None where that changes no content."""
    db = apsw.Connection(str(path))
    try:
        table = dice.choice(("blob", "entry"))
        row = dice.randint(1, db.execute(f"SELECT max(id) FROM {table}").get)
        column, ref = _COLUMNS[table], "lower(hex(hash))" if table == "blob" else "CAST(seq AS TEXT)"
        kept, encoding, named = db.execute(f"SELECT {column}, enc, {ref} FROM {table} WHERE id = ?", (row,)).get
        changed = bytearray(kept)
        changed[dice.randrange(len(changed))] ^= dice.randint(1, 255)
        if _content(encoding, bytes(changed)) == unpack(encoding, kept):
            return None
        guard = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (f"{table}_update",)).get
        db.execute(f"DROP TRIGGER {table}_update")
        db.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (bytes(changed), row))
        db.execute(guard)
        return Tamper(table, named)
    finally:
        db.close()


def look(path: Path, tamper: Tamper, name: str = "main", root: str | Path = "") -> tuple[bool, bool]:
    """Whether the next reconciliation names a tamper, and whether verifying the store does."""
    store = open_store(f"sqlite:///{path}", read_only=True)
    try:
        ledger = open_ledger(store, name, root=root)
        return tamper.in_report(ledger.reconcile(record=False), ledger), tamper.in_findings(list(store.verify()))
    finally:
        store.close()


def untouched(path: Path, name: str = "main", root: str | Path = "") -> int:
    """The control: what is found in a copy that nobody has changed."""
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    store = open_store(f"sqlite:///{copy}", read_only=True)
    try:
        report = open_ledger(store, name, root=root).reconcile(record=False)
        return len(report.findings) + len(list(store.verify()))
    finally:
        store.close()


def _names(reconcile: bool, verify: bool) -> str:
    return ("both" if verify else "reconcile") if reconcile else ("verify" if verify else "nobody")


def _content(encoding: int, kept: bytes) -> bytes | None:
    try:
        return unpack(encoding, kept)
    except StoreError:
        return None
