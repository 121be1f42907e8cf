"""Chat-completions replies, streamed or whole: what they used, what the model wrote, how they ended.

Rule: nothing here raises, and nothing the client gets is made from it: it reads beside the relay, for the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ctxgc.core.block import Author, Block, Kind, Media
from ctxgc.core.journal import Usage
from ctxgc.wire.codec import Reply
from ctxgc.wire.openai_chat_calls import Calls, Text, repaired
from ctxgc.wire.openai_chat_chunks import (
    Audio,
    Choice,
    Chunk,
    Reported,
    Said,
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

    @property
    def begun(self) -> bool:
        """Whether a delta said anything, or a reply that is not streamed has come in part."""
        return bool(self._whole) or self._draft.begun

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
    """All that a reply has said so far. ``begun``: the model wrote something; ``ended``: it came to its end;
    ``overflowed``: it was too long to keep."""

    def __init__(self, cap: int) -> None:
        self.begun = self.ended = self.overflowed = False
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
            model=repaired(self._model),
            blocks=tuple(self._message.blocks()),
            finish=repaired(self._finish),
            error=repaired(self._error),
            complete=not self.overflowed and (self.ended or bool(self._finish)),
            ids={"response": repaired(self._id)} if self._id else {},
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
            grown = self._message.add(choice.delta)
            self.begun = self.begun or grown > 0 or choice.delta.function_call is not None
            self._left -= grown
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
            self._message, self.begun = target, True

    def _fail(self, error: object) -> None:
        if error and not self._error:
            self._error = failure(error)[:_ERROR_LENGTH]


class _Message:
    """What the model wrote. ``add`` takes a delta (or all of it) and returns about how much more is kept now."""

    def __init__(self) -> None:
        self._texts = {kind: Text() for kind in (Kind.THINKING, Kind.TEXT, Kind.REFUSAL, Kind.AUDIO)}
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


def _bytes(audio: Audio) -> int:
    data = audio.data or ""
    return len(data) * 3 // 4 - data[-2:].count("=")
