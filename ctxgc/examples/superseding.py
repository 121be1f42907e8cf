"""Facts that were overturned: are they out of every balance, still in the ledger, and can they come back?

Rule: what is overturned when is worked out here anew from the entries, and not asked of the books.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxgc.core.bookings import AnyBooking, Fact, Period, Restoration, Supersession
from ctxgc.errors import LedgerError
from ctxgc.examples.auditing import agrees
from ctxgc.examples.play import Played
from ctxgc.examples.tampering import copied
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.ledger.log import booking

MOST = 10
"""Overturned facts that are restored in a copy."""


@dataclass(frozen=True, slots=True)
class Superseding:
    """``overturned`` facts, of which ``kept`` can still be followed to their vouchers; ``restored`` in the course of
    the task; balances that are ``wrong``; and those that ``return`` in a copy, of those that were tried there."""

    overturned: int
    kept: int
    restored: int
    wrong: int
    tried: int
    returned: int

    @property
    def ok(self) -> bool:
        """Whether there are any, all are kept, no balance is wrong, and each one that was tried came back."""
        whole = self.kept == self.overturned and self.returned == self.tried
        return self.overturned > 0 and whole and not self.wrong


def superseding(played: Played, folder: Path) -> Superseding:
    """Look at all overturned facts of a played task; ``folder`` is an empty one, for a copy to restore them in."""
    ledger = played.ledger()
    entries = [booking(stored.body) for stored in played.store.entries(ledger.key)]
    overturned = {entry.old for entry in entries if isinstance(entry, Supersession)} | ledger.books.superseded_by.keys()
    gone = list(ledger.books.superseded_by)[-MOST:]
    kept = sum(agrees(ledger, name) for name in overturned)
    copied(played.store, ledger.key, folder / "books.db")
    restored = sum(isinstance(entry, Restoration) for entry in entries)
    return Superseding(len(overturned), kept, restored, wrong(entries), len(gone), _returned(played, gone, folder))


def _returned(played: Played, names: Sequence[str], folder: Path) -> int:
    """How many of these come back in the copy that lies in a folder."""
    files = Path(shutil.copytree(played.root, folder / "files"))
    with open_ledger(f"sqlite:///{folder / 'books.db'}", played.name, root=files) as copy:
        return sum(returns(copy, name, files) for name in names)


def returns(ledger: Ledger, name: str, files: Path) -> bool:
    """Whether an overturned fact is in the next balance once its file is put back and it is restored, and what stood
    in its place is not."""
    instead = ledger.books.superseded_by[name]
    for evidence in ledger.books.facts[name].source:
        artifact = ledger.books.artifacts[evidence.artifact]
        if artifact.type == "file":
            (files / artifact.ref).write_bytes(ledger.vault.read(artifact.id))
    try:
        ledger.restore(name, "put back from its voucher")
        balance = ledger.close("put back").balance
    except LedgerError:
        return False
    return name in balance and instead not in balance


def wrong(entries: Iterable[AnyBooking]) -> int:
    """Balances that hold a fact which was overturned then, or lack one which was not."""
    facts: list[str] = []
    by: dict[str, str] = {}
    found = 0
    for entry in entries:
        match entry:
            case Fact(type="verified"):
                facts.append(entry.id)
            case Supersession():
                by[entry.old] = entry.new
            case Restoration():
                _restore(by, entry.fact)
            case Period():
                found += list(entry.balance) != [name for name in facts if name not in by]
    return found


def _restore(by: dict[str, str], fact: str) -> None:
    """A fact is current again, and what stood at the end of its line is overturned by it."""
    end = fact
    while by.get(end):
        end = by[end]
    del by[fact]
    if end != fact:
        by[end] = fact
