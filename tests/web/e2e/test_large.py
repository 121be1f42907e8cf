"""A session of 5,000 requests and 20,000 cells: everything of it can be looked at, and the page stays small."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from ctxgc.core.pacer import Pacer
from ctxgc.store import open_store
from ctxgc.web.app import Page
from ctxgc.web.desk import InChild
from ctxgc.web.frames import Terms
from ctxgc.web.serving import base_of, listen, page_server, serving
from tests.web.e2e.large import CELLS, KEY, TURNS, write_long_session
from tests.web.e2e.visit import Visit, visiting

ROUTE = f"session/{KEY.hex()}"
TOKEN = "token-of-the-test"
MOST = 200
"""Rows of a table that may be in the page at once."""


@dataclass(frozen=True)
class Served:
    base: str


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """The page alone, over a store of one long session."""
    url = f"sqlite:///{tmp_path_factory.mktemp('large') / 'audit.db'}"
    store = open_store(url)
    await asyncio.to_thread(write_long_session, store)
    store.close()
    listener = listen("127.0.0.1", 0)
    page = Page(InChild(Terms(url=url, pacer=Pacer())), TOKEN)
    async with serving(page_server(page, "127.0.0.1", ()), listener):
        yield Served(base_of("127.0.0.1", listener))
    await page.close()
    listener.close()


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def tab(browser: Browser, served: Served) -> AsyncIterator[Visit]:
    async with visiting(browser, served.base, TOKEN) as visit:
        yield visit


async def test_its_chart_has_all_turns_in_one_path_for_each_family(tab: Visit) -> None:
    await tab.open(f"{ROUTE}/heap")
    assert await tab.page.get_attribute("[data-chart=heap]", "data-count") == str(TURNS)
    families = await tab.page.locator("tr[data-family]").count()
    for half in ("received", "sent"):
        paths = tab.page.locator(f"[data-half={half}] path[data-family]")
        assert await paths.count() == families == 4
        points = await paths.evaluate_all("(all) => all.map((one) => one.getAttribute('d').split('L').length)")
        assert points == [2 * TURNS] * families
    assert sum(int(one["count"]) for one in await tab.all_data("[data-marks]")) == len(
        [turn for turn in range(40, TURNS) if turn % 10 == 0]
    )


async def test_its_tables_hold_every_row_and_show_a_window_of_them(tab: Visit) -> None:
    await tab.open(f"{ROUTE}/heap")
    assert await tab.page.locator("[data-grid=turns]").get_attribute("data-count") == str(TURNS)
    assert await tab.page.locator("tr[data-turn]").count() < MOST
    await tab.go(f"{ROUTE}/cells")
    assert (await tab.data("[data-found]"))["found"] == str(CELLS)
    for part in (0, 0.31, 0.77, 1):
        scrolled = await tab.page.eval_on_selector("[data-grid=cells]", SCROLL, part)
        assert 0 < scrolled["rows"] < MOST
        assert scrolled["places"] == sorted(scrolled["places"])
        wanted = 2 + round(part * (CELLS - 1))
        assert scrolled["places"][0] - 30 <= wanted <= scrolled["places"][-1] + 30
        assert scrolled["all"] == CELLS + 1


SCROLL = """async (grid, part) => {
  grid.scrollTop = part * (grid.scrollHeight - grid.clientHeight);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const rows = Array.from(grid.querySelectorAll("tr[data-cell]"));
  const all = Number(grid.querySelector("table").ariaRowCount);
  return { rows: rows.length, places: rows.map((row) => Number(row.ariaRowIndex)), all };
}"""


async def test_a_table_without_a_window_is_noticed(tab: Visit) -> None:
    """The control: where a table is as high as all that it holds, its rows are in the page."""
    await tab.open(f"{ROUTE}/cells")
    await tab.page.eval_on_selector(
        "[data-grid=cells]", "(grid) => { grid.style.maxHeight = '20000px'; grid.style.height = '20000px'; }"
    )
    await tab.until("(most) => document.querySelectorAll('tr[data-cell]').length > most", MOST)


async def test_a_cell_of_it_is_found_and_opened(tab: Visit) -> None:
    await tab.open(f"{ROUTE}/cells")
    await tab.page.fill("#filter-text", "c12345")
    await tab.until("() => document.querySelector('[data-found]').dataset.found === '1'")
    await tab.page.click('tr[data-cell="12345"]')
    await tab.page.wait_for_selector('[data-pane="12345"] [data-text=received]')
    assert await tab.text("[data-text=received]") == "step 3086"


async def test_its_other_views_open(tab: Visit) -> None:
    for view in ("diff/2500", "gc", "suspects", "tools", "books"):
        await tab.go(f"{ROUTE}/{view}")
        assert await tab.page.locator("[role=alert]").count() == 0
    assert tab.errors == []
