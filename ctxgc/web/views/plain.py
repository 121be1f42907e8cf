"""Texts of others on their way into a document: what JSON can carry, and no more than a page can show.

Rule: nothing here reads what a text says. Lone surrogates, which UTF-8 has no form for, become U+FFFD.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LIMIT = 200_000
"""Characters of one text in a document."""

Document = dict[str, object]
"""A document of the page, or a part of one: plain values that any JSON encoder takes."""


def plain(text: str) -> str:
    """The text as UTF-8 can carry it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def cut(text: str) -> tuple[str, bool]:
    """The beginning of a text, and whether that is not all of it."""
    return plain(text[:LIMIT]), len(text) > LIMIT


def lines(compared: Iterable[Sequence[str]]) -> list[list[str]]:
    """The lines of a comparison (sign and text) as far as they fit in the limit; the last says what is left out."""
    found: list[list[str]] = []
    room, left = LIMIT, 0
    for sign, text in compared:
        if room < 0:
            left += 1
            continue
        found.append([sign, plain(text[: room + 1])])
        room -= len(text) + 1
    return [*found, [" ", f"({left:,} more lines are not shown)"]] if left else found
