"""Truncate: a tool result over its budget keeps the largest head and tail that fit, at the boundaries of its parts.

Rule: sizes are exact token counts and the budget includes the stub; estimates only say where to look first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._cuts import Cuts, around, levels

SMALLEST = 64
"""The least budget in tokens: a stub and a few words."""
GAP = 100
"""The least number of characters left out at a time: a stub is shorter, and must be."""

_CHARACTERS_PER_TOKEN = 4.0
_WINDOW = 32
"""Characters at either end of a very long text, per token of the budget, that are looked at for lines."""

Measure = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut tool results to a budget: at elements of JSON, else at lines, else between graphemes.

    The head gets the leading units that fit in its share, the tail the trailing ones that fit in the rest, and the
    head what is then left: neither could take one more unit. Smaller units are used where whole ones would fill
    less than half of the budget. Of a text above 300,000 characters only the ends are looked at, and only for lines.

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
        for cuts in levels(text, _WINDOW * budget):
            (head, tail), used = _units(heap.count, text, cuts, room, self.head)
            if 2 * used >= room:
                total = len(cuts.at) - 1
                keep = _spans(cuts.at[head], cuts.at[total - tail], len(text))
                gaps = ((head + 1, cuts.number(total - tail - 1)),)
                total += cuts.skipped
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


def _units(count: Callable[[str], int], text: str, cuts: Cuts, room: int, share: float) -> tuple[tuple[int, int], int]:
    """How many leading and trailing units fit, and the tokens they take."""
    at, size = cuts.at, len(text)
    total = len(at) - 1

    def head(units: int) -> int:
        return count(text[: at[units]])

    def tail(units: int) -> int:
        return count(text[at[total - units] :])

    def most_head(low: int, end: int, fits: int) -> int:
        return _most(low, bisect_right(at, end - GAP) - 1, lambda units: at[units], head, fits)

    first = most_head(0, size, int(room * share))
    free = total - bisect_left(at, at[first] + GAP)
    last = _most(0, free, lambda units: size - at[total - units], tail, room - head(first))
    first = most_head(first, at[total - last], room - tail(last))
    return (first, last), head(first) + tail(last)


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
