"""Opening SQLite: which library, which file, which settings, and what a connection may do at all.

Rule: once handed out, a connection cannot change or remove a row, nor switch its own guards off.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import apsw

from ctxgc.store.errors import StoreUnavailable, StoreVersionError

WAL_LIMIT = 4 << 20  # bytes the write-ahead log is cut back to
CHECKPOINT_PAGES = 512  # checkpoint at 2 MiB of log: short pauses, and the log stays small beside the store

_SETTINGS = (
    "PRAGMA synchronous = FULL",  # NORMAL loses acknowledged commits at a power cut
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA recursive_triggers = ON",  # REPLACE then fires the delete triggers, too
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    f"PRAGMA journal_size_limit = {WAL_LIMIT}",
    f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}",
)
_READING = frozenset(
    {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_RECURSIVE, apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT}
)
_FUNCTIONS = frozenset({"max", "count", "coalesce", "length"})
_PRAGMAS = frozenset({"integrity_check", "user_version", "page_count", "page_size"})
_GROWING = frozenset({"log", "blob", "node", "stub", "entry", "seal"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is: a file, or (path None) memory under a name; and how long to wait for its lock."""

    path: Path | None
    name: str = ""
    read_only: bool = False
    busy_ms: int = 5000

    def __str__(self) -> str:
        return str(self.path) if self.path else "the store in memory"

    def uri(self) -> str:
        """The name SQLite opens."""
        if self.path is None:
            return f"file:/{self.name}?vfs=memdb"
        return self.path.as_uri() + ("?immutable=1" if self._frozen() else "")

    def _frozen(self) -> bool:
        """A read-only folder has no room for the shared index of a log; without a log none is needed."""
        if not self.read_only or self.path is None:
            return False
        log = Path(f"{self.path}-wal")
        return not log.exists() and not _writable(self.path.parent)


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def check_library(version: tuple[int, int, int]) -> None:
    """Refuse an SQLite in which two connections that write and checkpoint at once can lose commits.

    The bug is in 3.7.0 to 3.51.2, fixed in 3.51.3 and in 3.50.7 and 3.44.6. Raises StoreVersionError.
    """
    fixed = version >= (3, 51, 3) or (version[:2] in {(3, 50), (3, 44)} and version[2] >= {50: 7, 44: 6}[version[1]])
    if not fixed:
        number = ".".join(map(str, version))
        raise StoreVersionError(
            f"SQLite {number} can lose commits in WAL mode (fixed in 3.51.3, 3.50.7, 3.44.6):"
            " install apsw 3.51.3.0 or newer"
        )


def library_version() -> tuple[int, int, int]:
    """The version of the SQLite that apsw runs on."""
    major, minor, patch = (int(part) for part in apsw.sqlite_lib_version().split(".")[:3])
    return major, minor, patch


def connect(place: Place) -> apsw.Connection:
    """A bare connection with our settings, before its rights are taken away by `restrict`."""
    mode = apsw.SQLITE_OPEN_READONLY if place.read_only else apsw.SQLITE_OPEN_READWRITE
    if place.path is None:
        mode = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    db = apsw.Connection(place.uri(), flags=mode | apsw.SQLITE_OPEN_URI)
    db.set_busy_timeout(place.busy_ms)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    for setting in _SETTINGS:
        db.execute(setting)
    return db


def writer(place: Place) -> apsw.Connection:
    """A connection that may add rows and nothing else. Raises StoreVersionError and apsw.Error."""
    check_library(library_version())
    db = connect(place)
    mode = write_ahead(db, place)
    if place.path is not None and mode != "wal":
        db.close()
        raise StoreUnavailable(f"{place} does not allow a write-ahead log ({mode}): move it to a local disk")
    db.authorizer = _may_grow
    return db


def write_ahead(db: apsw.Connection, place: Place) -> object:
    """Switch to a write-ahead log. SQLite does not wait by itself where another process switches just now."""
    until = time.monotonic() + place.busy_ms / 1000
    while True:
        try:
            return db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.005)


def reader(place: Place) -> apsw.Connection:
    """A connection that may read and nothing else."""
    db = connect(place)
    db.pragma("query_only", True)
    db.authorizer = _may_read
    return db


def _may_read(action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None) -> int:
    allowed = (
        action in _READING
        or (action == apsw.SQLITE_FUNCTION and second in _FUNCTIONS)
        or (action == apsw.SQLITE_PRAGMA and first in _PRAGMAS and second is None)
    )
    return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY


def _may_grow(action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None) -> int:
    if action == apsw.SQLITE_INSERT and first in _GROWING and schema == "main":
        return apsw.SQLITE_OK
    return _may_read(action, first, second, schema, trigger)
