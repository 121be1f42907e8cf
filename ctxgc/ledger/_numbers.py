"""Numbers in a text, as people and programs write them, compared as exact decimals.

Rule: a number counts only where it stands by itself: parts of versions, addresses, names and hashes are none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from ctxgc.ledger import wording

_LONGEST = 100
_SHOWN = 5
_GROUPS = ",_'’\u00a0\u2009\u202f"
_GROUP = rf"(?:[{_GROUPS}][0-9]{{3}}(?![0-9]))"
_NUMBER = re.compile(
    # A name that ends in digits takes groups behind it along: EUR1,234 is not 234.
    rf"(?<!\w)(?=[0-9]*+[^\W\d])\w*+(?<=[0-9]){_GROUP}++|"
    r"(?<![\w.])((?:(?<![0-9)\]])[-+−])?"
    rf"(?!0[xX][0-9a-fA-F])(?>[0-9]{{1,3}}{_GROUP}++(?![{_GROUPS}][0-9])|[0-9]++)"
    r"(?:\.[0-9]++)?+(?:[eE][-+−]?[0-9]++)?+"
    # Behind it a unit may follow, but not more of a version, a hash or a name, nor a power or a fraction.
    r"(?!\.[0-9])(?![A-Za-z]*+[\d_])(?![²³¹⁰-⁹⁻¼-¾⅐-⅞]))"
)
_PLAIN = str.maketrans(dict.fromkeys(_GROUPS) | {"−": "-"})


def exact(value: int | float | str | Decimal) -> Decimal:
    """The decimal that is meant; of a float, the shortest that reads back as it. Raises ``ValueError``."""
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value).strip().translate(_PLAIN))
    except InvalidOperation:
        raise ValueError(f"{wording.shown(str(value))} is no number") from None
    if not found.is_finite():
        raise ValueError(f"{found} is no finite number")
    return found


def find(content: bytes, value: Decimal, near: str) -> tuple[tuple[int, int] | None, str]:
    """The first line that holds ``near`` and, nearest to it, a number equal to ``value``; else None and what was found.

    Where two numbers are equally near, both must be.
    """
    seen: list[str] = []
    lines = 0
    for first, last in _lines(content, wording.to_bytes(near)):
        lines += 1
        found = _nearest(wording.to_text(content[first:last]), near)
        same = [_same(number, value) for number in found]
        if same and (all(same) if near else any(same)):
            return (first, last), ""
        seen += found[: _SHOWN + 1 - len(seen)]
    if not lines:
        return None, "there is no such line" if near else "it is empty"
    more = ", ..." if len(seen) > _SHOWN else ""
    return None, f"it has {', '.join(seen[:_SHOWN])}{more}" if seen else "it has no number"


def _nearest(line: str, near: str) -> list[str]:
    """The numbers of a line that are nearest to the word it was chosen for; all of them where there is no such word."""
    found = [(at.start(1), at.end(1), at[1]) for at in _NUMBER.finditer(line) if at[1] and len(at[1]) <= _LONGEST]
    places = [at.span() for at in re.finditer(re.escape(near), line)] if near else []
    if not places:
        return [number for *_, number in found]
    starts, ends = [start for start, _ in places], [end for _, end in places]
    gaps = [(_gap(first, last, starts, ends), number) for first, last, number in found]
    least = min((gap for gap, _ in gaps if gap is not None), default=None)
    return [number for gap, number in gaps if gap is not None and gap == least]


def _gap(first: int, last: int, starts: list[int], ends: list[int]) -> int | None:
    """Characters between a number and the nearest place of the word; None for a number within it."""
    behind = bisect_left(starts, last)  # the first place that begins behind the number
    before = bisect_right(ends, first) - 1  # the last one that ends before it
    if behind - before > 1:
        return None
    gaps = [starts[behind] - last] if behind < len(starts) else []
    gaps += [first - ends[before]] if before >= 0 else []
    return min(gaps, default=None)


def _same(number: str, value: Decimal) -> bool:
    try:
        return exact(number) == value
    except ValueError:  # an exponent beyond all bounds
        return False


def numbers(line: bytes) -> Iterator[str]:
    """The numbers that stand in a line, as they are written there."""
    for found in _NUMBER.finditer(wording.to_text(line)):
        if found[1] and len(found[1]) <= _LONGEST:
            yield found[1]


def _lines(content: bytes, near: bytes) -> Iterator[tuple[int, int]]:
    """The lines that hold ``near``, each once, without their ends."""
    start = 0
    while start < len(content):
        at = content.find(near, start)
        if at < 0:
            return
        first = content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", at)
        last = len(content) if end < 0 else end
        if at + len(near) <= last:
            yield first, last
        start = last + 1
