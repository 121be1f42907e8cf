"""A value in a JSON text: by which path, where it stands, and whether it is the expected one.

Rule: numbers are exact decimals and never floats; a text in which a key stands twice on the way says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ctxgc.core import spans
from ctxgc.core.spans import Malformed
from ctxgc.ledger import wording

_STEP = re.compile(r"""\[(-?[0-9]++)\]|\[("(?:[^"\\]|\\.)*+")\]|(?:^|\.)([^.\[\]]++)""")
Found = tuple[tuple[int, int] | None, str]


def steps(path: str) -> tuple[str | int, ...]:
    """Keys (as text) and indices (as numbers, or digits) of a path. Raises ``ValueError``."""
    path = path.removeprefix("$")
    found: list[str | int] = []
    at = 1 if path.startswith(".") else 0
    rest = path[at:]
    at = 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            raise ValueError(f"the path {wording.shown(path)} cannot be read at character {at}")
        index, quoted, name = step.groups()
        found.append(int(index) if index else json.loads(quoted) if quoted else name)
        at = step.end()
    return tuple(found)


def asked(path: str, value: object) -> str:
    """Path and value as canonical JSON. Raises ``ValueError`` for a value that cannot be written so."""
    try:
        return wording.asked(path=path, value=value)
    except (TypeError, RecursionError) as error:  # keys of several kinds; nested too deeply
        raise ValueError(f"the value is none that JSON has ({wording.shown(str(error))})") from None


def find(content: bytes, path: Sequence[str | int], value: object) -> Found:
    """The bytes of the value that ``path`` leads to if it equals ``value``; else None and what was found instead."""
    try:
        span = _located(content, path)
        if span is None:
            return None, "there is no such value"
        found = _read(content[span[0] : span[1]])
        return (span, "") if equal(found, value) else (None, f"it is {wording.shown(wording.value(found))}")
    except (Malformed, ValueError, ArithmeticError, RecursionError) as error:
        return None, f"it cannot be read as JSON ({wording.shown(str(error))})"


def equal(found: object, value: object) -> bool:
    """Whether two JSON values are the same: numbers by what they are worth, ``true`` and 1 apart, objects unordered."""
    if isinstance(found, bool) or isinstance(value, bool) or found is None or value is None:
        return found is value
    if isinstance(found, Decimal) or isinstance(value, int | float | Decimal):
        return _number(found) == _number(value) is not None
    if isinstance(found, list) and isinstance(value, list | tuple):
        return len(found) == len(value) and all(map(equal, found, value))
    if isinstance(found, dict) and isinstance(value, Mapping):
        return found.keys() == value.keys() and all(equal(each, value[key]) for key, each in found.items())
    return isinstance(found, str) and found == value


def _number(value: object) -> Decimal | None:
    if isinstance(value, Decimal):
        found = value
    elif isinstance(value, int | float):
        found = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    else:
        return None
    return found if found.is_finite() else None


def _located(content: bytes, path: Sequence[str | int]) -> tuple[int, int] | None:
    first, last = 0, len(content)
    for step in path:
        inner = content[first:last]
        at = _as_step(inner, step)
        found = None if at is None else spans.find(inner, (at,))
        if found is None:
            return None
        first, last = first + found.start, first + found.end
    return first, last


def _as_step(inner: bytes, step: str | int) -> str | int | None:
    """Digits are an index in an array and a key in an object; None where the value has no parts of that kind."""
    opening = inner.lstrip(b" \t\r\n")[:1]
    if opening == b"{":
        return step if isinstance(step, str) else None
    if opening != b"[" or isinstance(step, int):
        return step if opening == b"[" else None
    return int(step) if step.isascii() and step.isdigit() and len(step) < 10 else None


def _read(text: bytes) -> Any:
    return json.loads(
        text, parse_float=Decimal, parse_int=Decimal, parse_constant=_no_constant, object_pairs_hook=_once
    )


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
