"""Where a text may be cut: at the parts of its JSON, at its lines, or between graphemes.

Rule: offsets are characters of the text; none lies inside a grapheme, a surrogate pair or an escape sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import regex

from ctxgc.core import spans

LONGEST = 512
"""Code points of the longest grapheme that is recognised; a longer one (no script has any) may be cut."""

HUGE = 300_000
"""Characters above which a text is not looked through as a whole."""

_NEWLINE = re.compile("\n")
_DOMINANT = 0.75
_DEPTH = 8
_BEHIND = 32
_COMMA = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_ANCHOR = regex.compile(r"(?r)[ -\[\]-~\p{Han}\p{Hiragana}\p{Katakana}]")
_GRAPHEME = regex.compile(
    r"[\ud800-\udbff][\udc00-\udfff]"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F](?=[0-9a-fA-F])\X"
    r"|\\u[0-9a-fA-F]{3}(?=[0-9a-fA-F])\X"
    r"|\\\X|\X"
)


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where a text may be cut: character offsets ``at``, ascending, from 0 to its length. Units lie between them."""

    unit: str
    at: Sequence[int]
    middle: int = 0
    skipped: int = 0

    def number(self, unit: int) -> int:
        """The number of a unit counted from 1, with the ``skipped`` ones that are part of the ``middle`` one."""
        return unit + 1 if unit < self.middle or not self.skipped else unit + 1 + self.skipped


def levels(text: str, window: int) -> Iterable[Cuts]:
    """The ways to cut a text into whole units, the most meaningful first: JSON elements, then lines.

    Of a text that is longer than two windows (in characters) only the lines in its first and last one are looked at,
    and no elements: what lies between is one unit, of ``skipped`` more lines. It goes whatever else does.
    """
    if len(text) > max(2 * window, HUGE):
        yield _ends(text, window)
        return
    starts = _elements(text) if text[:64].lstrip()[:1] in ("{", "[") else ()
    if len(starts) > 1:
        yield Cuts("elements", (0, *starts[1:], len(text)))
    yield Cuts("lines", (0, *_lines(text, 0, len(text))))


def _ends(text: str, window: int) -> Cuts:
    head, tail = _lines(text, 0, window)[:-1], _lines(text, len(text) - window, len(text))
    skipped = max(text.count("\n", head[-1] if head else 0, tail[0]) - 1, 0)
    return Cuts("lines", (0, *head, *tail), len(head), skipped)


def _lines(text: str, start: int, end: int) -> list[int]:
    """The offsets behind the line ends between two offsets, and the second of these."""
    ends = [found.end() for found in _NEWLINE.finditer(text, start, end)]
    return ends if ends and ends[-1] == end else [*ends, end]


def around(text: str, at: int) -> tuple[int, int]:
    """The grapheme that ``at`` lies inside, as offsets; twice ``at`` where it lies between two."""
    if at <= 0 or at >= len(text):
        return at, at
    start = _anchor(text, at)
    for found in _GRAPHEME.finditer(text[start : at + LONGEST]):
        if start + found.end() >= at:
            break
    end = start + found.end()
    return (at, at) if end == at else (start + found.start(), end)


def _anchor(text: str, at: int) -> int:
    """A boundary a little before ``at`` to look from: the text before it cannot matter to what follows."""
    before, floor = max(0, at - _BEHIND), max(0, at - LONGEST)
    found = _ANCHOR.search(text, floor, before)
    if found is not None or floor == 0:
        return int(found.start()) if found is not None else 0
    # Flags come in pairs, so in a long run of them it does matter how many went before.
    run = floor - len(text[:floor].rstrip(_FLAGS))
    return floor - run % 2


def _elements(text: str) -> tuple[int, ...]:
    """The offsets of the elements of a JSON text; of the container that makes up most of it, where one does."""
    data = text.encode("utf-8", "surrogatepass")
    inner, base = data, 0
    starts: list[int] = []
    for _ in range(_DEPTH):
        parts = _parts(inner)
        if not parts:
            break
        # A member begins with its key, so the comma before it says where.
        starts = [base, *(base + _after_comma(inner, part.end) for part in parts[:-1])]
        largest = max(parts, key=lambda part: part.end - part.start)
        if largest.end - largest.start < _DOMINANT * len(inner):
            break
        inner, base = largest.of(inner), base + largest.start
    if len(data) == len(text):
        return tuple(starts)
    pieces = (len(data[start:end].decode("utf-8", "surrogatepass")) for start, end in pairwise([0, *starts]))
    return tuple(accumulate(pieces))


def _after_comma(data: bytes, at: int) -> int:
    found = _COMMA.match(data, at)
    return found.end() if found else at


def _parts(data: bytes) -> tuple[spans.Span, ...]:
    try:
        return spans.elements(data) if data.lstrip(b" \t\r\n")[:1] == b"[" else spans.members(data)
    except spans.Malformed:
        return ()
