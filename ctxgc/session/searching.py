"""Searching a text: the lines that hold a term, and how they are shown.

Rule: the work follows the length of the text, however many matches there are and however long its lines; of a line too
long to be shown, what is around each match is.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ctxgc.core.cuts import around
from ctxgc.session.positions import behind, byte

WIDTH: Final = 400
"""Characters of the longest line that a search shows whole."""

_AROUND = 2


@dataclass(frozen=True, slots=True)
class Hit:
    """A match: the number of its line, where that lies (without its line end), and where the match begins."""

    line: int
    start: int
    end: int
    at: int


def find(text: str, term: str, start: int = 0, end: int | None = None, width: int = WIDTH) -> Iterator[Hit]:
    """Where a text holds a term, in any case: once a line; in one longer than ``width``, once a window of that."""
    stop, folded, wanted = len(text) if end is None else end, _folded(text), _folded(term)
    line, first, last = 1, 0, -1
    at = folded.find(wanted, start, stop) if wanted else -1
    while at >= 0:
        if at > last:  # in a line of its own
            line += text.count("\n", first, at)
            first = text.rfind("\n", first, at) + 1 or first
            last = behind(text, at) - 1
        yield Hit(line, first, last, at)
        behind_it = last + 1 if last - first <= width else min(at + _ahead(width), last + 1)
        at = folded.find(wanted, behind_it, stop)


def clipped(text: str, hit: Hit, width: int = WIDTH) -> str:
    """The line of a match; of a longer one about ``width`` characters around the match."""
    if hit.end - hit.start <= width:
        return text[hit.start : hit.end].removesuffix("\r")
    start, end = max(hit.start, hit.at - width + _ahead(width)), min(hit.end, hit.at + _ahead(width))
    start, end = min(around(text, start)[1], around(text, hit.at)[0]), around(text, end)[0]
    return f"{'…' * (start > hit.start)}{text[start:end]}{'…' * (end < hit.end)}"


def rows(text: str, hits: Sequence[Hit], within: tuple[int, int], width: int, room: int) -> tuple[list[str], int]:
    """As many matches as there is room for, with the lines around them, in order; and how many these are."""
    kept: dict[tuple[int, int], str] = {}
    taken, matching = 0, {hit.line for hit in hits}
    for shown, hit in enumerate(hits):
        long = hit.end - hit.start > width
        added = {} if long else dict(_context(text, hit, within, width, matching))
        where = f" (byte {byte(text, hit.at) + 1})" if long else ""
        added[hit.line, hit.at if long else 0] = f"{hit.line}{where}: {clipped(text, hit, width)}"
        taken += sum(len(row) + 4 for key, row in added.items() if key not in kept)
        if taken > room:
            return _joined(kept), shown
        kept = {**kept, **added}
    return _joined(kept), len(hits)


def _context(
    text: str, hit: Hit, within: tuple[int, int], width: int, matching: Container[int]
) -> Iterator[tuple[tuple[int, int], str]]:
    """The lines before and after the line of a match, up to the next match and as far as they were asked for."""
    start, end = hit.start, hit.end + 1
    for line in range(hit.line - 1, hit.line - 1 - _AROUND, -1):
        if start <= within[0] or line in matching:
            break
        begun = max(text.rfind("\n", 0, start - 1) + 1, within[0])
        yield (line, 0), f"{line}- {clipped(text, Hit(line, begun, start - 1, begun), width)}"
        start = begun
    for line in range(hit.line + 1, hit.line + 1 + _AROUND):
        if end >= within[1] or line in matching:
            break
        ended = min(behind(text, end), within[1] + 1)
        yield (line, 0), f"{line}- {clipped(text, Hit(line, end, ended - 1, end), width)}"
        end = ended


def _ahead(width: int) -> int:
    """How much of a window lies behind the beginning of its match; the next window's match is the next after that."""
    return max(width - width // 4, 1)


def _joined(kept: dict[tuple[int, int], str]) -> list[str]:
    keys = sorted(kept)
    gaps = {after for before, after in pairwise(keys) if after[0] - before[0] > 1}
    return [row for key in keys for row in ((["--"] if key in gaps else []) + [kept[key]])]


def _folded(text: str) -> str:
    """The text in one case, every character in its place."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(one if len(one) == 1 else letter for letter in text if (one := letter.casefold()))
