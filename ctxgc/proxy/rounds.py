"""An answer in rounds: where the model recalls what was collected, it is given that, and asked to go on.

Rule: the client gets one answer, in which the recall tool has no part; all that it gets of the upstream's is the
upstream's, byte for byte, but where a recall was taken out of it. Where a round fails, the answer breaks off.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import aiohttp

from ctxgc.proxy.exchange import Exchange
from ctxgc.proxy.headers import Raw, to_client
from ctxgc.proxy.relay import Copy, Hold, Relayed, arriving, relay
from ctxgc.wire.codec import Asking, Codec, Earlier, Sieve

ROUNDS = 5
"""Rounds in which recalls are answered; in one more the model is told that this is the limit."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One round's answer: the upstream's response, what is kept of it, and whether it is a stream."""

    response: aiohttp.ClientResponse
    copy: Copy
    stream: bool
    encoding: str = ""


class Asker(Protocol):
    """Who sends a request on, and books it."""

    def tool(self) -> str:
        """The name of the recall tool."""

    def answerable(self) -> bool:
        """Whether recalls in this round's reply can be answered."""

    def go_on(self, relayed: Relayed, asking: Asking, limited: bool) -> Awaitable[Leg | None]:
        """Book a round, answer its recalls, and send the next; None where that is not possible."""

    def end(self, relayed: Relayed, asking: Asking | None) -> Awaitable[None]:
        """Book the last round, and the recalls in it that are not to be gone on with. Waits until it is on disk."""


async def relay_rounds(exchange: Exchange, leg: Leg, codec: Codec, asker: Asker) -> None:
    """Relay an answer and, where it recalls, those that follow it."""
    answer = _Answer(exchange, leg)
    earlier, number = Earlier(), 0
    while True:
        sieve = codec.sieve(asker.tool(), earlier, stream=leg.stream)
        whole = await answer.take(leg, sieve)
        relayed = leg.copy.relayed(whole=whole)
        asking = _asking(codec, asker, sieve, relayed, number)
        following = await asker.go_on(relayed, asking, number == ROUNDS) if asking and asking.alone else None
        if following is None:
            await answer.end(leg, sieve, relayed, asking if asking and not asking.alone else None, asker)
            return
        if following.response.status >= 400 or following.stream != leg.stream:
            await answer.fail(following, asker)
            return
        earlier, leg, number = sieve.earlier(), following, number + 1


def _asking(codec: Codec, asker: Asker, sieve: Sieve, relayed: Relayed, number: int) -> Asking | None:
    """The recalls in a round that are to be answered."""
    reply = relayed.reply
    if number > ROUNDS or not (sieve.met and relayed.whole and reply.complete and asker.answerable()) or reply.error:
        return None
    try:
        return codec.asking(relayed.plain, asker.tool())
    except Exception:  # what cannot be made sense of is taken out and not answered
        return None


class _Answer:
    """The one answer that the client gets."""

    def __init__(self, exchange: Exchange, first: Leg) -> None:
        self._exchange = exchange
        self._first = first
        self._hold = Hold(stream=True)

    async def take(self, leg: Leg, sieve: Sieve) -> bool:
        """Relay a round up to its end, which is kept back; whether the upstream finished it."""
        if leg.stream and not leg.encoding:
            await self._start()
        try:
            async for chunk in arriving(leg.response.content):
                came = perf_counter()
                if not leg.encoding:
                    await self._write(sieve.feed(chunk))
                leg.copy.take(chunk, came)
                if sieve.ended:
                    return True
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
        if leg.encoding:  # compressed, though that was not asked for: read, and so shown, at its end
            await self._write(sieve.feed(leg.copy.plain()))
        return True

    async def end(self, leg: Leg, sieve: Sieve, relayed: Relayed, asking: Asking | None, asker: Asker) -> None:
        """Let the last round's end go when it is booked."""
        last, same = sieve.rest(), False
        if leg.stream:
            await self._write(last)
        elif not relayed.whole or last == relayed.plain:  # its length, and what it came in, are still right
            last, same = relayed.copy if relayed.whole else last, leg is self._first
        await asker.end(relayed, asking)
        await self._start(None if leg.stream else len(last), exact=same)
        await self._exchange.write(self._hold.let_go() if leg.stream else self._hold.let_go() + last)
        if relayed.whole and await self._after(leg):
            await self._exchange.end()

    async def fail(self, leg: Leg, asker: Asker) -> None:
        """A round came to nothing: its error is the answer, if none has begun yet."""
        if not self._exchange.started:
            await relay(self._exchange, leg.response, leg.copy, leg.stream, lambda relayed: asker.end(relayed, None))

    async def _after(self, leg: Leg) -> bool:
        """What comes behind the end of a stream; False where it breaks off there."""
        try:
            async for chunk in arriving(leg.response.content):
                await self._exchange.write(chunk)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
        return True

    async def _write(self, data: bytes) -> None:
        if data:
            await self._start()
            await self._exchange.write(self._hold.take(data))

    async def _start(self, size: int | None = None, *, exact: bool = False) -> None:
        """Send the head of the answer, if it is not sent yet: the first round's, with a length that is right."""
        if self._exchange.started:
            return
        headers = to_client(self._first.response.raw_headers)
        if not exact:
            dropped = {b"content-length", b"content-encoding"} if self._first.encoding else {b"content-length"}
            headers = [(name, value) for name, value in headers if name.lower() not in dropped]
            headers += _length(size)
        await self._exchange.start(self._first.response.status, headers)


def _length(size: int | None) -> Raw:
    return [] if size is None else [(b"content-length", b"%d" % size)]
