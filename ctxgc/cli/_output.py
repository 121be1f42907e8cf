"""Output: tables, JSON and progress. Data goes to stdout, progress to stderr.

Rule: what came from a model or a tool is never markup and never a control sequence, and a pipe gets plain text.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import click

NAME_WIDTH = 72
"""Columns that a name may take in a table: longer ones are cut in the middle."""


NARROW = 24
"""Characters in which a text can still be read."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A column's title begins with ``<`` where it is text, on the left, and with ``>`` where it is figures."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]


def say(text: str = "") -> None:
    """A line of data, without anything that a terminal would obey."""
    click.echo(printable(text))


def show(table: Table) -> None:
    """Print a table: with rich on a terminal, aligned plain text elsewhere."""
    rows = [[printable(cell) for cell in row] for row in table.rows]
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _rich(table, [[shorten(cell) for cell in row] for row in rows])
        return
    say(table.title)
    titles = [title[1:] for title in table.columns]
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for row in [titles, *rows]:
        cells = zip(table.columns, row, widths, strict=True)
        padded = (cell.ljust(width) if column[0] == "<" else cell.rjust(width) for column, cell, width in cells)
        say(("  " + "  ".join(padded)).rstrip())


def _rich(table: Table, rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    title = Text(printable(table.title))
    drawn = RichTable(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for column in table.columns:
        figures = column[0] == ">"
        drawn.add_column(Text(column[1:]), justify="right" if figures else "left", no_wrap=figures, overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    # Figures are never cut: where a terminal has no room for a table, it wraps the lines itself.
    width = max(Console(file=sys.stdout).width, _needed(table, rows))
    Console(file=sys.stdout, highlight=False, width=width).print(drawn)


def _needed(table: Table, rows: Sequence[Sequence[str]]) -> int:
    """The columns that a table takes at least: figures whole, and text in no less than ``NARROW``."""
    titles = [title[1:] for title in table.columns]
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    return sum(
        width if column[0] == ">" else min(width, NARROW) for column, width in zip(table.columns, widths, strict=True)
    ) + 2 * len(widths)


def as_json(document: dict[str, object]) -> None:
    """Print one JSON document, in ASCII: whatever a text holds, every reader can take it."""
    click.echo(json.dumps(document, indent=2))


def printable(text: str) -> str:
    """``text`` with line ends and tabs as spaces and every other character that does not print as a mark."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char in "\n\r\t" else "\ufffd" for char in text)


def shorten(text: str, width: int = NAME_WIDTH) -> str:
    """``text`` in at most ``width`` characters: both ends say more than either alone."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def when(at: float) -> str:
    """Unix seconds as UTC in ISO form, to the millisecond; a dash for what is no time."""
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "-"


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, told (done, total); nothing is shown where stderr is not a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(printable(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
