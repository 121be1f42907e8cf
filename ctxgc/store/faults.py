"""Errors of SQLite and the operating system, in the words of the store.

Rule: no apsw or OS error leaves this package untranslated.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from ctxgc.store.connection import Place
from ctxgc.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

BROKEN = (apsw.Error, OSError, UnicodeDecodeError)
_CORRUPT = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, UnicodeDecodeError)
_LOCKED = (apsw.BusyError, apsw.LockedError)
_CLOSED = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError, PermissionError)


def translate(error: Exception, place: Place) -> StoreError:
    """The store's own error for one of BROKEN."""
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and _is_full(place)):
        return StoreFull(f"no space left for {place}: free some, the store goes on by itself")
    if isinstance(error, _LOCKED):
        return StoreBusy(f"{place} is locked by another process: wait for it or stop it, then retry")
    if isinstance(error, _CORRUPT):
        return StoreCorrupt(f"{place} is damaged ({error}): run verify, then restore it from a copy")
    if isinstance(error, _CLOSED):
        return StoreUnavailable(f"{place} cannot be written: check the rights on the file and its folder")
    return StoreUnavailable(f"{place} cannot be used ({error}): check that it exists and its disk is healthy")


@contextmanager
def translated(place: Place) -> Iterator[None]:
    """Raise StoreError for whatever SQLite or the operating system raises inside."""
    try:
        yield
    except BROKEN as error:
        raise translate(error, place) from error


def _is_full(place: Place) -> bool:
    """SQLite reports a full disk as an I/O error where it grows the shared index of the log."""
    if place.path is None:
        return False
    try:
        return os.statvfs(place.path.parent).f_bavail == 0
    except OSError:
        return False
