"""A chat completion's reply on its way to the client, without the calls of one tool, where it is streamed.

Rule: what holds none of these calls passes byte for byte; what must change is written again from its values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ctxgc.wire.codec import Earlier
from ctxgc.wire.openai_chat_reasoning import KEY, Heard, Numbering, alone
from ctxgc.wire.openai_chat_taking import Json, Placed, Taking, add_usage, choices_of, load, said_by
from ctxgc.wire.openai_chat_whole import WholeSieve
from ctxgc.wire.sse import BLANK, CAP, EVENT_FIELDS, Pieces

_CALLS = (b"tool_calls", b"function_call", KEY.encode())
"""What a piece that is to be read names."""


@dataclass(slots=True)
class _Unit:
    """A piece of a stream: its bytes and, where it is a chunk that was read, its value and the calls in it."""

    raw: bytes
    value: Json | None = None
    placed: list[Placed] = field(default_factory=list)


class ReplySieve:
    """See ``Codec.sieve``: what was asked for only counts where the first bytes do not show what came."""

    def __init__(self, name: str, earlier: Earlier, *, stream: bool) -> None:
        self._makers = (lambda: WholeSieve(name, earlier)), (lambda: StreamSieve(name, earlier))
        self._inner: WholeSieve | StreamSieve = self._makers[stream]()
        self._stream = stream
        self._seen = False

    @property
    def met(self) -> bool:
        """See ``Sieve.met``."""
        return self._inner.met

    @property
    def ended(self) -> bool:
        """See ``Sieve.ended``."""
        return self._inner.ended

    def feed(self, chunk: bytes) -> bytes:
        """See ``Sieve.feed``. Blanks before a reply keep connections open."""
        if not self._seen:
            said = chunk.lstrip(BLANK)
            if not said:
                return chunk
            self._seen = True
            stream = said[0] not in b"{[" and (self._stream or said[0] in EVENT_FIELDS)
            self._inner = self._makers[stream]() if stream != self._stream else self._inner
        return self._inner.feed(chunk)

    def rest(self) -> bytes:
        """See ``Sieve.rest``."""
        return self._inner.rest()

    def earlier(self) -> Earlier:
        """See ``Sieve.earlier``."""
        return self._inner.earlier()


class StreamSieve:
    """A sieve for a stream. What follows a call whose name is not known yet waits until it is."""

    def __init__(self, name: str, earlier: Earlier) -> None:
        self.ended = False
        self._earlier = earlier
        self._usage: Json = {}
        self._numbering = Numbering(earlier)
        self._pieces = Pieces()
        self._taking = Taking(name)
        self._queue: list[_Unit] = []
        self._waiting = 0
        self._kept_back = bytearray()
        self._kept = bytearray()
        self._finished = False
        self._dropped = False

    @property
    def met(self) -> bool:
        """Whether there was a call of the tool."""
        return self._taking.met

    def feed(self, chunk: bytes) -> bytes:
        """See ``Sieve.feed``."""
        if self._passes(chunk):
            return chunk
        return b"".join(self._take(raw, data) for raw, data in self._pieces.feed(chunk))

    def _passes(self, chunk: bytes) -> bool:
        """Whether these are whole events that say nothing of any call: most of a stream is."""
        if self.met or self._queue or self._earlier.usage or not self._pieces.between:
            return False
        return chunk.endswith(b"\n\n") and not any(key in chunk for key in (*_CALLS, b"[DONE]"))

    def rest(self) -> bytes:
        """See ``Sieve.rest``."""
        raw, data = self._pieces.rest()
        last = self._take(raw, data) + self._flush()
        kept = bytes(self._kept_back + self._kept)
        self._kept_back.clear()
        self._kept.clear()
        return last + kept

    def earlier(self) -> Earlier:
        """See ``Sieve.earlier``."""
        return Heard(add_usage(self._earlier.usage, self._usage), free=self._numbering.free)

    def _take(self, raw: bytes, data: bytes) -> bytes:
        if raw.startswith(b":"):  # comments keep connections open
            return raw
        self.ended = self.ended or data == b"[DONE]"
        unit = _Unit(raw)
        if self._concerns(data) and (value := load(data)) is not None:
            unit.value, unit.placed = value, list(self._taking.place(value))
        if self._queue or not self._taking.sure:
            return self._wait(unit)
        return self._emit(unit)

    def _concerns(self, data: bytes) -> bool:
        """Whether a piece has to be read: most of a stream has not."""
        return data[:1] == b"{" and (
            self.met or any(key in data for key in _CALLS) or (bool(self._earlier.usage) and b'"usage"' in data)
        )

    def _wait(self, unit: _Unit) -> bytes:
        self._queue.append(unit)
        self._waiting += len(unit.raw)
        over = (
            self.ended or self._waiting > CAP or (unit.value is not None and any(map(_finish, choices_of(unit.value))))
        )
        return self._flush() if over or self._taking.sure else b""

    def _flush(self) -> bytes:
        """Let go what waits: what has no name by now gets none."""
        self._taking.settle()
        queue, self._queue, self._waiting = self._queue, [], 0
        return b"".join(map(self._emit, queue))

    def _emit(self, unit: _Unit) -> bytes:
        raw, said = unit.raw, b""
        if unit.value is not None:
            raw = self._sifted(unit, unit.value)
            self._finished = self._finished or any(map(_finish, choices_of(unit.value)))
            self._dropped = not raw
        elif raw.strip():
            self._dropped = False
        elif self._dropped:  # the empty line that ended what was left out
            return b""
        if not (self.met and (self._finished or self.ended)):
            return raw
        if raw and unit.value is not None and (spoken := _spoken(unit.value)):
            said, raw = _event(spoken), _line(unit.value, unit.raw)
        self._kept += raw
        return said

    def _sifted(self, unit: _Unit, value: Json) -> bytes:
        """The bytes of a chunk without the tool's calls: as they came, written again, or none."""
        taken = self._taking.take_out(unit.placed)
        refinished = [self._taking.refinish(choice) for choice in choices_of(value)]
        kept_back = self._numbering.keep_back(value) if self.met else None
        if kept_back:
            self._kept_back += _event(kept_back)
        changed = self._numbering.renumber(value) or bool(taken or kept_back) or any(refinished)
        usage = value.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
            if self._earlier.usage:
                value["usage"], changed = add_usage(self._earlier.usage, usage), True
        if (taken or kept_back) and not usage and not any(map(_says, choices_of(value))):
            return b""
        if not changed:
            return unit.raw
        return _line(value, unit.raw)


def _line(value: Json, raw: bytes) -> bytes:
    """A chunk in the place of the one that came as ``raw``."""
    return b"data: " + json.dumps(value).encode() + raw[len(raw.rstrip(b"\r\n")) :]


def _event(value: Json) -> bytes:
    """A chunk more than came."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _spoken(value: Json) -> Json | None:
    """Take what a chunk says out of it, as a chunk of that alone, and leave how it ends; None where it says nothing."""
    choices = []
    for choice in choices_of(value):
        delta = choice.get("delta")
        if isinstance(delta, dict) and any(_given(part) for key, part in delta.items() if key != "role"):
            shown: Json = {key: choice.pop(key) for key in ("delta", "logprobs") if key in choice}
            choices.append({"index": choice.get("index", 0), **shown, "finish_reason": None})
            choice["delta"] = {}
    return alone(value, choices) if choices else None


def _finish(choice: Json) -> bool:
    return bool(choice.get("finish_reason"))


def _says(choice: Json) -> bool:
    """Whether anything is left in a choice of a chunk that calls were taken from."""
    return _finish(choice) or any(any(map(_given, said.values())) for said in said_by(choice))


def _given(value: object) -> bool:
    return value is not None and value != "" and value != []
