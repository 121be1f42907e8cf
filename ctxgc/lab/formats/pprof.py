"""pprof: a gzipped protobuf of stacks with three values each, for ``go tool pprof`` and all that read its files.

Rule: only the fields that readers need, written by hand; the same profiles give the same bytes.
Source: profile.proto of github.com/google/pprof; the numbers below are its field numbers.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxgc.lab.formats.stacks import WEIGHTS, Stack, stacks
from ctxgc.lab.profile import Profile

SAMPLE_TYPE, SAMPLE, LOCATION, FUNCTION, STRINGS, TIME, DURATION, COMMENT, DEFAULT = 1, 2, 4, 5, 6, 9, 10, 13, 14
_UNIT = "tokens"


def pprof(profiles: Sequence[Profile]) -> bytes:
    """The file. Each session is a root; its time is that of the first request, its duration goes to the last."""
    made = _Writer()
    for weight in WEIGHTS:
        made.put(SAMPLE_TYPE, _int(1, made.text(weight.name)) + _int(2, made.text(_UNIT)))
    for profile in profiles:
        for stack in stacks(profile):
            made.sample(stack)
    times = [request.at for profile in profiles for request in profile.requests]
    first, last = (min(times), max(times)) if times else (0.0, 0.0)
    return gzip.compress(made.end(_nanoseconds(first), _nanoseconds(last - first)), mtime=0)


@dataclass(slots=True)
class _Writer:
    """The message under way. A function and its one location have the same number, from 1 on."""

    body: bytearray = field(default_factory=bytearray)
    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    functions: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        """The number of a string in the table, of which the first is empty."""
        return self.texts.setdefault(text, len(self.texts))

    def put(self, number: int, message: bytes) -> None:
        """Add a message."""
        self.body += _bytes(number, message)

    def sample(self, stack: Stack) -> None:
        """Add a stack: its locations, the leaf first, and its values."""
        locations = [self.location(frame) for frame in reversed(stack.frames)]
        self.put(SAMPLE, _packed(1, locations) + _packed(2, stack.values))

    def location(self, frame: str) -> int:
        """The location of a frame. Without a system name no reader takes the name apart as one of C++."""
        if frame not in self.functions:
            number = self.functions[frame] = len(self.functions) + 1
            self.put(FUNCTION, _int(1, number) + _int(2, self.text(frame)))
            self.put(LOCATION, _int(1, number) + _bytes(4, _int(1, number)))
        return self.functions[frame]

    def end(self, time: int, duration: int) -> bytes:
        """The whole message, with the strings last: only then are all of them known."""
        comment, default = self.text("made by ctxgc profile: values are tokens"), self.text(WEIGHTS[0].name)
        tail = _int(TIME, time) + _int(DURATION, duration) + _int(COMMENT, comment) + _int(DEFAULT, default)
        strings = b"".join(_bytes(STRINGS, text.encode("utf-8", "replace")) for text in self.texts)
        return bytes(self.body) + strings + tail


def _nanoseconds(seconds: float) -> int:
    """Whole nanoseconds that an int64 holds."""
    return int(min(max(seconds, 0.0), 9.2e9) * 1e9)


def _varint(value: int) -> bytes:
    """A whole number from 0 on, seven bits a byte, the low ones first."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _int(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _packed(number: int, values: Iterable[int]) -> bytes:
    return _bytes(number, b"".join(map(_varint, values)))
