"""Finding a quote in the bytes it is said to come from.

Rule: one pass each, linear in both; where white space differs, nothing else may. A quote begins and ends where words
and numbers do: ``0 failed`` does not stand in ``10 failed``.
"""

from __future__ import annotations

import re

from ctxgc.ledger import wording

_EDGE = b"\0"
# Across the edge of a quote: a word, or the digits of a number with a point or comma in it. Letters beyond ASCII may be
# of a script that has no spaces between words.
_GOES_ON = re.compile(rb"[0-9A-Za-z_]\0[0-9A-Za-z_]|[0-9][.,]\0[0-9]|[0-9]\0[.,][0-9]")
_WORDS = re.compile(rb"[^ \t\r\n\f\v]+")


def find(content: bytes, text: str) -> tuple[int, int] | None:
    """The first bytes that are ``text``, or have its words with other white space between; None where none are."""
    quote = wording.to_bytes(text)
    words = _WORDS.findall(quote)
    if not words:
        return None  # white space alone says nothing
    at = _whole(content, quote)
    return (at, at + len(quote)) if at >= 0 else _spaced(content, b" ".join(words))


def _whole(content: bytes, quote: bytes) -> int:
    """Where the quote stands first without being a part of longer words or numbers; -1 for nowhere."""
    at = content.find(quote)
    while at >= 0:
        around = content[max(at - 2, 0) : at], content[at + len(quote) : at + len(quote) + 2]
        if not (_GOES_ON.search(around[0] + _EDGE + quote[:1]) or _GOES_ON.search(quote[-1:] + _EDGE + around[1])):
            return at
        at = content.find(quote, at + 1)
    return -1


def _spaced(content: bytes, quote: bytes) -> tuple[int, int] | None:
    at = _whole(b" ".join(_WORDS.findall(content)), quote)
    if at < 0:
        return None
    first = _original(content, at)
    return first, _original(content, at + len(quote) - 1) + 1


def _original(content: bytes, at: int) -> int:
    """Where a byte of a word of the single-spaced content stands in the content as it is."""
    before = 0
    for word in _WORDS.finditer(content):
        size = word.end() - word.start()
        if at < before + size:
            return word.start() + at - before
        before += size + 1
    return len(content)
