"""Truncate: a tool result over its budget keeps the largest head and tail that fit, at the boundaries of its parts.

Rule: sizes are exact token counts and the budget includes the stub; estimates only say where to look first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate

import regex

from ctxgc.core import spans
from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.policy import Verdict

_SMALLEST = 64
_STUB_WIDTH = 100
_CHARACTERS_PER_TOKEN = 4
_WINDOW = 512
_DOMINANT = 0.75
_DEPTH = 8
_ANCHOR = regex.compile(r"(?r)[ -\[\]-~\p{Han}\p{Hiragana}\p{Katakana}]")
_UNBROKEN = regex.compile(r"[\ud800-\udbff][\udc00-\udfff]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|\X")
_LINE = regex.compile(r"[^\n]*\n|[^\n]+")

Size = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where a text may be cut: character offsets ``at``, ascending, from 0 to its length. Units lie between them."""

    unit: str
    at: Sequence[int]

    def kept(self, head: int, tail: int) -> tuple[tuple[int, int], ...]:
        """The spans of the first ``head`` and the last ``tail`` units."""
        end, start = self.at[head], self.at[len(self.at) - 1 - tail]
        return ((0, end), (start, self.at[-1]))


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut tool results to a budget: elements of a JSON array or members of an object, else lines, else characters.

    The head gets the leading units that fit in its share, the tail the trailing ones that fit in the rest, and the
    head what is then left: neither could take one more unit. Smaller units are used where whole ones would fill
    less than half of the budget. Characters are never cut inside a grapheme (of up to 512 code points).

    ``budget``: tokens per result, stub included; at least 64, or 0 for no limit.
    ``tools``: budgets of their own, as pairs of a shell pattern for the tool's name and tokens; the first that
    matches counts, upper and lower case alike.
    ``head``: the head's share of the budget, 0 to 1.
    """

    budget: int = 10_000
    tools: tuple[tuple[str, int], ...] = ()
    head: float = 0.5

    def __post_init__(self) -> None:
        for budget in (self.budget, *(budget for _, budget in self.tools)):
            if budget != 0 and budget < _SMALLEST:
                raise ValueError(f"a budget is 0 or at least {_SMALLEST} tokens, not {budget}")
        if not 0 <= self.head <= 1:
            raise ValueError(f"head is a share between 0 and 1, not {self.head}")

    @property
    def name(self) -> str:
        """``truncate``."""
        return "truncate"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """A verdict for each arrival that takes more tokens than its budget."""
        for arrival in heap.eden:
            budget = self._budget(arrival.block.name)
            if budget and _exceeds(heap.count, arrival.text, budget):
                yield self._verdict(heap, arrival, budget)

    def _budget(self, tool: str) -> int:
        name = tool.lower()
        own = (budget for pattern, budget in self.tools if fnmatchcase(name, pattern.lower()))
        return next(own, self.budget)

    def _verdict(self, heap: Heap, arrival: Arrival, budget: int) -> Verdict:
        room = max(0, budget - heap.stub_tokens)
        reason = f"over {budget} tokens"
        for cuts in _levels(arrival.text):
            head, tail, used = _fill(heap.count, arrival.text, cuts, room, self.head)
            if 2 * used >= room:
                keep, total = cuts.kept(head, tail), len(cuts.at) - 1
                gaps = ((head + 1, total - tail),)
                return Verdict(arrival.id, self.name, "truncate", reason, keep, unit=cuts.unit, gaps=gaps, total=total)
        keep = _inside(heap.count, arrival.text, room, self.head)
        return Verdict(arrival.id, self.name, "truncate", reason, keep)


def _exceeds(count: Callable[[str], int], text: str, budget: int) -> bool:
    """Whether the text takes more than ``budget`` tokens, counting as little of it as can be."""
    if len(text.encode("utf-8", "surrogatepass")) <= budget:  # a token is at least a byte
        return False
    probe = 2 * _CHARACTERS_PER_TOKEN * budget
    return (len(text) > probe and count(text[:probe]) > budget + _SMALLEST) or count(text) > budget


def _levels(text: str) -> Iterable[Cuts]:
    """The ways to cut a text, the most meaningful first."""
    parts = _json_cuts(text)
    if len(parts) > 2:
        yield Cuts("elements", parts)
    yield Cuts("lines", tuple(accumulate((len(line) for line in _LINE.findall(text)), initial=0)))


def _json_cuts(text: str) -> tuple[int, ...]:
    """The offsets at which the elements of a JSON text begin; those of the part that makes up most of it."""
    data = text.encode("utf-8", "surrogatepass")
    inner, base = data, 0
    starts: tuple[int, ...] = ()
    for _ in range(_DEPTH):
        parts = _parts(inner)
        if parts:
            starts = tuple(base + part.start for part in parts)
        largest = max(parts, key=lambda part: part.end - part.start, default=None)
        if largest is None or largest.end - largest.start < _DOMINANT * len(inner):
            break
        inner, base = largest.of(inner), base + largest.start
    return _characters(data, starts[1:], len(text)) if starts else ()


def _parts(data: bytes) -> tuple[spans.Span, ...]:
    try:
        return spans.elements(data) if data.lstrip(b" \t\r\n")[:1] == b"[" else spans.members(data)
    except spans.Malformed:
        return ()
