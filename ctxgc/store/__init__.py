"""The append-only audit store: what happened, and every content it happened to.

Rule: what was acknowledged is durable, nothing that was written is changed or removed, and `Store.verify` finds
whatever was.
"""

from ctxgc.store.errors import (
    StoreBusy,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMissing,
    StoreRefused,
    StoreUnavailable,
    StoreVersionError,
)
from ctxgc.store.protocol import Store
from ctxgc.store.records import KINDS, Finding, Node, Record, SessionRow, Stored, Stub, Tip

__all__ = [
    "KINDS",
    "Finding",
    "Node",
    "Record",
    "SessionRow",
    "Store",
    "StoreBusy",
    "StoreConflict",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreMissing",
    "StoreRefused",
    "StoreUnavailable",
    "StoreVersionError",
    "Stored",
    "Stub",
    "Tip",
    "open_store",
]


def open_store(url: str, *, create: bool = True, read_only: bool = False) -> Store:
    """Open the store a URL names, and make it if there is none and `create` allows.

    `sqlite:///relative.db`, `sqlite:////absolute/path.db`, or `sqlite://` for one in memory. The file must be on
    a local disk: the locks of network file systems do not hold. Several processes may have it open at once;
    within one that has, do not open the file in any other way, since closing it would drop SQLite's locks.

    Raises StoreVersionError (not a store, or of another version), StoreUnavailable (absent, no rights),
    StoreBusy (locked), StoreFull and StoreCorrupt.
    """
    from ctxgc.store.sqlite import open_sqlite  # SQLite is only loaded where a store is opened

    return open_sqlite(url, create=create, read_only=read_only)
