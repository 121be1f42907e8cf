"""Nothing leaves the machine: the page asks its own server only, and a report asks nobody."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from tests.web.e2e.conftest import World
from tests.web.e2e.places import each, places, report
from tests.web.e2e.visit import Visit


async def test_the_page_asks_its_own_server_only(visit: Visit, world: World) -> None:
    await visit.open()
    async for _ in each(visit, places(world.session)):
        pass
    assert visit.elsewhere == []
    assert {urlsplit(url).netloc for url in visit.asked} == {f"127.0.0.1:{world.running.port}"}
    assert {urlsplit(url).path.split("/")[1] for url in visit.asked} == {"ctxgc"}
    assert [visit.errors, visit.dialogs, await visit.violations()] == [[], [], []]


async def test_the_token_is_neither_sent_in_an_address_nor_left_in_it(visit: Visit, world: World) -> None:
    await visit.open(f"session/{world.session}/heap")
    assert [url for url in visit.asked if world.token in url.partition("#")[0]] == []
    assert world.token not in visit.page.url
    await visit.page.reload()
    await visit.settled()
    assert await visit.page.locator("[data-tile]").count() == 12


async def test_a_report_asks_nobody(visit: Visit, world: World, tmp_path: Path) -> None:
    url = report(world.running.store.inner, [world.session, world.other], tmp_path / "report.html")
    await visit.page.goto(url)
    async for _ in each(visit, places(world.session)):
        pass
    assert visit.asked == [url]
    assert [visit.errors, visit.dialogs, await visit.violations()] == [[], [], []]


async def test_a_request_to_another_machine_is_noticed(visit: Visit, world: World) -> None:
    """The control. The page's own policy refuses it before it is made; without the page there is none."""
    await visit.open()
    ask = "(url) => fetch(url).then(() => true, () => false)"
    assert not await visit.page.evaluate(ask, "http://ctxgc.invalid/")
    assert any("connect-src" in one for one in await visit.violations())
    await visit.page.goto("about:blank")
    assert not await visit.page.evaluate(ask, "http://ctxgc.invalid/")
    assert visit.elsewhere == ["http://ctxgc.invalid/"]
