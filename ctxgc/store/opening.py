"""Finding out what is at a place, and making it a store if nothing is.

Rule: a file that is not ours is never opened by SQLite, so it stays as it is, down to the last byte.
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

_MAGIC = b"SQLite format 3\0"
_HEADER = 100


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
        found = _found(place.path) if place.path else None
        if found is not None:
            schema.check_version(found, str(place))
        elif place.read_only or not create:
            raise StoreUnavailable(f"there is no store at {place}: check the path, or let it be created")
        elif place.path:
            _make_file(place.path)
        if not place.read_only and found != schema.VERSION:
            check_library(library_version())
            _initialise_or_migrate(place, now)


def _found(path: Path) -> int | None:
    """The schema version in the header of a file, None if the file is absent or empty."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header:
        return None
    ours = schema.APPLICATION_ID.to_bytes(4, "big")
    if len(header) < _HEADER or not header.startswith(_MAGIC) or header[68:72] != ours:
        raise StoreVersionError(f"{path} is not a ctxgc store and was left untouched: choose another path")
    return int.from_bytes(header[60:64], "big")


def _make_file(path: Path) -> None:
    """Transcripts are private: only the owner reads the file, and the log beside it inherits its mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
