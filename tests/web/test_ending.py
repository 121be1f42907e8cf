"""The server ends when it is told to, whatever the reader is at and whoever waits for it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ctxgc.web.app import Page
from ctxgc.web.frames import Answer, Asked
from ctxgc.web.serving import listen, page_server, serving
from tests.proxy.upstream import HANG
from tests.web.pages import Visitor


class Busy:
    """A reader that is at something long: it answers nobody until it is ended."""

    def __init__(self) -> None:
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    def begin(self) -> None:
        pass

    async def ask(self, asked: Asked) -> Answer:
        self.asked.set()
        await self.ended.wait()
        return Answer(200, b"{}")

    async def close(self) -> None:
        self.ended.set()


@pytest.mark.parametrize("path", ["api/sessions", "api/events"])
async def test_who_waits_for_the_reader_does_not_keep_the_server(path: str) -> None:
    desk = Busy()
    page = Page(desk, "token")
    with listen("127.0.0.1", 0) as listener:
        visitor = Visitor(listener.getsockname()[1], "token")
        async with asyncio.timeout(HANG):
            async with serving(page_server(page, "127.0.0.1", ()), listener):
                waiting = asyncio.ensure_future(visitor.get(path))
                await desk.asked.wait()
            answer = await waiting
    assert not desk.ended.is_set(), "the server has ended before the reader"
    assert answer.status == (503 if path == "api/sessions" else 200)
    await page.close()


async def test_without_that_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    async def patient(page: Any, asked: Asked) -> Answer:
        return await page._desk.ask(asked)  # type: ignore[no-any-return]

    monkeypatch.setattr(Page, "_answer", patient)
    desk = Busy()
    page = Page(desk, "token")
    with listen("127.0.0.1", 0) as listener:
        server = page_server(page, "127.0.0.1", ())
        visitor = Visitor(listener.getsockname()[1], "token")
        async with serving(server, listener) as task:
            waiting = asyncio.ensure_future(visitor.get("api/sessions"))
            await desk.asked.wait()
            server.should_exit = True
            await page._ending.wait()
            for _ in range(50):
                await asyncio.sleep(0)
            assert not task.done()
            await desk.close()
        assert json.loads((await waiting).body) == {}
    await page.close()


async def test_an_answer_that_is_there_is_given() -> None:
    desk = Busy()
    desk.ended.set()
    assert (await Page(desk, "token")._answer(Asked(path="sessions"))).status == 200
