"""Are windows bounded, whatever the length of the task? And does any of them hold what was said in an earlier one?

Rule: tokens are those of whole requests, tools included; a transcript is looked for by its words, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxgc.examples.chat import content, spoken
from ctxgc.examples.play import Played
from ctxgc.examples.window import Window
from ctxgc.session.reading import TOOL_NAME

RUN = 8
"""Words in a row that count as text of a transcript."""
FULL = 20
"""Windows with a full opening from which on a slope says something."""
DRIFT = 0.05
"""The share of the budget that windows may grow by over a whole task."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The windows of one played task: the largest as a request, the largest beginning, and what was carried over.

    ``slope`` is the tokens by which beginnings grow with each sub-task, over the windows whose opening is full; None
    where there are too few of them. ``carried`` is windows that begin with text of an earlier transcript.
    """

    tasks: int
    budget: int
    largest: int
    beginning: int
    full: int
    slope: float | None
    carried: int

    @property
    def ok(self) -> bool:
        """Whether all windows are within the budget, flat, and without transcripts."""
        flat = self.slope is None or abs(self.slope) * self.tasks <= DRIFT * self.budget
        return self.largest <= self.budget and flat and not self.carried


def sizes(played: Played) -> Sizes:
    """Measure the windows of a played task."""
    windows = played.windows
    full = [(number, window.head_tokens) for number, window in enumerate(windows) if window.pointed]
    return Sizes(
        tasks=len(windows),
        budget=played.plan.budget,
        largest=max(window.tokens for window in windows),
        beginning=max(window.head_tokens for window in windows),
        full=len(full),
        slope=slope(full) if len(full) >= FULL else None,
        carried=carried(windows),
    )


def flat(found: Sequence[Sizes]) -> bool:
    """Whether the longest task has no larger windows than the one before it, where that has full openings too."""
    ordered = sorted(found, key=lambda one: one.tasks)
    pairs = [(soon, late) for soon, late in pairwise(ordered) if soon.full >= FULL]
    return all(late.largest - soon.largest <= DRIFT * soon.budget for soon, late in pairs)


def slope(points: Sequence[tuple[int, int]]) -> float:
    """The slope of the least-squares line through points with different first coordinates."""
    middle = sum(x for x, _ in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * y for x, y in points) / spread


def carried(windows: Sequence[Window]) -> int:
    """How many windows begin with eight words in a row that were said, written or answered in an earlier one.

    What recall answers is left out, since that is vouchers; and so is what an agent repeats of its own beginning.
    """
    said: set[int] = set()
    found = 0
    for window in windows:
        head = set(_runs(map(content, window.head)))
        found += not said.isdisjoint(head)
        said |= set(_runs(spoken(window.messages[len(window.head) :], frozenset({TOOL_NAME})))) - head
    return found


def _runs(texts: Iterable[str]) -> Iterator[int]:
    """Hashes of the runs of words in texts; a shorter text is one run."""
    for text in texts:
        words = _WORD.findall(text.casefold())
        for at in range(max(len(words) - RUN, 0) + 1 if words else 0):
            yield hash(tuple(words[at : at + RUN]))
