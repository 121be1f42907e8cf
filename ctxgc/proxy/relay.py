"""Relaying an answer: the upstream's bytes to the client as they come, with a copy to a reader.

Rule: not a byte is changed, and only the very end is held back, until it may be released.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter

import aiohttp

from ctxgc.proxy.encoding import decode
from ctxgc.proxy.exchange import Exchange
from ctxgc.proxy.headers import to_client
from ctxgc.wire.codec import Reply, ReplyReader

COPY_LIMIT = 64 * 1024 * 1024
"""Bytes of an answer that are kept for the store; a longer one is relayed all the same, and not kept."""
_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
_REACH = len(b"\ndata: [DONE]") - 1

Release = Callable[["Relayed"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Relayed:
    """What came of it: the reply as read, its bytes, and whether the upstream finished it.

    ``first_byte`` is when its first byte came, by ``perf_counter``, and ``first_token`` when the first did of what the
    model wrote; 0 if none did. ``plain`` are its bytes as they read where they came compressed, and else the same.
    """

    reply: Reply
    copy: bytes
    whole: bool
    first_byte: float
    plain: bytes = b""
    first_token: float = 0.0


async def relay(
    exchange: Exchange, response: aiohttp.ClientResponse, copy: Copy, stream: bool, release: Release
) -> None:
    """Relay ``response``, with a copy to ``copy``; before its last bytes go out, ``release`` is awaited.

    The last bytes are those from ``[DONE]`` on in a stream, and else the last piece that arrived. An answer that the
    upstream breaks off is broken off here too, without an end.
    """
    await exchange.start(response.status, to_client(response.raw_headers))
    hold = Hold(stream=stream)
    whole = True
    try:
        async for chunk in arriving(response.content):
            came = perf_counter()
            await exchange.write(hold.take(chunk))
            copy.take(chunk, came)  # reading comes after writing: nothing that we do delays the client's bytes
            if hold.at_end:  # what may follow is not waited for: the client is done
                await release(copy.relayed(whole=True))
                await exchange.write(hold.let_go())
    except (aiohttp.ClientError, TimeoutError, OSError):
        whole = False
    if not hold.released:
        await release(copy.relayed(whole=whole))
    if whole:
        await exchange.end(hold.let_go())
    else:
        await exchange.write(hold.let_go())


async def arriving(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """What arrives, to its last byte: where a connection breaks, aiohttp says so before it gives out the rest."""
    try:
        async for chunk in content.iter_any():
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError):
        content._exception = None
        if rest := content.read_nowait():
            yield rest
        raise


class Copy:
    """What is kept of an answer and read of it. A fault of the reader's costs what it read, and not the answer.

    An answer that comes compressed, though that was not asked for, is kept as it came and read at its end.
    """

    def __init__(self, reader: ReplyReader, encoding: str = "") -> None:
        self._reader: ReplyReader | None = reader
        self._encoding = encoding
        self._parts: list[bytes] = []
        self._size = 0
        self._first = self._token = 0.0

    def take(self, chunk: bytes, came: float) -> None:
        """Take a piece that came at that moment, by ``perf_counter``."""
        self._first = self._first or came
        self._size += len(chunk)
        if self._size <= COPY_LIMIT:
            self._parts.append(chunk)
        else:
            self._parts.clear()
        if not self._encoding:
            self._read(chunk)
            if not self._token and self._reader and self._reader.begun:
                self._token = came

    def plain(self) -> bytes:
        """What came so far, as it reads. Raises ``TooLarge``, ``Undecodable``."""
        came = b"".join(self._parts)
        return decode(came, self._encoding, COPY_LIMIT) if self._encoding else came

    def _read(self, chunk: bytes) -> None:
        try:
            if self._reader:
                self._reader.feed(chunk)
        except Exception:  # what cannot be read is relayed all the same, and its usage is not known
            self._reader = None

    def relayed(self, *, whole: bool) -> Relayed:
        """What came of it, now that nothing more will."""
        copy = plain = b"".join(self._parts)
        try:
            if self._encoding:
                plain = self.plain()
                self._read(plain)
            reply = self._reader.finish() if self._reader else Reply(complete=False)
        except Exception:  # as above
            reply = Reply(complete=False)
        # What came compressed was read at its end: of when it began, no more is known than its first byte.
        token = self._first if self._encoding and reply.blocks else self._token
        return Relayed(reply, copy, whole, self._first, plain, token)


class Hold:
    """Holds back the end of an answer: of a stream what begins with ``[DONE]``, else the last piece so far."""

    def __init__(self, *, stream: bool) -> None:
        self.released = False
        self._stream = stream
        self._held = b""
        self._tail = b"\n"

    @property
    def at_end(self) -> bool:
        """Whether a stream has come to its end, and that is still held back."""
        return self._stream and bool(self._held)

    def take(self, chunk: bytes) -> bytes:
        """Take the next piece and give what may go out now."""
        if self.released:
            return chunk
        if not self._stream:
            free, self._held = self._held, chunk
            return free
        seen = self._tail + chunk
        found = _DONE.search(seen)
        at = max(found.start() + 1 - len(self._tail), 0) if found else len(chunk)
        self._tail, self._held = seen[-_REACH:], chunk[at:]
        return chunk[:at]

    def let_go(self) -> bytes:
        """What was held back; from now on nothing is."""
        free, self._held, self.released = self._held, b"", True
        return free
