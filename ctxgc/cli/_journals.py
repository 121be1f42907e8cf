"""What the commands share about the store: which one, which session in it, and its journal.

Rule: a command that only reads opens the store read-only and creates nothing; the proxy may be running beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from ctxgc.cli._ledgers import SHORT as SHORT
from ctxgc.cli._ledgers import is_ledger
from ctxgc.errors import InputError

if TYPE_CHECKING:
    from ctxgc.core.journal import Allocation, AnyEntry
    from ctxgc.store import SessionRow, Store, Stored
    from ctxgc.wire.codec import Codec

F = TypeVar("F", bound=Callable[..., object])


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


def sessions(store: Store) -> list[SessionRow]:
    """The sessions of a store, oldest first: its logs without the ledgers among them."""
    return [row for row in store.sessions() if not is_ledger(store, row)]


def find_session(store: Store, prefix: str) -> SessionRow:
    """The session whose key begins with these hex digits. Raises ``InputError`` for none or several."""
    begun = _begun(store, prefix)
    found = [row for row in begun if not is_ledger(store, row)]
    if begun and not found:
        raise InputError(f"{prefix!r} is a ledger and no session: `ctxgc ledger --help` says what shows it")
    return _only(found, prefix)


def find_log(store: Store, named: str) -> SessionRow:
    """The session or ledger whose key begins with these hex digits, or the ledger of that name.

    Raises ``InputError`` for none or several.
    """
    from ctxgc.ledger.log import key_of

    named_so = [row for row in store.sessions() if row.key == key_of(named)]
    return _only([*_begun(store, named), *named_so], named)


def _begun(store: Store, prefix: str) -> list[SessionRow]:
    wanted = prefix.lower()
    return [row for row in store.sessions() if wanted and row.key.hex().startswith(wanted)]


def _only(found: list[SessionRow], prefix: str) -> SessionRow:
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"no session begins with {prefix!r}: `ctxgc sessions` lists them")
    some = ", ".join(row.key.hex()[:SHORT] for row in found[:4])
    raise InputError(f"{len(found)} sessions begin with {prefix!r} ({some}, ...): give more digits")


def journal(store: Store, key: bytes, start: int = 0) -> Iterator[tuple[Stored, AnyEntry]]:
    """A session's entries from ``start`` on, each as stored and decoded. Raises ``InputError`` for one unreadable."""
    from msgspec import MsgspecError

    from ctxgc.core.journal import decode

    for stored in store.entries(key, start):
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
