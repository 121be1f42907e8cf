"""What the commands of ``ctxgc ledger`` share: which ledger of which store, and how it is opened.

Rule: what only reads opens the store read-only; a ledger begins with its first entry, and before that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ctxgc.cli._journals import find_session
from ctxgc.cli._ledgers import MAIN, ledgers, of_session
from ctxgc.cli._output import shorten

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger
    from ctxgc.store import Store


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ledger that a command is about: the URL of its store, its name or the session it is of, and how to answer."""

    url: str | None
    name: str | None
    session: str | None
    json: bool


def ledger_options(command: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options of every ``ctxgc ledger`` command, given to the function as one ``Chosen``, its first argument."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(store: str | None, ledger: str | None, session: str | None, json_: bool, **rest: Any) -> None:
            if ledger is not None and session is not None:
                raise click.UsageError("give --ledger or --session, not both")
            if "" in (ledger, session):
                raise click.UsageError("a ledger has a name, and a session an id: --ledger and --session are not empty")
            function(Chosen(store, ledger, session, json_), **rest)

        text = f"One JSON document (schema ctxgc.ledger.{command}/1)."
        decorated: Callable[..., None] = click.option("--json", "json_", is_flag=True, help=text)(run)
        text = "The ledger of a session (any unambiguous beginning of its id)."
        decorated = click.option("--session", metavar="ID", help=text)(decorated)
        text = f"Which ledger of the store [from the configuration, else {MAIN}]."
        decorated = click.option("--ledger", metavar="NAME", help=text)(decorated)
        text = "The store: sqlite:///PATH [from the configuration, else the user's data folder]."
        return click.option("--store", metavar="URL", help=text)(decorated)

    return decorate


@contextmanager
def reading(chosen: Chosen) -> Iterator[Ledger]:
    """The ledger, in a store that is open for reading. Raises ``InputError`` where there is no such ledger."""
    with _opened(chosen, create=False, read_only=True) as ledger:
        yield ledger


@contextmanager
def writing(chosen: Chosen, *, begin: bool = False) -> Iterator[Ledger]:
    """The ledger, to add to. ``begin`` lets it, and its store, begin now where they are not there."""
    with _opened(chosen, create=begin and chosen.session is None, read_only=False, begin=begin) as ledger:
        yield ledger


@contextmanager
def _opened(chosen: Chosen, *, create: bool, read_only: bool, begin: bool = False) -> Iterator[Ledger]:
    from ctxgc.config import default_store, load
    from ctxgc.ledger import open_ledger
    from ctxgc.store import open_store

    config = load({"store": chosen.url}).config
    store = open_store(config.store or default_store(), create=create, read_only=read_only)
    try:
        ledger = open_ledger(store, _name(store, chosen, config.ledger))
        if not begin:
            _known(store, ledger)
        yield ledger
    finally:
        store.close()


def _name(store: Store, chosen: Chosen, configured: str) -> str:
    if chosen.session is not None:
        return of_session(find_session(store, chosen.session).key)
    return chosen.name or configured or MAIN


def _known(store: Store, ledger: Ledger) -> None:
    """Raises ``InputError`` where nothing was ever booked: a name that was mistyped must not look like clean books."""
    from ctxgc.errors import InputError

    if any(row.key == ledger.key for row in store.sessions()):
        return
    others = ", ".join(list(ledgers(store).values())[:5])
    there = f"it has {others}" if others else "`ctxgc ledger post` begins one"
    raise InputError(f"this store has no ledger {shorten(ledger.name)!r}: {there}")
