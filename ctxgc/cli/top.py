"""``ctxgc top``."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import find_session, opened, store_option
from ctxgc.cli._output import as_json, say

if TYPE_CHECKING:
    from ctxgc.tui.watching import Look
    from ctxgc.web.frames import Terms

SORTS = ("last", "window", "sent", "received", "calls", "net")
_WIDTH = 80


@click.command()
@click.option("--session", metavar="ID", help="Begin with this session [the one active last].")
@click.option("--sort", type=click.Choice(SORTS), default="last", show_default=True, help="Order of the list.")
@click.option("--once", is_flag=True, help="Print what there is now, and exit: so it does wherever it has no terminal.")
@click.option("--json", "json_", is_flag=True, help="That as one JSON document (schema ctxgc.top/1).")
@store_option
def command(session: str | None, sort: str, once: bool, json_: bool, store: str | None) -> None:
    """Watch the sessions of a store as they grow: each one's context as it came and as it was sent, its share of the
    model's window, and what collecting has brought; of one of them its tags, sites, collections and leak suspects.

    It reads, and writes nothing; the proxy may be running. Keys: arrows, enter, s to sort, ? for help, q to leave.
    The terminal's part is an extra: pip install 'ctxgc[tui]'.

    \b
    Examples:
      ctxgc top
      ctxgc top --session 3fa2 --sort window
      ctxgc top --once | head -20
      ctxgc top --json | jq '.sessions[] | select(.net < 0) | .id'

    \b
    Exit codes: 0 ok, 2 usage, 3 the extra is not installed or the configuration is bad,
    4 no such session or store.
    """
    from ctxgc.tui.watching import Watcher

    with opened(store) as found:
        chosen = find_session(found, session).key.hex() if session else ""
        watcher = Watcher(found, _terms(store))
        if json_:
            as_json(_document(watcher.snapshot(chosen)))
        elif once or not _terminal():
            from ctxgc.tui.snapshot import snapshot

            for line in snapshot(watcher.snapshot(chosen), shutil.get_terminal_size((_WIDTH, 24)).columns, sort):
                say(line)
        else:
            _app()(watcher.look, chosen, sort).run()


def _terminal() -> bool:
    return sys.stdout.isatty() and sys.stdin.isatty()


def _terms(store: str | None) -> Terms:
    from ctxgc.config import default_store, load
    from ctxgc.web.frames import Terms

    config = load({"store": store}).config
    return Terms(url=config.store or default_store(), ledger=config.ledger, pacer=config.pacer())


def _app() -> type:
    """The application. Raises ``ConfigError`` where what draws it is not installed."""
    from ctxgc.errors import ConfigError

    try:
        from ctxgc.tui.app import TopApp
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "textual":
            raise
        raise ConfigError("ctxgc top draws with textual: pip install 'ctxgc[tui]' (or --once, without it)") from None
    return TopApp


def _document(look: Look) -> dict[str, object]:
    """Keys that stay: ``sessions`` and ``session`` as in the page's documents, and what went ``wrong``, or null.
    Only the proxy knows which sessions are ``live``."""
    return {
        "schema": "ctxgc.top/1",
        "sessions": [{**row, "live": None} for row in look.sessions],
        "session": {**look.session, "live": None} if look.session else None,
        "wrong": look.error or None,
    }
