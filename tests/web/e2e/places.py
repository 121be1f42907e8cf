"""Every place of the page that looks different, and reports of the same store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ctxgc.store import Store
from ctxgc.web.report import write_report
from tests.web.e2e.visit import Visit

TURN, AGAINST, CELL = 24, 15, 12
"""A turn that changed something, one before it, and a cell that was edited."""


def places(session: str, turn: int = TURN, against: int = AGAINST, cell: int = CELL) -> tuple[str, ...]:
    """The routes to all views: those of the sessions and of a session, a cell, a diff of one turn and of two."""
    views = (
        "heap",
        "cells",
        f"cells/{cell}",
        f"diff/{turn}",
        f"diff/{turn}/{against}",
        "gc",
        "suspects",
        "tools",
        "books",
    )
    return "", *(f"session/{session}/{view}" for view in views)


async def each(visit: Visit, routes: Sequence[str]):  # type: ignore[no-untyped-def]
    """Go to each place, open what can be opened there, and stand still."""
    for route in routes:
        await visit.go(route)
        if route.endswith("/books") and await visit.page.locator("tr[data-fact]").count():
            await visit.page.locator("tr[data-fact]").first.click()
            await visit.settled()
        yield route


def report(store: Store, keys: Sequence[str], path: Path) -> str:
    """Write a report with content; its address."""
    with path.open("w", encoding="utf-8") as out:
        write_report(store, [bytes.fromhex(key) for key in keys], out, content=True)
    return path.as_uri()
