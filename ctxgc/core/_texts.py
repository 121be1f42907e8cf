"""A text that can be referred to: kept once, with marks by which its n-th word is found again.

Rule: every offset handed out is one of the text as it was given, whatever was unescaped in between.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice

from ctxgc.core import terms

_BLOCK = 1_000
_REACH = 300
_MOST = 16
_TRIED = 2_000
# Where no term is cut; and where at least no word is, for texts that have nothing better.
_GAP = re.compile(rf"[^\w./\\:@+~,'-]|[{terms.CJK}]")
_NO_WORD = re.compile(r"\W")
_SEPARATORS = (",", "_", " ", ".", "'", "’", "\u00a0", "\u2009", "\u202f")


class Text:
    """The text of a cell (None: background, which everybody knows), and where its blocks of about 1 KB begin."""

    __slots__ = ("_moved", "_offsets", "_words", "cell", "count", "first", "text")

    def __init__(self, cell: int | None, text: str, first: int) -> None:
        """``first`` is the place of the text's first shingle."""
        self.cell = cell
        self.first = first
        self.text, self._moved = terms.decoded(terms.flat(text))
        self.count = 0
        self._words = array("I")
        self._offsets = array("I")

    def read(self, start: int, size: int) -> tuple[int, list[str]]:
        """Mark about ``size`` characters from ``start``: where they end, and their words."""
        found: list[str] = []
        end = start
        while end < len(self.text) and end - start < size:
            self._words.append(self.count)
            self._offsets.append(end)
            begin, end = end, self._boundary(end + _BLOCK)
            block = terms.words(self.text[begin:end])
            self.count += len(block)
            found += block
        return end, found

    def words(self, start: int, stop: int) -> list[tuple[str, int]]:
        """The words with the numbers ``start`` (from 0) up to ``stop``, in small letters, and where they begin."""
        mark = bisect_right(self._words, start) - 1
        spans = terms.word_spans(self.text, self._offsets[mark])
        skipped = self._words[mark]
        return [(found[0].lower(), found.start()) for found in islice(spans, start - skipped, stop - skipped)]

    def original(self, offset: int) -> int:
        """The offset in the text as it was given: each ``\\uXXXX`` before it was five characters longer."""
        return offset + 5 * bisect_left(self._moved, offset)

    def find(self, key: str, surface: str) -> list[int]:
        """Where the term stands, at most 16 times: as it is written elsewhere, or else in any form or case."""
        for form in (surface, *_forms(key)):
            found = _standing(self.text, form)
            if found:
                return found
        low = self.text.lower()
        return _standing(low, key) if len(low) == len(self.text) else []

    def _boundary(self, at: int) -> int:
        if at >= len(self.text):
            return len(self.text)
        found = _GAP.search(self.text, at, at + _REACH) or _NO_WORD.search(self.text, at)
        return found.start() if found else len(self.text)


def occurrences(text: str, part: str) -> Iterator[int]:
    """Where ``part`` begins in ``text``, not counting what overlaps."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _standing(text: str, form: str) -> list[int]:
    """Where ``form`` stands by itself, or else where it at least begins something."""
    tried = islice(occurrences(text, form), _TRIED)
    found = list(islice((at for at in tried if not _word(text, at - 1)), _MOST))
    return [at for at in found if not _word(text, at + len(form))] or found


def _word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _forms(key: str) -> Iterator[str]:
    """The ways to write a number: with separators between thousands, or none."""
    whole, point, rest = key.partition(".")
    if not whole.isdigit() or (rest and not rest.isdigit()):
        return
    yield key
    head = len(whole) % 3 or 3
    groups = [whole[:head], *(whole[at : at + 3] for at in range(head, len(whole), 3))]
    yield from (separator.join(groups) + point + rest for separator in _SEPARATORS if len(groups) > 1)
