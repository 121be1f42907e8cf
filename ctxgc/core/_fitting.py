"""As many lines as a budget of tokens takes.

Rule: what is returned was counted as a whole and is within the budget; the number of counts is logarithmic in the
number of lines, and none is of much more text than fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Count = Callable[[str], int]
"""Tokens of a text."""

_SPARED = 8
"""Lines that may fit into the room of a last line that is only there while lines are missing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A text of so many lines, and its tokens."""

    lines: int
    text: str
    tokens: int


def most(total: int, text: Callable[[int], str], budget: int, count: Count) -> Fit | None:
    """The fit with the most lines, from 0 to ``total``; ``text`` says what they make. None where none fits.

    It is the largest one as long as every line takes more tokens than it spares in what stands around the lines, but
    for the last few of them.
    """
    low, high, growing = _tried(0, text, budget, count), total + 1, True
    while low is not None and high - low.lines > 1:
        # Doubling until one does not fit, so that a long list is not counted whole to learn that.
        number = min(2 * low.lines or 1, total) if growing else (low.lines + high) // 2
        fit = _tried(number, text, budget, count)
        growing = growing and fit is not None
        low, high = (low, number) if fit is None else (fit, high)
    left = total - (low.lines if low else 0)
    return (_tried(total, text, budget, count) if 0 < left <= _SPARED else None) or low


def _tried(number: int, text: Callable[[int], str], budget: int, count: Count) -> Fit | None:
    made = text(number)
    tokens = count(made)
    return Fit(number, made, tokens) if tokens <= budget else None
