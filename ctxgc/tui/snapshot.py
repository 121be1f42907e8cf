"""One look as plain text: what ``ctxgc top`` prints where there is no terminal.

Rule: the same look gives the same text, and no line of it is wider than it is told to be.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxgc.tui.detail import detail
from ctxgc.tui.sessions import sorted_by, table
from ctxgc.tui.text import cut, line, plain, printable
from ctxgc.tui.watching import Look

LISTED = 10
"""Sessions that a snapshot lists."""


def snapshot(look: Look, width: int, sort: str = "last") -> Iterator[str]:
    """The lines of a look."""
    if look.error:
        yield plain(cut(line(printable(f"ctxgc: {look.error}")), width))
    if not look.sessions:
        yield plain(cut(line("no sessions yet"), width))
        return
    chosen = look.session["id"] if look.session else ""
    rows = sorted_by(look.sessions, sort)
    more = f" ({LISTED} of {len(rows):,})" if len(rows) > LISTED else ""
    yield plain(cut(line(f"Sessions, by {sort}{more}"), width))
    yield from (plain(cut(line(one), width)) for one in table(rows[:LISTED], chosen, width))
    if look.session:
        yield ""
        yield from map(plain, detail(look.session, width))
