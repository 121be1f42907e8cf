"""The list of sessions as lines: how large each one's context is, how full its window, and what collecting brought.

Rule: a row is one line, whatever is in it; what is not known yet is a question mark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ctxgc.tui.text import WIDE, bar, clock, figure, fit, money
from ctxgc.tui.watching import Document

SHORT = 12


class Column(NamedTuple):
    """A column: its title, its width where there is little room and where there is much, and whether it is figures."""

    title: str
    narrow: int
    wide: int
    right: bool

    def width(self, *, wide: bool) -> int:
        """Its width in columns of the terminal."""
        return self.wide if wide else self.narrow


COLUMNS = (
    Column("session", SHORT, SHORT, False),
    Column("model", 10, 20, False),
    Column("calls", 5, 7, True),
    Column("received", 8, 10, True),
    Column("sent", 7, 10, True),
    Column("window", 9, 15, False),
    Column("net", 9, 10, True),
    Column("last", 11, 19, False),
)
SORTS: Mapping[str, Callable[[Document], float]] = MappingProxyType(
    {
        "last": lambda row: _number(row["last"]),
        "window": lambda row: share(row) or 0.0,
        "sent": lambda row: _number(row["sent"]),
        "received": lambda row: _number(row["received"]),
        "calls": lambda row: _number(row["requests"]),
        "net": lambda row: _number(row["net"]),
    }
)
"""By what the list can be sorted, the largest first."""


def sorted_by(rows: Sequence[Document], sort: str) -> list[Document]:
    """The sessions in that order; those that are alike stay as they are."""
    return sorted(rows, key=SORTS[sort], reverse=True)


def share(row: Document) -> float | None:
    """The share of the window that a session's newest request takes; None where that is not known."""
    return row["sent"] / row["window"] if row["window"] and row["sent"] is not None else None


def cells(row: Document, *, wide: bool) -> list[str]:
    """A session, column by column, each in exactly its width."""
    values = (
        row["id"][:SHORT],
        row["model"] or "-",
        figure(row["requests"], wide=True),
        figure(row["received"], wide=wide),
        figure(row["sent"], wide=wide),
        window(share(row), 10 if wide else 4),
        money(row["net"], usd=row["usd"]),
        clock(row["last"], wide=wide),
    )
    return [
        fit(value, column.width(wide=wide), right=column.right) for value, column in zip(values, COLUMNS, strict=True)
    ]


def window(taken: float | None, width: int) -> str:
    """A share of the window: a bar, and how many percent."""
    return f"{bar(taken, width)} {min(taken, 9.99):>4.0%}" if taken is not None else "?"


def table(rows: Sequence[Document], chosen: str, width: int) -> list[str]:
    """The list with its titles; a mark stands before the session that is ``chosen``."""
    wide = width >= WIDE
    titles = [fit(column.title, column.width(wide=wide), right=column.right) for column in COLUMNS]
    lines = [f"  {_joined(titles, wide)}"]
    return lines + [f"{'>' if row['id'] == chosen else ' '} {_joined(cells(row, wide=wide), wide)}" for row in rows]


def _joined(values: Sequence[str], wide: bool) -> str:
    return ("  " if wide else " ").join(values).rstrip()


def _number(value: float | None) -> float:
    return value if value is not None else float("-inf")
