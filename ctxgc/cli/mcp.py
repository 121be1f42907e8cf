"""``ctxgc mcp``."""

from __future__ import annotations

import click

from ctxgc.cli._journals import find_session, opened, store_option


@click.command()
@click.option("--session", metavar="SESSION", help="The only session to read: its id, or how that begins.")
@click.option("--ledger", metavar="NAME", help="The ledger whose vouchers may be read [the session's own].")
@store_option
def command(session: str | None, ledger: str | None, store: str | None) -> None:
    """Serve recall and search to an agent, as an MCP server on stdin and stdout.

    The agent's own session is read: the one that was written to last or, where several agents share a store, the one
    that --session names. The store is only read, and the proxy may go on running.

    \b
    Examples:
      claude mcp add ctxgc -- ctxgc mcp
      ctxgc mcp --session 3fa2 --store sqlite:///audit.db
    """
    import asyncio
    import signal

    from ctxgc.config import load
    from ctxgc.errors import ConfigError

    try:
        from ctxgc.mcp_server.server import serve
    except ImportError:
        raise ConfigError("ctxgc mcp needs the package mcp, 2 or newer: pip install 'ctxgc[mcp]'") from None
    from ctxgc.mcp_server.answers import Answers

    key = _key(session, store) if session else ""
    # Ctrl-C would wait for the thread that reads stdin. Nothing is written here, so ending at once loses nothing.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(Answers(store, key, ledger or load().config.ledger)))


def _key(session: str, url: str | None) -> str:
    """Looked up once, so that a session that begins later cannot make a short id ambiguous."""
    with opened(url) as store:
        return find_session(store, session).key.hex()
