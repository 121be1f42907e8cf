"""What the commands share about the store: which one, which session in it, and its journal.

Rule: a command that only reads opens the store read-only and creates nothing; the proxy may be running beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from ctxgc.errors import InputError

if TYPE_CHECKING:
    from ctxgc.core.journal import Allocation, AnyEntry
    from ctxgc.store import SessionRow, Store, Stored
    from ctxgc.wire.codec import Codec

F = TypeVar("F", bound=Callable[..., object])
SHORT = 12
"""Hex digits of a session's key that are shown; any unambiguous beginning is accepted."""


def store_option(function: F) -> F:
    """The ``--store`` option, as every command that reads a store has it."""
    text = "The store to read: sqlite:///PATH [from the configuration, else the user's data folder]."
    return click.option("--store", metavar="URL", help=text)(function)


@contextmanager
def opened(flag: str | None) -> Iterator[Store]:
    """The store that the flag or the configuration names, open for reading. Raises ``StoreError``, ``ConfigError``."""
    from ctxgc.config import default_store, load
    from ctxgc.store import open_store

    url = load({"store": flag}).config.store or default_store()
    store = open_store(url, create=False, read_only=True)
    try:
        yield store
    finally:
        store.close()


def find_session(store: Store, prefix: str) -> SessionRow:
    """The session whose key begins with these hex digits. Raises ``InputError`` for none or several."""
    wanted = prefix.lower()
    found = [row for row in store.sessions() if wanted and row.key.hex().startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"no session begins with {prefix!r}: `ctxgc sessions` lists them")
    some = ", ".join(row.key.hex()[:SHORT] for row in found[:4])
    raise InputError(f"{len(found)} sessions begin with {prefix!r} ({some}, ...): give more digits")


def journal(store: Store, key: bytes) -> Iterator[tuple[Stored, AnyEntry]]:
    """A session's entries, each as stored and decoded. Raises ``InputError`` for one that cannot be read."""
    from msgspec import MsgspecError

    from ctxgc.core.journal import decode

    for stored in store.entries(key):
        try:
            yield stored, decode(stored.body)
        except MsgspecError as error:
            where = f"session {key.hex()[:SHORT]}, entry {stored.seq}"
            raise InputError(f"{where}: no entry that this version can read ({error})") from None


def codec_of(name: str) -> Codec:
    """The codec that a journal names. Raises ``InputError``."""
    from ctxgc.wire.openai_chat import OpenAIChat

    if name != OpenAIChat.name:
        raise InputError(f"the session is of the wire format {name!r}, which this version cannot read")
    return OpenAIChat()


def newest(entries: Iterable[AnyEntry]) -> Allocation | None:
    """The newest request of the main history; helper calls and openings, which continue nothing, only if alone."""
    from ctxgc.core.journal import Allocation

    found: Allocation | None = None
    for entry in entries:
        if isinstance(entry, Allocation) and (entry.continues or found is None or not found.continues):
            found = entry
    return found
