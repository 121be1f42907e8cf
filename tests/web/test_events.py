"""Who listens, and what each is told: once, whatever happened meanwhile, and nothing when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from ctxgc.web import events
from ctxgc.web.events import Events
from tests.proxy.upstream import HANG


class Store:
    """What grows, as a reader would tell it; counts how often it is asked."""

    def __init__(self) -> None:
        self.news: dict[str, int] = {}
        self.asked = 0
        self._taken = asyncio.Event()

    async def taken(self) -> None:
        """Wait until what is new has been asked for."""
        self._taken.clear()
        await asyncio.wait_for(self._taken.wait(), HANG)

    async def grown(self, calm: bool) -> Mapping[str, int]:
        self.asked += 1
        news, self.news = self.news, {}
        self._taken.set()
        return news


async def until(stream: AsyncIterator[bytes], wanted: bytes) -> bytes:
    """Read until something wanted has come; all that was read."""

    async def reading() -> bytes:
        read = b""
        async for piece in stream:
            read += piece
            if wanted in read:
                return read
        raise AssertionError("it has ended")

    return await asyncio.wait_for(reading(), HANG)


async def test_each_is_told_what_grows_from_when_it_listens() -> None:
    store = Store()
    told = Events(store.grown, 0)
    store.news = {"a": 1}
    first = await told.listening()
    assert b'data: {"session":"a","entries":1}\n\n' in await until(first, b"data")
    second = await told.listening()
    store.news = {"b": 2}
    for stream in (first, second):
        assert b'{"session":"b","entries":2}' in await until(stream, b"data")
    told.close()


async def test_one_that_does_not_read_is_told_only_how_things_stand_then() -> None:
    store = Store()
    told = Events(store.grown, 0)
    stream = await told.listening()
    await until(stream, b"listening")
    for entries in range(1, 50):
        store.news = {"a": entries}
        await store.taken()
    read = await until(stream, b"49")
    assert read.count(b"data") == 1
    told.close()


async def test_nothing_is_asked_where_nobody_listens() -> None:
    store = Store()
    told = Events(store.grown, 0)
    stream = await told.listening()
    await until(stream, b"listening")
    await stream.aclose()  # type: ignore[attr-defined]
    assert told._asking is not None
    await asyncio.wait_for(told._asking, HANG)
    before = store.asked
    for _ in range(20):
        await asyncio.sleep(0)
    assert store.asked == before
    again = await told.listening()
    store.news = {"a": 3}
    await until(again, b"data")
    told.close()


async def test_closing_ends_every_stream() -> None:
    told = Events(Store().grown, 0)
    streams = [await told.listening() for _ in range(3)]
    for stream in streams:
        await until(stream, b"listening")
    told.close()
    for stream in streams:
        assert [piece async for piece in stream] in ([], [b": nothing new\n\n"])
    late = await told.listening()
    assert [piece async for piece in late] == [b": listening\n\n"]


async def test_a_quiet_stream_is_heard_of_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET", 0)
    told = Events(Store().grown, HANG)
    stream = await told.listening()
    assert (await until(stream, b"nothing new\n\n: nothing new")).startswith(b": listening")
    told.close()
