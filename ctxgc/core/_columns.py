"""Columns: the values that many units have in one place; which of them are rare where few are common.

Rule: a column says something only where a few values make up nearly all of it; all else is variety, not oddity.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf, log2

LEAST = 8
"""The fewest values that a column needs to say something."""

_FEW = 12
"""Common values of a column at most; one with more is variety."""
_BEGINNING = 4
_STEP = 4
"""How many times as common as the rare values all others are: where counts rise evenly, rarity is chance."""
_MAGNITUDE = 10.0
_UNITS = {
    "": 1.0, "%": 1.0, "b": 1.0, "k": 1e3, "kb": 1e3, "kib": 1e3, "m": 1e6, "mb": 1e6, "mib": 1e6, "mi": 1e6, "ki": 1e3,
    "g": 1e9, "gb": 1e9, "gib": 1e9, "gi": 1e9, "t": 1e12, "tb": 1e12, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ms": 1e-3,
    "s": 1.0, "sec": 1.0,
}  # fmt: skip
_NUMBER = re.compile(r"[^\w\s.+-]{0,2}([+-]?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,15})?) ?([a-zA-Zµ%]{0,3})[^\w\s]{0,2}")

Flags = Iterator[tuple[int, float]]
"""Units that are odd, by row, and how odd each is: bits."""


def few(total: int) -> int:
    """How many units of so many may share a value that is still rare: 2, or 2 %."""
    return max(2, total // 50)


def limit(total: int) -> int:
    """How many units of so many may be odd for one reason; more are a group of their own: 2, or 4 %."""
    return max(2, total // 25)


def rare(rows: Sequence[int], values: Sequence[Hashable], most_common: int = _FEW) -> Flags:
    """The rows whose value is rare, where at most ``most_common`` other values make up all but a few of the column.

    ``values`` are those of ``rows``, in the same order. Nothing for fewer than ``LEAST`` of them.
    """
    total = len(values)
    if total < LEAST:
        return
    counts = Counter(values)
    if len(counts) == 1 or len(counts) > most_common + limit(total):
        return
    most = _threshold(sorted(counts.values()), few(total))
    seldom = {value for value, number in counts.items() if number <= most}
    if len(counts) - len(seldom) > most_common or not 0 < sum(counts[value] for value in seldom) <= limit(total):
        return
    yield from ((row, log2(total / counts[value])) for row, value in zip(rows, values, strict=True) if value in seldom)


def _threshold(counts: Sequence[int], most: int) -> int:
    """The largest count, up to ``most``, that the next one is ``_STEP`` times as large as; 0: none is rare."""
    steps = (one for one, following in pairwise(counts) if one <= most and following >= _STEP * one)
    return max(steps, default=0)


def begun(rows: Sequence[int], texts: Sequence[str]) -> Flags:
    """``rare`` for how texts begin. A run of several at an end is the edge of a sequence, such as a new year."""
    found = list(rare(rows, [text[:_BEGINNING] for text in texts]))
    odd, size = [row for row, _ in found], len(found)
    if size == 1 or (odd != list(rows[:size]) and odd != list(rows[-size:])):
        yield from found


def outlying(rows: Sequence[int], numbers: Sequence[float], ratio: float = _MAGNITUDE, *, low: bool = True) -> Flags:
    """The rows whose number is ``ratio`` times as large as all others, or as small: a gap, not a tail."""
    total = len(numbers)
    if total < LEAST:
        return
    sizes = [abs(number) for number in numbers]
    floor = min(1.0, min((size for size in sizes if size), default=1.0))
    sizes = [max(size, floor) for size in sizes]
    most = few(total)
    above = _gap(heapq.nlargest(most + 1, sizes), ratio)
    below = -_gap([-size for size in heapq.nsmallest(most + 1, sizes)], ratio) if low else -inf
    found = [row for row, size in zip(rows, sizes, strict=True) if size >= above or size <= below]
    yield from ((row, log2(total / len(found))) for row in found)


def _gap(ends: Sequence[float], ratio: float) -> float:
    """The last of the values, from the outside in, that the next one differs from by so much; infinite: none."""
    for outer, inner in pairwise(ends):
        if max(abs(outer), abs(inner)) >= ratio * min(abs(outer), abs(inner)):
            return outer
    return inf


def number(token: str) -> float | None:
    """The number that a token is, with its unit (``12ms``, ``1.2G``, ``$3,400``), or None."""
    found = _NUMBER.fullmatch(token) if len(token) < 40 else None
    scale = _UNITS.get(found[2].lower()) if found else None
    return float(found[1].replace(",", "")) * scale if found and scale else None


def numeric(rows: Sequence[int], tokens: Sequence[str]) -> Flags:
    """``outlying`` for tokens, where nearly all are numbers."""
    known = {token: number(token) for token in set(tokens)}
    kept = [(row, value) for row, token in zip(rows, tokens, strict=True) if (value := known[token]) is not None]
    if len(kept) >= LEAST and len(kept) >= len(tokens) - limit(len(tokens)):
        yield from outlying([row for row, _ in kept], [value for _, value in kept])


def pooled(total: int, flags: Iterable[tuple[int, float]]) -> Flags:
    """The flags, where they are for few enough units of ``total``; else none."""
    found = list(flags)
    if len({row for row, _ in found}) <= limit(total):
        yield from found
