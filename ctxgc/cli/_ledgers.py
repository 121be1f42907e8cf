"""Which logs of a store are ledgers, what they are called, and the vouchers in them.

Rule: a log is a ledger by what its entries are, and has a name only if that leads to its key.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from ctxgc.core.bookings import Artifact
    from ctxgc.store import SessionRow, Store

MAIN = "main"
"""The ledger that is meant where none is named."""
SHORT = 12
"""Hex digits of a log's key that are shown; any unambiguous beginning is accepted."""
_OF_SESSION = "session "


def of_session(key: bytes) -> str:
    """The name of the ledger of a session."""
    return f"{_OF_SESSION}{key.hex()}"


def title(name: str) -> str:
    """How to write of a ledger of that name: ``ledger main``, ``ledger of session 3fa2...``."""
    if name.startswith(_OF_SESSION) and len(name) == len(of_session(bytes(32))):
        return f"ledger of {name[: len(_OF_SESSION) + SHORT]}"
    return f"ledger {name}"


def is_ledger(store: Store, row: SessionRow) -> bool:
    """Whether a log is a ledger: its first entry is a booking. One that is damaged is passed over."""
    from ctxgc.store import StoreCorrupt

    kinds = _kinds()
    for start in range(row.entries):
        try:
            first = next(store.entries(row.key, start), None)
        except StoreCorrupt:
            continue
        return first is not None and first.kind in kinds
    return False


def ledgers(store: Store) -> dict[bytes, str]:
    """The keys of the ledgers, oldest first, and how to call each: by its name, or else the beginning of its key."""
    rows = store.sessions()
    names = _names(rows)
    return {row.key: names.get(row.key, row.key.hex()[:SHORT]) for row in rows if is_ledger(store, row)}


def find_voucher(store: Store, handle: str) -> tuple[Artifact, bytes] | None:
    """The voucher of that handle, in whichever ledger it is, with its exact bytes. Raises ``StoreError``.

    A ledger that was damaged or forged is read as far as its rules let it be.
    """
    from ctxgc.ledger.vault import digest_of

    for key in ledgers(store):
        artifact = _artifact(store, key, handle)
        if artifact is not None:
            return artifact, store.blob(digest_of(artifact))
    return None


def _artifact(store: Store, key: bytes, handle: str) -> Artifact | None:
    from ctxgc.errors import LedgerError
    from ctxgc.ledger.log import Log
    from ctxgc.store import StoreCorrupt

    log = Log(store, key, time.time)
    try:
        log.refresh()
    except (StoreCorrupt, LedgerError):
        pass  # what comes before the damage was taken; `ctxgc audit verify` names it
    with log.held(refresh=False) as books:
        return books.artifacts.get(handle)


def _names(rows: Iterable[SessionRow]) -> dict[bytes, str]:
    """The names that can be known, by the keys that they lead to: a store keeps no names."""
    from ctxgc.config import load
    from ctxgc.ledger.log import key_of

    names = (MAIN, load().config.ledger, *(of_session(row.key) for row in rows))
    return {key_of(name): name for name in names if name}


def _kinds() -> frozenset[str]:
    from ctxgc.core.bookings import AnyBooking

    return frozenset(kind.__struct_config__.tag for kind in get_args(AnyBooking))
