"""Lines of text for a terminal: pieces, each of a style, cut and padded to columns.

Rule: what came from a model or a tool is shown as text and never obeyed; a line is never wider than it is said to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from rich.cells import cell_len, set_cell_size

WIDE = 120
"""Columns from which figures are written out and tables have all their columns."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text in one style: a family of tags, ``title``, ``good``, ``bad``, ``dim``, or none."""

    text: str
    style: str = ""


Line = tuple[Piece, ...]


def line(text: str, style: str = "") -> Line:
    """A line of one piece."""
    return (Piece(text, style),)


def plain(of: Line) -> str:
    """The text of a line, without what is blank at its end."""
    return "".join(piece.text for piece in of).rstrip()


def cut(of: Line, width: int) -> Line:
    """A line in at most so many columns."""
    made, left = list[Piece](), width
    for piece in of:
        text = piece.text if cell_len(piece.text) <= left else _shortened(piece.text, left)
        made += [Piece(text, piece.style)] if text else []
        left -= cell_len(text)
    return tuple(made)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """``text`` in exactly so many columns, with nothing in it that a terminal obeys."""
    clean = printable(text)
    size = cell_len(clean)
    if size > width:
        return _shortened(clean, width)
    return " " * (width - size) + clean if right else clean + " " * (width - size)


def printable(text: str) -> str:
    """``text`` on one line: what is blank as spaces, and every other character that does not print as a mark."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char in "\n\r\t" else "\ufffd" for char in text)


def many(count: int, what: str) -> str:
    """So many of something, in its number."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def short(count: float) -> str:
    """A count in few characters: 950, 12.3k, 1.2M."""
    for above, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= above * 0.9995:
            return f"{count / above:.1f}{unit}"
    return f"{count:.0f}"


def figure(count: int | None, *, wide: bool) -> str:
    """A count, written out where there is room; a question mark where it is not known."""
    return "?" if count is None else f"{count:,}" if wide else short(count)


def money(amount: float | None, *, usd: bool) -> str:
    """What collecting has brought, with its sign: in USD, else in prices of one input token."""
    if amount is None:
        return "?"
    sign = "+" if amount >= 0 else "-"
    return f"{sign}${abs(amount):,.4f}" if usd else f"{sign}{short(abs(amount))}"


def clock(at: float, *, wide: bool) -> str:
    """Unix seconds as UTC; without the year where there is little room."""
    try:
        found = datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return "-"
    return found.strftime("%Y-%m-%d %H:%M:%S" if wide else "%m-%d %H:%M")


def bar(share: float, width: int) -> str:
    """A share, from 0 to 1, as a bar of so many columns."""
    full = min(max(round(share * width), 0), width)
    return "#" * full + "." * (width - full)


def _shortened(text: str, width: int) -> str:
    """The beginning of ``text``, and a mark that there is more."""
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""
