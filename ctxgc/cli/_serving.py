"""What the commands share that serve until Ctrl-C.

Rule: what they print goes to stderr, one line each, and comes when they answer.
"""

from __future__ import annotations

import signal
from collections.abc import Coroutine

import click


def until_stopped(work: Coroutine[None, None, int]) -> None:
    """Run a server to its end. Ctrl-C is no fault of anybody's, and has its own exit code. Raises ``Abort``."""
    if _run(work) == signal.SIGINT:
        raise click.Abort


def say_page(address: str, *, opens: bool = False) -> None:
    """Print the page's address, which holds its token; and open it in the browser, if it is to be."""
    click.echo(f"page {address}", err=True)
    if opens:
        import webbrowser

        webbrowser.open(address)


def _run(work: Coroutine[None, None, int]) -> int:
    try:
        import uvloop
    except ModuleNotFoundError:
        import asyncio

        return asyncio.run(work)
    return uvloop.run(work)
