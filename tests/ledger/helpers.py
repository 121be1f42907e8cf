"""Short ways to book things, and to change a store as somebody who has its file could."""

from __future__ import annotations

from pathlib import Path

import apsw

from ctxgc.core.bookings import Artifact, Fact
from ctxgc.ledger import Ledger


def written(ledger: Ledger, root: Path, name: str, text: str) -> Artifact:
    """A file that a tool has written, and its voucher."""
    (root / name).write_text(text, encoding="utf-8")
    return ledger.vault.store(ref=name, content=text)


def fact(ledger: Ledger, statement: str, criticality: str = "normal", **more: str) -> Fact:
    """A fact that a query's answer bears out."""
    artifact = ledger.vault.store(ref=f"ask {statement}", content=f"answer:\n{statement}\n", kind="query")
    return ledger.post(statement, [ledger.verify(artifact, statement)], criticality, **more)


def flip(path: Path, table: str, column: str, where: str, byte: int = 0) -> None:
    """Change one byte of a stored value, and put the guards of the store back after it."""
    db = apsw.Connection(str(path))
    try:
        guard = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (f"{table}_update",)).get
        row, kept = next(db.execute(f"SELECT id, {column} FROM {table} WHERE {where}"))
        changed = bytearray(kept)
        changed[byte % len(changed)] ^= 1
        db.execute(f"DROP TRIGGER {table}_update")
        db.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (bytes(changed), row))
        db.execute(guard)
    finally:
        db.close()
