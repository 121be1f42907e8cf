"""JSON units: the values of an array's elements or an object's members, and what is odd among them.

Rule: a unit that is no JSON by itself is passed over; nothing is changed, and nothing deep or large is walked whole.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from ctxgc.core import _columns, _tokens
from ctxgc.core._columns import LEAST, Flags

_ALIKE = 0.6
_DEPTH = 3
_PATHS = 64
_SHORT = 80
_SMALL = 3
_FINITE = 1e300
_LARGEST = 100_000
_OPENING = re.compile(r"[\s\[]*(?=[\[{])|\s*")
_REST = re.compile(r"[\s,\]}]{0,80}")
_COLON = re.compile(r"\s*:\s*")
_DECODE = json.JSONDecoder().raw_decode

Value = tuple[int, object]


def decoded(rows: Sequence[int], units: Sequence[str]) -> list[Value] | None:
    """The values of the units that are JSON, by row; None where fewer than most are."""
    tried = rows[:: max(len(rows) // 16, 1)]
    if sum(_value(units[row]) is not None for row in tried) < _ALIKE * len(tried):
        return None
    found = [(row, value[0]) for row in rows if (value := _value(units[row])) is not None]
    return found if len(found) >= _ALIKE * len(rows) else None


def flags(values: Sequence[Value]) -> Flags:
    """The rows that are unlike the others: by a key, a type, a value, a number or a length."""
    total, columns = len(values), _by_path(values)
    missing, extra = [], []
    for rows, column in columns.values():
        if total - len(rows) <= _columns.few(total):
            having = set(rows)
            missing += [(row, 8.0) for row, _ in values if row not in having]
        if len(rows) <= _columns.few(total):
            extra += [(row, 8.0) for row in rows]
        elif len(rows) >= LEAST:
            yield from _column_flags(rows, column)
    yield from _columns.pooled(total, missing)
    yield from _columns.pooled(total, extra)


def _value(unit: str) -> tuple[object] | None:
    """What a unit says: of a member, its value. In a tuple, because null is a value."""
    if len(unit) > _LARGEST:
        return None
    try:
        found = _OPENING.match(unit)
        value, end = _DECODE(unit, found.end() if found else 0)
        colon = _COLON.match(unit, end) if isinstance(value, str) else None
        if colon:
            value, end = _DECODE(unit, colon.end())
    except (ValueError, RecursionError):
        return None
    return (value,) if _REST.fullmatch(unit, end) else None


def _by_path(values: Sequence[Value]) -> dict[str, tuple[list[int], list[object]]]:
    columns: dict[str, tuple[list[int], list[object]]] = defaultdict(lambda: ([], []))
    for row, value in values:
        for number, (path, leaf) in enumerate(_leaves(value)):
            if number == _PATHS:
                break
            columns[path][0].append(row)
            columns[path][1].append(leaf)
    return columns


def _leaves(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The values that a value consists of, with their paths; a container that is deeper, or a list inside, is one."""
    if isinstance(value, dict) and depth < _DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}", depth + 1)
    elif isinstance(value, list) and depth == 0:
        for place, inner in enumerate(value[:_PATHS]):
            yield from _leaves(inner, f"{path}[{place}]", depth + 1)
    else:
        yield path, value


def _column_flags(rows: Sequence[int], column: Sequence[object]) -> Flags:
    yield from _columns.rare(rows, [type(value).__name__ for value in column])
    yield from _columns.rare(rows, [_plain(value) for value in column])
    numbers = [
        (row, float(value))
        for row, value in zip(rows, column, strict=True)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _FINITE
    ]
    yield from _columns.outlying([row for row, _ in numbers], [value for _, value in numbers])
    yield from _columns.rare([row for row, _ in numbers], [value < 0 for _, value in numbers])
    sized = [(row, value) for row, value in zip(rows, column, strict=True) if isinstance(value, str | list | dict)]
    yield from _columns.outlying([row for row, _ in sized], [float(len(value)) for _, value in sized], low=False)
    yield from _columns.rare([row for row, _ in sized], [not value for _, value in sized])
    texts = [(row, value) for row, value in sized if isinstance(value, str)]
    yield from _text_flags([row for row, _ in texts], [value for _, value in texts])


def _text_flags(rows: Sequence[int], texts: Sequence[str]) -> Flags:
    looks = [_looks(text) for text in texts]
    yield from _columns.rare(rows, looks)
    yield from _columns.begun(rows, texts)
    yield from _columns.numeric(rows, texts)
    yield from _tokens.path_flags(rows, texts, looks)
    told = [_tokens.failure(text[: _tokens.LOOKED_AT]) for text in texts]
    yield from ((row, 2 * bits) for row, bits in _columns.rare(rows, told))


def _looks(text: str) -> str:
    return " ".join(_tokens.kind(token) for token in _tokens.tokens(text[:_SHORT]))


def _plain(value: object) -> Hashable:
    """A value that can be counted: long texts and large containers by what they are, others with their type."""
    if isinstance(value, str):
        return value if len(value) <= _SHORT else "<long>"
    if isinstance(value, list | dict):
        shown = repr(value) if len(value) <= _SMALL else "<container>"
        return shown if len(shown) <= _SHORT else "<container>"
    return type(value).__name__, value if value == value else None  # what is not a number is not equal to itself
