"""Truncate: a tool result over its budget keeps the largest head and tail that fit, and the odd units between them.

Rule: sizes are exact token counts and the budget includes the stubs; estimates only say where to look first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from ctxgc.core.cuts import Cuts, around, levels
from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._needles import Needles, Range

SMALLEST = 64
"""The least budget in tokens: a stub and a few words."""
GAP = 100
"""The least number of characters left out at a time: a stub is shorter, and must be."""

_CHARACTERS_PER_TOKEN = 4.0
_WINDOW = 32
"""Characters at either end of a very long text, per token of the budget, that are looked at for lines."""

_WHOLE = 1_000_000
"""Characters of the longest text that is looked through as a whole."""

Measure = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut tool results to a budget: at elements of JSON, else at lines, else between graphemes.

    The head gets the leading units that fit in its share, the tail the trailing ones that fit in the rest, and the
    head what is then left: neither could take one more unit. Units between them that are unlike the others, such as
    the one error among five hundred successes, stay as well; they take at most a tenth of the budget (or 24 tokens),
    and their stubs. Smaller units are used where whole ones would fill less than half of the budget. Of a text above
    1,000,000 characters only the ends are looked at, and only for lines.

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
            if budget != 0 and budget < SMALLEST:
                raise ValueError(f"a budget is 0 or at least {SMALLEST} tokens, not {budget}")
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
        return next((own for pattern, own in self.tools if fnmatchcase(name, pattern.lower())), self.budget)

    def _verdict(self, heap: Heap, arrival: Arrival, budget: int) -> Verdict:
        room, text = max(0, budget - heap.stub_tokens), arrival.text
        reason = f"over {budget} tokens"
        for cuts in levels(text, len(text) if len(text) <= _WHOLE else _WINDOW * budget):
            ends = _Ends(heap.count, text, cuts, room)
            head, tail = ends.most(self.head)
            if 2 * ends.tokens(head, tail) >= room:
                stay = _with_needles(heap, ends, head, tail, budget, self.head)
                keep = tuple((cuts.at[start], cuts.at[end]) for start, end in stay if start < end)
                gaps = tuple(_numbers(cuts, start, end) for start, end in _between(stay, ends.total))
                total = ends.total + cuts.skipped
                return Verdict(arrival.id, self.name, "truncate", reason, keep, unit=cuts.unit, gaps=gaps, total=total)
        keep = _graphemes(heap.count, text, room, self.head)
        return Verdict(arrival.id, self.name, "truncate", reason, keep)


def _exceeds(count: Callable[[str], int], text: str, budget: int) -> bool:
    """Whether the text takes more than ``budget`` tokens, found out by counting as little of it as can be."""
    if len(text.encode("utf-8", "surrogatepass")) <= budget:  # a token is at least a byte
        return False
    probe = int(2 * _CHARACTERS_PER_TOKEN * budget)
    return (len(text) > probe and count(text[:probe]) > budget + SMALLEST) or count(text) > budget


def _spans(end: int, start: int, size: int) -> tuple[tuple[int, int], ...]:
    return tuple(span for span in ((0, end), (start, size)) if span[0] < span[1])


@dataclass(frozen=True, slots=True)
class _Ends:
    """The leading and trailing units of a text, what they take, and the most of them that fit ``room`` tokens."""

    count: Callable[[str], int]
    text: str
    cuts: Cuts
    room: int

    @property
    def total(self) -> int:
        return len(self.cuts.at) - 1

    def head(self, units: int) -> int:
        return self.count(self.text[: self.cuts.at[units]])

    def tail(self, units: int) -> int:
        return self.count(self.text[self.cuts.at[self.total - units] :])

    def tokens(self, head: int, tail: int) -> int:
        return self.head(head) + self.tail(tail)

    def most(self, share: float, less: int = 0) -> tuple[int, int]:
        """How many leading and trailing units fit in the room, less some tokens."""
        room = max(0, self.room - less)
        first = self.more_head(0, self.total, int(room * share))
        last = self.more_tail(0, first, room - self.head(first))
        return self.more_head(first, self.total - last, room - self.tail(last)), last

    def more_head(self, low: int, end: int, room: int) -> int:
        """The most leading units, from ``low``, that fit and leave a gap before unit ``end``."""
        at = self.cuts.at
        return _most(low, bisect_right(at, at[end] - GAP) - 1, lambda units: at[units], self.head, room)

    def more_tail(self, low: int, start: int, room: int) -> int:
        """The most trailing units, from ``low``, that fit and leave a gap behind unit ``start``."""
        at, total = self.cuts.at, self.total
        free = total - bisect_left(at, at[start] + GAP)
        return _most(low, free, lambda units: len(self.text) - at[total - units], self.tail, room)


def _with_needles(heap: Heap, ends: _Ends, head: int, tail: int, budget: int, share: float) -> list[Range]:
    """The ranges of units that stay: head, tail, and what is odd between them, for which both are a little smaller."""
    plain = [(0, head), (ends.total - tail, ends.total)]
    needles = Needles(ends.text, ends.cuts, heap.count, heap.stub_tokens, GAP)
    found = needles.found()
    if not any(head <= unit < ends.total - tail for unit in found):
        return plain
    # Where head and tail shrink, needles that stood in them come to stand between them.
    most = needles.room(budget, ends.room, len(found))
    first, last = ends.most(share, most)
    chosen = needles.chosen(found, first, ends.total - last, budget, most)
    stay = _grown(ends, first, last, chosen, heap.stub_tokens) if chosen else None
    return stay or plain


def _grown(ends: _Ends, head: int, tail: int, chosen: list[Range], stub: int) -> list[Range] | None:
    """Head, needles and tail, with the ends made as large as what is left allows; None where it is too much."""
    at, total = ends.cuts.at, ends.total
    if chosen and chosen[0][0] == head:
        head = chosen.pop(0)[1]
    if chosen and chosen[-1][1] == total - tail:
        tail = total - chosen.pop()[0]
    used = sum(ends.count(ends.text[at[start] : at[end]]) + stub for start, end in chosen)
    room = ends.room - used
    head = ends.more_head(head, chosen[0][0] if chosen else total - tail, room - ends.tail(tail))
    tail = ends.more_tail(tail, chosen[-1][1] if chosen else head, room - ends.head(head))
    fits = head < total - tail and ends.tokens(head, tail) <= room
    return [(0, head), *chosen, (total - tail, total)] if fits else None


def _between(stay: list[Range], total: int) -> list[Range]:
    """The ranges of units that go: what lies between those that stay."""
    return [(end, start) for (_, end), (start, _) in pairwise([(0, 0), *stay, (total, total)]) if end < start]


def _numbers(cuts: Cuts, start: int, end: int) -> Range:
    """The first and last number of the units that a gap leaves out."""
    return (start + 1 if start <= cuts.middle else cuts.number(start)), cuts.number(end - 1)


def _graphemes(count: Callable[[str], int], text: str, room: int, share: float) -> tuple[tuple[int, int], ...]:
    """The spans of the most leading and trailing characters that fit, whole graphemes only."""
    size = len(text)

    def head(length: int) -> int:
        return count(text[: around(text, length)[0]])

    def tail(length: int) -> int:
        return count(text[around(text, size - length)[1] :])

    def most_head(low: int, start: int, fits: int) -> int:
        most = _most(low, start - GAP, int, head, fits)
        return around(text, most)[0] if most > low else low

    end = most_head(0, size, int(room * share))
    start = around(text, size - _most(0, size - GAP - end, int, tail, room - count(text[:end])))[1]
    end = most_head(end, start, room - count(text[start:]))
    return _spans(end, start, size)


def _most(low: int, high: int, length: Measure, tokens: Measure, room: int) -> int:
    """The most units, from ``low`` to ``high``, that take at most ``room`` tokens, where one more would take more.

    ``length`` gives the characters of so many units and ``tokens`` their exact count, which is what it costs to ask:
    the next number to try follows from what the last one came to, and every other time halves what is left.
    """
    beyond, rate, from_length, left = high + 1, _CHARACTERS_PER_TOKEN, length(low), float(room)
    if low:
        left = room - tokens(low)
    halve = False
    while beyond - low > 1:
        if halve:
            units = (low + beyond) // 2
        else:
            aim = from_length + left * rate
            units = low + bisect_right(range(low + 1, beyond), aim, key=length)
        units = min(max(units, low + 1), beyond - 1)
        taken, from_length = tokens(units), length(units)
        rate, left = from_length / max(taken, 1), room - taken
        low, beyond = (units, beyond) if taken <= room else (low, units)
        halve = not halve and beyond <= high
    return low
