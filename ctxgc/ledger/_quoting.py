"""Finding a quote in the bytes it is said to come from.

Rule: one pass each, linear in both; where white space differs, nothing else may.
"""

from __future__ import annotations

import re

from ctxgc.ledger import wording

_WORDS = re.compile(rb"[^ \t\r\n\f\v]+")


def find(content: bytes, text: str) -> tuple[int, int] | None:
    """The first bytes that are ``text``, or have its words with other white space between; None where none are."""
    quote = wording.to_bytes(text)
    words = _WORDS.findall(quote)
    if not words:
        return None  # white space alone says nothing
    at = content.find(quote)
    return (at, at + len(quote)) if at >= 0 else _spaced(content, b" ".join(words))


def _spaced(content: bytes, quote: bytes) -> tuple[int, int] | None:
    at = b" ".join(_WORDS.findall(content)).find(quote)
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
