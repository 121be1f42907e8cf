"""Where the parts of a JSON text lie, as byte offsets, so that they can be cut out and spliced without re-encoding.

Rule: nothing here ever re-serialises. What was not replaced keeps its bytes: big integers, ``1e3``, escapes, key order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import msgspec

_KEY = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")
_SURROGATE = re.compile(rb"\\u[dD]([89a-fA-F][0-9a-fA-F]{2})")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])

T = TypeVar("T")
Path = tuple[str | int, ...]


class Malformed(ValueError):
    """The text is not JSON of the expected shape, or has duplicate keys that make its meaning ambiguous."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open byte range ``[start, end)`` of a JSON value; ``key`` is its name in an object."""

    key: str
    start: int
    end: int

    def of(self, text: bytes) -> bytes:
        """The bytes of the value in ``text``."""
        return text[self.start : self.end]


def members(text: bytes) -> tuple[Span, ...]:
    """The members of the JSON object ``text``, in order. Raises ``Malformed``, also for duplicate keys."""
    values, masked = _decode(_OBJECT, text)
    sizes = ((key, _size(raw)) for key, raw in values.items())
    return tuple(_walk(text, masked, b"{}", sizes, keyed=True))


def elements(text: bytes) -> tuple[Span, ...]:
    """The elements of the JSON array ``text``, in order. Raises ``Malformed``."""
    values, masked = _decode(_ARRAY, text)
    return tuple(_walk(text, masked, b"[]", (("", _size(raw)) for raw in values), keyed=False))


def find(text: bytes, path: Path) -> Span | None:
    """The span of the value that ``path`` (object keys and array indices) leads to, or None where it leads nowhere."""
    start, end = 0, len(text)
    for step in path:
        inner = text[start:end]
        spans = members(inner) if isinstance(step, str) else elements(inner)
        found = _step(spans, step)
        if found is None:
            return None
        start, end = start + found.start, start + found.end
    return Span(str(path[-1]) if path else "", start, end)


def replace(text: bytes, edits: dict[Path, str]) -> bytes:
    """``text`` with the string at each path replaced, every other byte kept.

    Raises ``Malformed`` for a path that leads nowhere, or to a part of what another one leads to.
    """
    cuts = sorted(_locate(text, edits, 0))
    if any(end > start for (_, end, _), (start, *_) in pairwise(cuts)):
        raise Malformed("one path leads into another")
    parts: list[bytes] = []
    last = 0
    for start, end, value in cuts:
        parts += (text[last:start], encode(value))
        last = end
    return b"".join((*parts, text[last:]))


def remove(text: bytes, key: str) -> bytes:
    """The object ``text`` without its member ``key`` and the comma that goes with it. Raises ``Malformed``."""
    spans = members(text)
    at = next((number for number, span in enumerate(spans) if span.key == key), None)
    if at is None:
        return text
    if at > 0:
        return text[: spans[at - 1].end] + text[spans[at].end :]
    opening = text.index(b"{") + 1
    if len(spans) == 1:
        return text[:opening] + text[spans[0].end :]
    comma = text.index(b",", spans[0].end)
    return text[:opening] + text[comma + 1 :]


def encode(value: str) -> bytes:
    """``value`` as a JSON string in UTF-8; lone surrogates, which UTF-8 cannot carry, stay escaped as they came."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _locate(text: bytes, edits: Mapping[Path, str], base: int) -> Iterator[tuple[int, int, str]]:
    """Where the edited values lie: each container is looked through once, however many of its parts are edited."""
    groups: dict[str | int, dict[Path, str]] = {}
    for path, value in edits.items():
        if not path:
            yield base, base + len(text), value
        else:
            groups.setdefault(path[0], {})[path[1:]] = value
    spans = _children(text, groups)
    for step, inner in groups.items():
        span = spans.get(step)
        if span is None:
            raise Malformed(f"no value at {step!r}")
        yield from _locate(span.of(text), inner, base + span.start)


def _children(text: bytes, steps: Collection[str | int]) -> dict[str | int, Span]:
    """The parts of a container that the steps (keys, or indices) lead to, as far as there are any."""
    if not steps:
        return {}
    if isinstance(next(iter(steps)), str):
        return {span.key: span for span in members(text)}
    found = elements(text)
    return {step: found[step] for step in steps if isinstance(step, int) and -len(found) <= step < len(found)}


def _decode(decoder: msgspec.json.Decoder[T], text: bytes) -> tuple[T, bytes]:
    """What ``decoder`` reads, and the text it was read from: ``text``, or one with the same offsets."""
    try:
        return decoder.decode(text), text
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if not _SURROGATE.search(text):
            raise Malformed(str(error)) from None
    # msgspec refuses lone surrogates. As private-use characters they are as long, and as different from each other.
    masked = _SURROGATE.sub(rb"\\ue\1", text)
    try:
        return decoder.decode(masked), masked
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from None


def _size(raw: msgspec.Raw) -> int:
    return memoryview(raw).nbytes


def _walk(
    text: bytes, masked: bytes, brackets: bytes, values: Iterator[tuple[str, int]], *, keyed: bool
) -> Iterator[Span]:
    """Walk the punctuation between the values; what does not fit (a duplicate key) is ``Malformed``."""
    at = _skip(text, 0, brackets[:1])
    first = True
    for key, size in values:
        at = at if first else _skip(text, at, b",")
        begin, at = at, _key(masked, at, key) if keyed else _space(text, at)
        yield Span(key if masked is text or not keyed else _name(text, begin), at, at + size)
        at, first = at + size, False
    if _space(text, _skip(text, at, brackets[1:])) != len(text):
        raise Malformed("bytes after the end")


def _key(text: bytes, at: int, key: str) -> int:
    found = _KEY.match(text, at)
    if found is None or (found[1][1:-1] != key.encode() and json.loads(found[1]) != key):
        raise Malformed(f"expected the key {key!r} at byte {at}: duplicate key or damaged text")
    return found.end()


def _name(text: bytes, at: int) -> str:
    found = _KEY.match(text, at)
    return str(json.loads(found[1])) if found else ""


def _space(text: bytes, at: int) -> int:
    if text[at : at + 1] > b" ":  # the usual case: nothing to skip
        return at
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _skip(text: bytes, at: int, mark: bytes) -> int:
    at = _space(text, at)
    if text[at : at + 1] != mark:
        raise Malformed(f"expected {mark.decode()} at byte {at}: duplicate key or damaged text")
    return at + 1


def _step(spans: tuple[Span, ...], step: str | int) -> Span | None:
    if isinstance(step, int):
        return spans[step] if -len(spans) <= step < len(spans) else None
    return next((span for span in spans if span.key == step), None)
