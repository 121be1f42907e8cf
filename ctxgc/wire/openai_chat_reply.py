"""Chat-completions replies, streamed or whole: what they used, what the model wrote, how they ended.

Rule: nothing here raises, and nothing the client gets is made from it: it reads beside the relay, for the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from ctxgc.core.block import Author, Block, Kind, Media
from ctxgc.core.journal import Usage
from ctxgc.wire.codec import Reply
from ctxgc.wire.openai_chat_chunks import (
    Audio,
    Choice,
    Chunk,
    Function,
    Reported,
    Said,
    ToolCall,
    as_text,
    counts,
    decode,
    failure,
    texts,
)
from ctxgc.wire.sse import BLANK, EVENT_FIELDS, EventSplitter

CAP = 64 * 1024 * 1024
"""The most that is kept of one reply: bytes of a body, or characters of what a stream wrote."""

_CHUNK = msgspec.json.Decoder(Chunk)
_CHUNKS = msgspec.json.Decoder(list[Chunk])
_SURE = 8  # from this length on, a delta that begins with all there was so far is no coincidence
_CALL_COST = 256
_ERROR_LENGTH = 2000


def reader(*, stream: bool) -> Reader:
    """A reader for the reply to a request that asked for a stream, or did not."""
    return Reader(stream=stream)


class Reader:
    """Reads one reply. What was asked for only counts where the first bytes do not show what came.

    Of a reply over the cap (bytes of a whole one, characters of a streamed one) usage and ending are still read where
    they can be, and it is not ``complete``.
    """

    def __init__(self, *, stream: bool, cap: int = CAP) -> None:
        self._stream = stream
        self._cap = cap
        self._whole: bool | None = None
        self._body = bytearray()
        self._events = EventSplitter()
        self._draft = _Draft(cap)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere. Blank lines before a reply keep connections open and say nothing."""
        if self._whole is None:
            chunk = chunk.lstrip(BLANK)
            if not chunk:
                return
            self._whole = chunk[0] in b"{[" or (not self._stream and chunk[0] not in EVENT_FIELDS)
        if not self._whole:
            self._take_events(self._events.feed(chunk))
        elif not self._draft.overflowed:
            self._body += chunk
            self._draft.overflowed = len(self._body) > self._cap

    def finish(self) -> Reply:
        """What the reply said. Asking again gives the same."""
        self._take_events(self._events.close())
        if not self._draft.overflowed:
            self._take_body(bytes(self._body))
        self._body.clear()
        self._draft.overflowed |= self._events.overflowed
        return self._draft.reply()

    def _take_events(self, events: Iterable[bytes]) -> None:
        for event in events:
            chunk = decode(_CHUNK, event)
            if chunk is not None:
                self._draft.add(chunk)
            elif event.strip() == b"[DONE]":
                self._draft.ended = True
            elif b"\n" in event:  # servers that leave out the empty lines between events
                self._take_events(line for line in event.split(b"\n") if line[:1] in (b"{", b"["))

    def _take_body(self, body: bytes) -> None:
        one = None if body.startswith(b"[") else decode(_CHUNK, body)
        chunks = decode(_CHUNKS, body) if one is None else [one]
        for chunk in chunks or ():
            self._draft.add(chunk)
            self._draft.ended = True


class _Draft:
    """All that a reply has said so far. ``ended``: it came to its end; ``overflowed``: it was too long to keep."""

    def __init__(self, cap: int) -> None:
        self.ended = self.overflowed = False
        self._left = cap
        self._id = self._model = self._finish = self._error = ""
        self._usage: Usage | None = None
        self._message = _Message()
        self._deltas = False

    def add(self, chunk: Chunk) -> None:
        self._id = self._id or chunk.id or ""
        self._model = self._model or chunk.model or ""
        self._account(chunk.usage)
        self._account(chunk.x_groq.usage if chunk.x_groq else None)
        for choice in chunk.choices or ():
            self._account(choice.usage)
            if not choice.index:
                self._choose(choice)
        says_nothing_else = chunk.choices is None and chunk.usage is None
        self._fail(chunk.error or (says_nothing_else and (chunk.message or chunk.detail)))

    def reply(self) -> Reply:
        return Reply(
            usage=self._usage,
            model=_repaired(self._model),
            blocks=tuple(self._message.blocks()),
            finish=_repaired(self._finish),
            error=_repaired(self._error),
            complete=not self.overflowed and (self.ended or bool(self._finish)),
            ids={"response": _repaired(self._id)} if self._id else {},
        )

    def _account(self, usage: Reported | None) -> None:
        """The last usage counts, but zeros (placeholders in some streams) never replace figures."""
        figures = counts(usage) if usage is not None else None
        if figures is not None and (self._usage is None or figures != Usage()):
            self._usage = figures

    def _choose(self, choice: Choice) -> None:
        self._finish = choice.finish_reason or self._finish
        self._fail(choice.error)
        if self.overflowed:
            return
        if choice.delta is not None:
            self._deltas = True
            self._left -= self._message.add(choice.delta)
        if choice.message is not None:
            self._take_whole(choice.message)
        self.overflowed = self._left < 0

    def _take_whole(self, message: Said) -> None:
        """The message of a reply that is not streamed, or what ends a stream: all that its deltas said, once more."""
        for number, call in enumerate(message.tool_calls or ()):
            call.index = number
        target = _Message() if self._deltas else self._message
        self._left -= target.add(message)
        if any(target.blocks()):
            self._message = target

    def _fail(self, error: object) -> None:
        if error and not self._error:
            self._error = failure(error)[:_ERROR_LENGTH]


