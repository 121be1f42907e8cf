"""Telling pages which sessions have grown: one question a second to the reader, as long as anybody listens.

Rule: a listener that is slow costs no memory, since what it has not been told yet is told once; none keeps the server
from ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import msgspec

PAUSE = 1.0
"""Seconds between two questions."""
QUIET = 15.0
"""Seconds after which a listener is sent a line all the same, so that one who has left is noticed."""

Grown = Callable[[bool], Awaitable[Mapping[str, int]]]
"""Asks which sessions have grown since it was asked last, each with its entries; True: there is no hurry."""


class Events:
    """Who listens, and what each has not been told yet."""

    def __init__(self, grown: Grown, pause: float | None = None) -> None:
        self._grown, self._pause = grown, PAUSE if pause is None else pause
        self._listeners: dict[asyncio.Event, dict[str, int]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._closed = False

    async def listening(self) -> AsyncIterator[bytes]:
        """A stream of events until the server ends: of all that grows after this has returned."""
        woken = asyncio.Event()
        news = self._listeners.setdefault(woken, {})
        await self._ask(calm=False)
        self._begin()
        return self._stream(woken, news)

    async def _stream(self, woken: asyncio.Event, news: dict[str, int]) -> AsyncIterator[bytes]:
        try:
            yield b": listening\n\n"
            while not self._closed:
                told = [(session, news.pop(session)) for session in tuple(news)]
                yield b"".join(_event(*one) for one in told) or b": nothing new\n\n"
                await self._wait(woken, bool(news))
        finally:
            self._listeners.pop(woken, None)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for woken in self._listeners:
            woken.set()
        if self._asking is not None:
            self._asking.cancel()

    async def _wait(self, woken: asyncio.Event, more: bool) -> None:
        if more or self._closed:
            return
        try:
            await asyncio.wait_for(woken.wait(), QUIET)
        except TimeoutError:
            pass
        woken.clear()

    def _begin(self) -> None:
        if not self._closed and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        while self._listeners and not self._closed:
            await asyncio.sleep(self._pause)
            await self._ask(calm=True)

    async def _ask(self, *, calm: bool) -> None:
        grown = await self._grown(calm)
        for woken, news in self._listeners.items():
            news.update(grown)
            if grown:
                woken.set()


def _event(session: str, entries: int) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode({"session": session, "entries": entries})
