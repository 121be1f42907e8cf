"""Excerpts: the lines of a result that are most likely to be asked for, within a share of its tokens.

Rule: what is kept is kept whole and in order; lines that were referred to, and odd ones, come first; the choice follows
from the text and these marks alone.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxgc.core.cuts import Cuts, levels
from ctxgc.core.odd import odd

HEADER, GAP = 26, 3
"""Tokens that a stub takes, and the mark of a gap."""
HEAD = 400
"""Characters of a line that are looked at for what kind of line it is."""
LONGEST = 200_000
"""Characters above which only the ends of a text are looked at, and the rest goes as one unit."""

_TERM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@-]{6,}[A-Za-z0-9_]")
_TELLING = re.compile(r"[0-9_/.]|.[A-Z]")
_DEFINES = re.compile(
    r"[ \t]*+(?:\d++ *+[:|\u2192\t][ \t]*+)?(?:(?:export|public|private|protected|static|async|pub|final|abstract) )*"
    r"(?:def|class|func|fn|function|type|interface|struct|enum|impl|trait|const|module|describe|it|test)\b"
)
_FAILS = re.compile(
    r"\b(?:error|fail(?:ed|ure|ures)?|exception|traceback|panic|fatal|denied|not found)\b", re.IGNORECASE
)
_DEFINITION, _FAILURE, _MARKED, _ODD = 0.5, 1.0, 4.0, 8.0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a text stays: spans in characters, ascending; ``kept`` of ``total`` ``unit`` (lines, elements)."""

    spans: tuple[tuple[int, int], ...]
    kept: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of the text that is kept or left as a whole: its ``cost`` in tokens, and what it has besides terms."""

    start: int
    end: int
    cost: float
    terms: frozenset[str]
    worth: float


def excerpt(text: str, tokens: int, share: float, marks: Sequence[int] = ()) -> Excerpt:
    """The best excerpt of a text of ``tokens`` that takes at most ``share`` of them, its stub and gaps included.

    ``marks`` are character offsets that were referred to. Chosen greedily as a weighted cover: of the lines left, the
    one that shows most telling terms (names, paths, numbers) not yet shown, per token, as long as there is room
    (Nemhauser, Wolsey and Fisher 1978: within 1 - 1/e of the best cover).
    """
    cuts = _cuts(text)
    units = list(_units(text, cuts, tokens, marks))
    chosen = _cover(units, share * tokens - HEADER) if share > 0 else set()
    spans = _merged(units[number] for number in sorted(chosen))
    return Excerpt(spans, len(chosen), len(units) + cuts.skipped, cuts.unit)


def telling(text: str) -> Iterator[str]:
    """The terms of a text that say which one: names with a digit, an underscore, a slash, a dot or an inner capital."""
    for found in _TERM.finditer(text):
        if _TELLING.search(found[0]):
            yield found[0]


def _cuts(text: str) -> Cuts:
    """By lines; a text of one line by the elements of its JSON, where it has any."""
    ways = list(levels(text, LONGEST // 2))
    return ways[-1] if len(ways[-1].at) > 2 else ways[0]


def _units(text: str, cuts: Cuts, tokens: int, marks: Sequence[int]) -> Iterator[_Unit]:
    pieces = [(start, end, text[start:end]) for start, end in pairwise(cuts.at) if start < end]
    rate = tokens / max(len(text), 1)
    marked = sorted(marks)
    odds = set(odd([piece for *_, piece in pieces]))
    at = 0
    for number, (start, end, piece) in enumerate(pieces):
        while at < len(marked) and marked[at] < start:
            at += 1
        worth = _DEFINITION * bool(_DEFINES.match(piece[:HEAD])) + _FAILURE * bool(_FAILS.search(piece[:HEAD]))
        worth += _MARKED * (at < len(marked) and marked[at] < end) + _ODD * (number in odds)
        yield _Unit(start, end, (end - start) * rate, frozenset(telling(piece)), worth)


def _cover(units: Sequence[_Unit], room: float) -> set[int]:
    """The numbers of the units that are kept."""
    shown: set[str] = set()
    chosen: set[int] = set()
    queue = [(-_value(unit, shown) / (unit.cost + GAP), number) for number, unit in enumerate(units)]
    heapq.heapify(queue)
    while queue and room > GAP:
        promised, number = heapq.heappop(queue)
        unit = units[number]
        cost = unit.cost + GAP * (number - 1 not in chosen and number + 1 not in chosen)
        value = _value(unit, shown) / max(cost, 1.0)
        if value <= 0:
            continue
        if queue and value < -queue[0][0] - 1e-12 and value < -promised - 1e-12:
            heapq.heappush(queue, (-value, number))
        elif cost <= room:
            chosen.add(number)
            shown |= unit.terms
            room -= cost
    return chosen


def _value(unit: _Unit, shown: set[str]) -> float:
    fresh = len(unit.terms - shown)
    # Being a definition or a failure makes a line that says something new more telling; alone it says nothing.
    return fresh + unit.worth if fresh or unit.worth > _FAILURE + _DEFINITION else 0.0


def _merged(units: Iterable[_Unit]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for unit in units:
        if spans and spans[-1][1] == unit.start:
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append((unit.start, unit.end))
    return tuple(spans)
