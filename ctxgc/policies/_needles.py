"""Needles: the odd units in the middle of a text that stay when the middle goes, and what they may cost.

Rule: what they take is counted, with a stub more for each place where they stand; they never stand so close to what
stays beside them that a stub between would be longer than what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxgc.core.cuts import Cuts
from ctxgc.core.odd import oddest

_MOST = 16
_SHARE = 10
"""Needles take a tenth of the budget at most, stubs not counted;"""
_LEAST = 24
"""or so many tokens, of a small budget: a line."""

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Needles:
    """Looks for the needles of one text; ``gap`` is the least number of characters that may be left out at a time."""

    text: str
    cuts: Cuts
    count: Callable[[str], int]
    stub_tokens: int
    gap: int

    def found(self) -> tuple[int, ...]:
        """The odd units, the oddest first. What was not looked at as units of its own is never one."""
        at, passed = self.cuts.at, self.cuts.middle if self.cuts.skipped else -1
        units = ["" if one == passed else self.text[at[one] : at[one + 1]] for one in range(len(at) - 1)]
        return oddest(units, _MOST)

    def room(self, budget: int, room: int, number: int) -> int:
        """The tokens that so many needles may take, stubs included, of ``room`` for all that stays."""
        return min(room // 2, max(budget // _SHARE, _LEAST) + number * self.stub_tokens)

    def chosen(self, found: Sequence[int], head: int, tail: int, budget: int, room: int) -> list[Range]:
        """The ranges of units, ascending, that stay between units ``head`` and ``tail`` for the needles that fit.

        One that begins at ``head`` or ends at ``tail`` stands so close to it that what lies between stays too.
        """
        ranges: list[Range] = []
        for unit in found:
            if head <= unit < tail:
                more = self._joined([*ranges, (unit, unit + 1)], head, tail)
                content = sum(self._tokens(one) for one in more)
                islands = sum(start > head and end < tail for start, end in more)
                if content <= max(budget // _SHARE, _LEAST) and content + islands * self.stub_tokens <= room:
                    ranges = more
        return ranges

    def _joined(self, ranges: list[Range], head: int, tail: int) -> list[Range]:
        out: list[Range] = []
        for start, end in sorted(ranges):
            before = out[-1][1] if out else head
            if self._close(before, start):
                start = out.pop()[0] if out else head
            out.append((start, tail if self._close(end, tail) else end))
        return out

    def _close(self, end: int, start: int) -> bool:
        return self.cuts.at[start] - self.cuts.at[end] < self.gap

    def _tokens(self, one: Range) -> int:
        return self.count(self.text[self.cuts.at[one[0]] : self.cuts.at[one[1]]])