class _Message:
    """What the model wrote. ``add`` takes a delta (or all of it) and returns about how much more is kept now."""

    def __init__(self) -> None:
        self._texts = {kind: _Text() for kind in (Kind.THINKING, Kind.TEXT, Kind.REFUSAL, Kind.AUDIO)}
        self._sound: int | None = None
        self._calls = Calls()

    def add(self, said: Said) -> int:
        grown = sum(self._texts[kind].add(text) for kind, text in texts(said))
        if said.audio is not None:
            self._sound = (self._sound or 0) + _bytes(said.audio)
        grown += sum(self._calls.add(call) for call in said.tool_calls or ())
        return grown + (self._calls.add_legacy(said.function_call) if said.function_call else 0)

    def blocks(self) -> Iterator[Block]:
        for kind, text in self._texts.items():
            if text.parts or (kind is Kind.AUDIO and self._sound is not None):
                media = Media(size=self._sound or 0) if kind is Kind.AUDIO else None
                yield Block(kind, Author.AGENT, str(text), media=media)
        yield from self._calls.blocks()


@dataclass(slots=True)
class _Text:
    """A text that comes in deltas or, from servers that misread the format, each time with all there was before."""

    parts: list[str] = field(default_factory=list)
    growing: bool = True
    whole: bool = False

    def add(self, delta: str) -> int:
        if not delta:
            return 0
        last = self.parts[-1] if self.parts else ""
        self.growing = self.growing and delta.startswith(last) and (self.whole or len(delta) > len(last))
        if self.growing and (self.whole or len(last) >= _SURE):
            self.parts, self.whole = [delta], True
            return len(delta) - len(last)
        self.parts.append(delta)
        return len(delta)

    def __str__(self) -> str:
        return _repaired("".join(self.parts))


@dataclass(slots=True)
class Call:
    """A tool call, as far as its deltas have come."""

    id: str = ""
    name: str = ""
    text: _Text = field(default_factory=_Text)

    def add(self, function: Function | None) -> int:
        """Take what a delta adds, and give about how much more is kept now."""
        if function is None:
            return 0
        self.name = self.name or function.name or ""
        delta = as_text(function.input if function.arguments is None else function.arguments)
        if self.text.parts == ["{}"] and delta.startswith("{"):  # it was a placeholder
            self.text = _Text()
        return self.text.add(delta)


class Calls:
    """The tool calls, told apart by id and index; servers leave out either, or give every call the index 0."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._latest: dict[int | None, Call] = {}
        self._named: dict[tuple[int | None, str], Call] = {}
        self._legacy = Call()

    def add(self, delta: ToolCall) -> int:
        """Take a delta, and give about how much more is kept now."""
        known = len(self._calls)
        call = self.find_or_begin(delta)
        return (len(self._calls) - known) * _CALL_COST + call.add(delta.function or delta.custom)

    def find_or_begin(self, delta: ToolCall) -> Call:
        """The call that a delta belongs to, without the arguments that it adds to it."""
        function = delta.function or delta.custom
        name = (function.name if function else None) or ""
        call = self._find(delta, name)
        if call is None:
            call = Call()
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        call.name = call.name or name
        self._latest[delta.index] = self._latest[None] = call
        self._named[delta.index, call.id] = self._named[None, call.id] = call
        return call

    def add_legacy(self, function: Function) -> int:
        """Take a delta of the deprecated ``function_call``."""
        return self._legacy.add(function)

    def blocks(self) -> Iterator[Block]:
        """The calls as blocks."""
        for call in (*self._calls, self._legacy):
            if call.id or call.name or call.text.parts:
                name, call_id = _repaired(call.name), _repaired(call.id)
                yield Block(Kind.TOOL_CALL, Author.AGENT, str(call.text), name=name, call_id=call_id)

    def _find(self, delta: ToolCall, name: str) -> Call | None:
        """The call that a delta goes on with, or None where it begins one."""
        if delta.id and (delta.index, delta.id) in self._named:
            return self._named[delta.index, delta.id]
        begins = bool(delta.id or name)
        last = self._latest.get(delta.index, None if begins else self._latest.get(None))
        if last is None or not name:  # without a name it goes on, whatever its id: some give every delta a new one
            return last
        if delta.id and last.id:
            return None
        # No id to go by: a name said twice is the same call said again, if it has the same place.
        same = not last.name or (last.name == name and delta.index is not None)
        return last if same else None


def _bytes(audio: Audio) -> int:
    data = audio.data or ""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _repaired(text: str) -> str:
    """``text`` with surrogate pairs that came in two deltas joined, and lone surrogates replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
