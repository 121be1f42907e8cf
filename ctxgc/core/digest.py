"""Excerpts: the lines of a result that are most likely to be asked for, within a share of its tokens.

Rule: what is kept is kept whole and in order; lines that were referred to, and odd ones, come first; the choice follows
from the text and these marks alone.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxgc.core.cuts import Cuts, levels
from ctxgc.core.odd import odd

HEADER, GAP = 26, 3
"""Tokens that a stub takes, and the mark of a gap."""
HEAD = 400
"""Characters of a line that are looked at for what kind of line it is."""
LONG = 24
"""Characters from which on a term is seldom asked for."""
LONGEST = 1_000_000
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
_NUMBER = re.compile(r"(?:0x)?[0-9a-fA-F.:-]+")
_FILE = re.compile(r"[\w-]+\.[A-Za-z]\w{0,4}")
_DEFINITION, _FAILURE, _MARKED, _CALLED, _FIRST = 0.5, 0.5, 2.0, 1.3, 1.25


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a text stays: spans in characters, ascending; ``kept`` of ``total`` ``unit`` (lines, elements)."""

    spans: tuple[tuple[int, int], ...]
    kept: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of the text that is kept or left as a whole: its ``cost`` in tokens, and what it says.

    ``terms`` weighs its telling terms; ``defines`` is what it is worth more if it says something new; ``worth`` what it
    is worth in any case; ``odd`` that it must stay where anything does.
    """

    start: int
    end: int
    cost: float
    terms: Mapping[str, float]
    defines: float
    worth: float
    odd: bool


def excerpt(
    text: str,
    tokens: int,
    share: float,
    marks: Sequence[int] = (),
    density: float = 0.0,
    said: Callable[[str], bool] = lambda _: False,
) -> Excerpt:
    """The best excerpt of a text of ``tokens`` that takes about ``share`` of them at most, its stub and gaps included.

    ``density`` is the least that a line must be worth per token (a telling term is worth about 1), ``marks`` are
    character offsets that were referred to, and ``said`` tells of terms that stand elsewhere in the context. Chosen
    greedily as a weighted cover: of the lines left, the one that shows most telling terms not yet shown, per token, as
    long as there is room (Nemhauser, Wolsey and Fisher 1978: within 1 - 1/e of the best cover).
    """
    if share <= 0:
        return Excerpt((), 0, text.count("\n") + (not text.endswith("\n")), "lines")
    cuts = _cuts(text)
    units = list(_units(text, cuts, tokens, marks, said))
    chosen = _cover(units, share * tokens - HEADER, density)
    spans = _merged(units[number] for number in sorted(chosen))
    return Excerpt(spans, len(chosen), len(units) + cuts.skipped, cuts.unit)


def telling(text: str) -> Iterator[str]:
    """The terms of a text that say which one: names with a digit, an underscore, a slash, a dot or an inner capital."""
    for found in _TERM.finditer(text):
        if _TELLING.search(found[0]):
            yield found[0]


def _weights(text: str, said: Callable[[str], bool], met: set[str]) -> Mapping[str, float]:
    """The telling terms of a line that are not said elsewhere, and how likely each is to be asked for there.

    ``met`` are those of the lines before: where a name stands first, it is likely to be introduced.
    """
    found: dict[str, float] = {}
    for term in telling(text):
        if not said(term):
            call = text[text.find(term) + len(term) :][:1] == "("
            found[term] = _shape(term) * (_CALLED if call else 1.0) * (1.0 if term in met else _FIRST)
    met.update(found)
    return found


def _shape(term: str) -> float:
    """What a term is worth by its shape: file names are asked for often, hashes and numbers seldom."""
    if _NUMBER.fullmatch(term):
        return 0.3
    if _FILE.fullmatch(term):
        return 1.5
    if "/" in term:
        return 0.5
    return 1.0 if len(term) < LONG else 0.6


def _cuts(text: str) -> Cuts:
    """By lines; where one line holds most of the text, that one by the elements of its JSON."""
    lines = list(levels(text, LONGEST // 2))[-1]
    start, end = max(pairwise(lines.at), key=lambda line: line[1] - line[0], default=(0, 0))
    if 2 * (end - start) < len(text) or lines.skipped:
        return lines
    inner = next(iter(levels(text[start:end], LONGEST // 2)))
    if inner.unit != "elements":
        return lines
    before, after = (at for at in lines.at if at < start), (at for at in lines.at if at > end)
    return Cuts("elements", (*before, *(start + at for at in inner.at), *after))


def _units(text: str, cuts: Cuts, tokens: int, marks: Sequence[int], said: Callable[[str], bool]) -> Iterator[_Unit]:
    pieces = [(start, end, text[start:end]) for start, end in pairwise(cuts.at) if start < end]
    rate = tokens / max(_bytes(text), 1)
    marked = sorted(marks)
    odds = set(odd([piece for *_, piece in pieces]))
    at = 0
    met: set[str] = set()
    for number, (start, end, piece) in enumerate(pieces):
        while at < len(marked) and marked[at] < start:
            at += 1
        referred = at < len(marked) and marked[at] < end
        head = piece[:HEAD]
        defines = _DEFINITION * bool(_DEFINES.match(head)) + _FAILURE * bool(_FAILS.search(head))
        yield _Unit(
            start, end, _bytes(piece) * rate, _weights(piece, said, met), defines, _MARKED * referred, number in odds
        )


def _bytes(text: str) -> int:
    """Bytes as UTF-8: what tokens go by, in every script."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _cover(units: Sequence[_Unit], room: float, density: float) -> set[int]:
    """The numbers of the units that are kept: odd ones first, as far as there is room, then the densest."""
    shown: set[str] = set()
    chosen: set[int] = set()
    for number, unit in enumerate(units):
        if unit.odd and unit.cost + GAP <= room:
            chosen.add(number)
            shown.update(unit.terms)
            room -= unit.cost + GAP
    queue = [(-_value(unit, shown) / max(unit.cost - GAP, 1.0), number) for number, unit in enumerate(units)]
    heapq.heapify(queue)
    while queue and room > 0:
        promised, number = heapq.heappop(queue)
        if -promised < density or number in chosen:
            continue
        unit = units[number]
        cost = unit.cost + GAP * (1 - (number - 1 in chosen) - (number + 1 in chosen))
        dense = _value(unit, shown) / max(cost, 1.0)
        if dense <= 0 or dense < density:
            continue
        if queue and dense < -queue[0][0] - 1e-12 and dense < -promised - 1e-12:
            heapq.heappush(queue, (-dense, number))
        elif cost <= room:
            chosen.add(number)
            shown.update(unit.terms)
            room -= cost
    return chosen


def _value(unit: _Unit, shown: set[str]) -> float:
    fresh = sum(weight for term, weight in unit.terms.items() if term not in shown)
    # Being a definition or a failure makes a line that says something new more telling; alone it says nothing.
    return unit.worth + (fresh + unit.defines if fresh else 0.0)


def _merged(units: Iterable[_Unit]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for unit in units:
        if spans and spans[-1][1] == unit.start:
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append((unit.start, unit.end))
    return tuple(spans)
