"""Positions in a text: where its lines begin, and which character a byte belongs to.

Rule: a line ends at a line feed and nowhere else, as the stubs count them; bytes are those of UTF-8.
"""

from __future__ import annotations


def offset(text: str, at: int, lines: int) -> int:
    """Where so many lines after an offset end; the end of the text where there are not so many."""
    while lines > 0 and at < len(text):
        at, lines = min(behind(text, at), len(text)), lines - 1
    return at


def behind(text: str, at: int) -> int:
    """Behind the line end of the line that ``at`` is in; one behind the end of the text if it has none."""
    found = text.find("\n", at)
    return (len(text) if found < 0 else found) + 1


def begins(text: str, at: int) -> bool:
    """Whether a line begins at that character."""
    return at == 0 or text[at - 1] == "\n"


def count(text: str) -> int:
    """The lines of a text; the last one may have no line end."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def byte(text: str, at: int) -> int:
    """How many bytes stand before a character."""
    # Lone surrogates are kept, as three bytes each: what the text was decoded from had them escaped.
    return at if text.isascii() else len(text[:at].encode("utf-8", "surrogatepass"))


def character(text: str, byte: int, *, up: bool) -> int:
    """The character at a byte offset; inside one, that one, or the next if ``up``."""
    if text.isascii():
        return min(byte, len(text))
    data = text.encode("utf-8", "surrogatepass")
    at = min(byte, len(data))
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1 if up else -1
    return len(data[:at].decode("utf-8", "surrogatepass"))
