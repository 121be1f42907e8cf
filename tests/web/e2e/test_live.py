"""The page while things happen: it shows them, says when it cannot, and does what its buttons say, for whom it may."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest_asyncio
from playwright.async_api import Browser, Route

from ctxgc.core.compaction import Milestone
from ctxgc.core.journal import Pin, Recall
from ctxgc.proxy import server
from ctxgc.web.serving import listen
from ctxgc.web.token import token_of
from tests.proxy.bodies import user
from tests.proxy.harness import Running, proxy
from tests.proxy.upstream import Upstream
from tests.web.e2e.load import Load, Model, turn
from tests.web.e2e.visit import Visit, visiting
from tests.web.pages import JSON, Visitor

CUTTING: dict[str, Any] = {"policies": ({"name": "truncate", "budget": 64},)}
LIVE = "(state) => document.querySelector('[data-live]').dataset.live === state"
TURNS = "(count) => Number(document.querySelector('[data-chart=heap]').dataset.count) >= count"
Start = Callable[[], AbstractAsyncContextManager[Running]]


@pytest_asyncio.fixture(loop_scope="session")
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as upstream:
        Model(upstream)
        yield upstream


@pytest_asyncio.fixture(loop_scope="session")
async def start(upstream: Upstream, tmp_path: Path) -> Start:
    return partial(proxy, upstream.base, tmp_path / "audit.db", **CUTTING)


async def begun(running: Running) -> tuple[Load, str]:
    """A conversation of two requests, the second with a result that is cut; the id of its session."""
    load = Load(running, None, [user("Find the fault in it.")])  # type: ignore[arg-type]
    await load.send()
    load.messages += turn(0)
    await load.send()
    (key,) = await load.keys()
    return load, key.hex()


def tab(browser: Browser, running: Running) -> AbstractAsyncContextManager[Visit]:
    return visiting(browser, f"http://127.0.0.1:{running.port}", token_of(running.store.inner.secret))


async def on_disk(running: Running, kind: type) -> list[Any]:
    """The entries of a kind in the one session."""
    await asyncio.to_thread(running.store.inner.flush)
    return [entry for entries in running.journals().values() for entry in entries if isinstance(entry, kind)]


async def test_new_requests_appear_by_themselves_and_are_announced(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        load, session = await begun(running)
        await visit.open(f"session/{session}/heap")
        await visit.until(LIVE, "live")
        for number in (1, 2):
            load.messages += turn(number)
            await load.send()
        await visit.until(TURNS, 4)
        assert await visit.page.locator("tr[data-turn]").count() == 4
        await visit.until(
            "() => document.querySelector('[data-announced]').textContent.startsWith('Turn 4: forwarded')"
        )


async def test_a_new_session_appears_in_the_list(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        await visit.open()
        assert await visit.page.locator("[data-empty]").count() == 1
        await visit.until(LIVE, "live")
        _, session = await begun(running)
        await visit.page.wait_for_selector(f'tr[data-session="{session}"]')


async def test_while_it_is_paused_nothing_moves(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        load, session = await begun(running)
        await visit.open(f"session/{session}/heap")
        await visit.until(LIVE, "live")
        await visit.page.click("[data-action=pause]")
        load.messages += turn(1)
        await load.send()
        async with tab(browser, running) as other:  # it has seen all that the first could have
            await other.open(f"session/{session}/heap")
            await other.until(TURNS, 3)
        assert await visit.page.get_attribute("[data-chart=heap]", "data-count") == "2"
        await visit.page.click("[data-action=pause]")
        await visit.until(TURNS, 3)


async def test_it_says_when_the_server_is_gone_and_goes_on_when_it_is_back(browser: Browser, start: Start) -> None:
    async with start() as running:
        context = tab(browser, running)
        visit = await context.__aenter__()
        load, session = await begun(running)
        await visit.open(f"session/{session}/heap")
        await visit.until(LIVE, "live")
    try:
        await visit.until(LIVE, "disconnected")
        assert await visit.page.locator("[data-tile]").count() == 12
        same = lambda host, port, *rest: listen(host, running.port)  # noqa: E731
        with mock.patch.object(server, "listen", same):
            async with start() as again:
                load.running = again
                load.messages += turn(1)
                await load.send()
                await visit.until(LIVE, "live")
                await visit.until(TURNS, 3)
    finally:
        await context.__aexit__(None, None, None)


async def test_pinning_and_letting_go_are_in_the_journal(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)
        await visit.open(f"session/{session}/cells")
        await visit.page.select_option("#filter-tag", "tool_result:read_file")
        cell = int(str(await visit.page.locator("tr[data-cell]").last.get_attribute("data-cell")))
        await visit.page.click(f'tr[data-cell="{cell}"]')
        await visit.page.click("[data-action=pin]")
        await visit.page.wait_for_selector("[data-action=unpin]")
        assert [(entry.cell, entry.pinned) for entry in await on_disk(running, Pin)] == [(cell, True)]
        await visit.page.click("[data-action=unpin]")
        await visit.page.wait_for_selector("[data-action=pin]")
        assert [entry.pinned for entry in await on_disk(running, Pin)] == [True, False]


async def test_recalling_shows_what_was_there_and_leaves_no_trace(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        load, session = await begun(running)
        await visit.open(f"session/{session}/cells")
        await visit.page.select_option("#filter-tag", "tool_result:read_file")
        await visit.page.click("tr[data-cell]")
        await visit.page.click("[data-action=recall]")
        await visit.page.wait_for_selector("dialog [data-text=recalled]")
        assert await visit.text("[data-text=recalled]") == load.messages[-1]["content"]
        assert await on_disk(running, Recall) == []


async def test_a_milestone_is_in_the_journal(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)
        await visit.open(f"session/{session}/heap")
        await visit.page.click("[data-action=milestone-open]")
        await visit.page.click("[data-action=milestone]")
        await visit.page.wait_for_selector("dialog .failed:has-text('Give the sub-task')")
        await visit.page.fill("#milestone-name", "the fault is found")
        await visit.page.keyboard.press("Enter")
        await visit.page.wait_for_selector("dialog .said:has-text('the fault is found')")
        assert [entry.name for entry in await on_disk(running, Milestone)] == ["the fault is found"]
        await visit.page.keyboard.press("Enter")
        await visit.until("() => !document.querySelector('dialog')")
        assert len(await on_disk(running, Milestone)) == 1


async def test_a_pin_is_offered_only_where_it_changes_something(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)
        await visit.open(f"session/{session}/cells")
        said = {}
        for row in await visit.page.locator("tr[data-cell]").all():
            await row.click()
            tag = await row.locator("[data-column=tag]").inner_text()
            await visit.page.wait_for_selector(f'[data-pane="{await row.get_attribute("data-cell")}"]')
            why = visit.page.locator("[data-unpinnable]")
            said[tag] = (await why.inner_text()).split(":")[0] if await why.count() else ""
            assert await visit.page.locator("[data-action=pin]").count() == (not said[tag]), tag
        assert said["user_turn"] == said["agent_reply"] == "Never collected"
        assert said["tool_call:read_file"].startswith("A call is collected")
        assert said["tool_result:read_file"] == ""


async def test_a_pin_that_the_server_refuses_says_why(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)

        async def refuse(route: Route) -> None:
            body = json.dumps(
                {"error": {"message": "cell 1 was collected: recall it instead", "type": "ctxgc_refused"}}
            )
            await route.fulfill(status=409, content_type="application/json", body=body)

        await visit.page.route("**/pin", refuse)
        await visit.open(f"session/{session}/cells")
        await visit.page.select_option("#filter-tag", "tool_result:read_file")
        await visit.page.click("tr[data-cell]")
        await visit.page.click("[data-action=pin]")
        await visit.page.wait_for_selector(".action .error:has-text('recall it instead')")


async def test_without_the_token_nothing_is_shown_or_done(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)
        await visit.page.goto(f"{visit.base}/ctxgc/#/session/{session}/heap")
        await visit.page.wait_for_selector("#token")
        assert await visit.page.locator("[data-tile], [data-session]").count() == 0
        assert session not in await visit.page.content()
        refused = await Visitor(running.port, "").act(f"sessions/{session}/pin", {"cell": 1, "pinned": True})
        assert (refused.status, await on_disk(running, Pin)) == (401, [])
        await visit.page.fill("#token", "wrong")
        await visit.page.click("[data-action=token]")
        await visit.page.wait_for_selector("#token")
        await visit.page.fill("#token", f"{visit.base}/ctxgc/#token={visit.token}")
        await visit.page.click("[data-action=token]")
        await visit.page.wait_for_selector("[data-tile]")


DO = """([url, token, type]) => fetch(url, {method: 'POST', body: JSON.stringify({cell: 1, pinned: true}),
  headers: {Authorization: 'Bearer ' + token, 'Content-Type': type}}).then((one) => one.status, () => 'refused')"""


async def test_a_page_of_another_origin_can_do_nothing_even_with_the_token(browser: Browser, start: Start) -> None:
    async with start() as running, tab(browser, running) as visit:
        _, session = await begun(running)

        async def foreign(route: Route) -> None:
            await route.fulfill(status=200, content_type="text/html", body="<p>elsewhere</p>")

        await visit.page.route("http://elsewhere.test/", foreign)
        await visit.page.goto("http://elsewhere.test/")
        url = f"{visit.base}/ctxgc/api/sessions/{session}/pin"
        for kind in ("application/json", "text/plain"):
            assert await visit.page.evaluate(DO, [url, visit.token, kind]) == "refused"
        visitor = Visitor.of(running)
        answer = await visitor.act(
            f"sessions/{session}/pin", {"cell": 1, "pinned": True}, (JSON, ("Origin", "http://elsewhere.test"))
        )
        assert (answer.status, json.loads(answer.body)["error"]["type"]) == (403, "ctxgc_refused")
        assert await on_disk(running, Pin) == []
        same = await visitor.act(f"sessions/{session}/pin", {"cell": 1, "pinned": True})
        assert same.status in (200, 409)
