"""Finding out what is at a place, and making it a store if nothing is.

Rule: a file that is not ours is only looked at, and stays as it is, down to the last byte.
"""

from __future__ import annotations

import os
import secrets
from hashlib import sha256
from pathlib import Path

import apsw

from ctxgc.store import schema
from ctxgc.store.connection import Place, check_library, connect, library_version
from ctxgc.store.errors import StoreUnavailable, StoreVersionError
from ctxgc.store.faults import translated

_LOOKING = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def place_of(url: str, *, read_only: bool = False) -> Place:
    """The place a URL names: `sqlite:///relative.db`, `sqlite:////absolute.db`, or `sqlite://` for memory.

    Raises StoreUnavailable.
    """
    scheme, separator, rest = url.partition("://")
    if scheme != "sqlite" or not separator or (rest and not rest.startswith("/")):
        # Only the scheme is shown: the rest of a URL may hold a password.
        raise StoreUnavailable(f"no store can be opened by a URL of {scheme[:16]!r}: use sqlite:///path/to/file.db")
    if rest in ("", "/", "/:memory:"):
        return Place(None, f"ctxgc-{secrets.token_hex(8)}", read_only)
    return Place(Path(rest[1:]).absolute(), read_only=read_only)


def prepare(place: Place, *, create: bool, now: int) -> None:
    """Make sure there is a store of our version at a place; `now` in ms since the epoch.

    Raises StoreVersionError, StoreUnavailable, and what `translated` does.
    """
    with translated(place):
        found = _found(place)
        if found is not None:
            schema.check_version(found, str(place))
        elif place.read_only or not create:
            raise StoreUnavailable(f"there is no store at {place}: check the path, or let it be created")
        elif place.path:
            _make_file(place.path)
        if not place.read_only and found != schema.VERSION:
            check_library(library_version())
            _initialise_or_migrate(place, now)


def _found(place: Place) -> int | None:
    """The schema version of the file at a place, None if it is absent or empty."""
    if _is_empty(place.path):
        return None
    version = _version(place)
    if not place.read_only and Path(f"{place.path}-journal").exists():
        # Whoever made the file died while doing so; SQLite takes that back, perhaps down to nothing.
        _take_back(place)
        return None if _is_empty(place.path) else _version(place)
    return version


def _is_empty(path: Path | None) -> bool:
    return path is None or not path.exists() or (path.is_file() and path.stat().st_size == 0)


def _version(place: Place) -> int:
    """Read the header through SQLite, as an immutable file: that touches nothing.

    Opening the file ourselves would be a trap: closing it drops the locks of all our own connections to it. An
    immutable file is read without its log; where what it says makes no sense without that (a checkpoint was cut
    off, by a crash or a full disk), it is read with it.
    """
    for how in ("?immutable=1", "?mode=ro"):
        try:
            db = apsw.Connection(f"{place.path.as_uri()}{how}" if place.path else "", flags=_LOOKING)
            try:
                if db.pragma("application_id") == schema.APPLICATION_ID:
                    return int(db.pragma("user_version"))
            finally:
                db.close()
        except apsw.NotADBError:
            pass
        except apsw.CorruptError:
            if how == "?mode=ro" or place.path is None or not Path(f"{place.path}-wal").exists():
                raise
            continue
        break
    raise StoreVersionError(f"{place} is not a ctxgc store and was left untouched: choose another path")


def _take_back(place: Place) -> None:
    db = connect(place)
    try:
        schema.objects(db)
    finally:
        db.close()


def _make_file(path: Path) -> None:
    """Transcripts are private: only the owner reads the file, and the log beside it inherits its mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _initialise_or_migrate(place: Place, now: int) -> None:
    """All in one transaction and before the switch to a log, so that the header tells the truth at any time."""
    db = connect(place)
    try:
        db.execute("BEGIN IMMEDIATE")
        _upgrade(db, place, now)
        db.execute("COMMIT")
    finally:
        db.close()


def _upgrade(db: apsw.Connection, place: Place, now: int) -> None:
    if db.pragma("application_id") == schema.APPLICATION_ID:  # perhaps another process was faster
        found = int(str(db.pragma("user_version")))
        schema.check_version(found, str(place))
        schema.migrate(db, found)
        return
    secret = secrets.token_bytes(32)
    schema.initialise(db, now, secret, sha256(secret).digest())
