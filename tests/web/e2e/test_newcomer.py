"""Somebody who sees the page for the first time: words are whole, nothing leads astray, and every place opens on
something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.web.e2e.conftest import World
from tests.web.e2e.places import each, places, report
from tests.web.e2e.visit import PHONE, Visit, falsified

CUT_OFF = """() => Array.from(document.querySelectorAll("[role=grid] th"))
  .map((head) => [head, head.querySelector("button") || head])
  .filter(([head, name]) => name.scrollWidth > name.clientWidth + 1 ||
    name.getBoundingClientRect().right > head.getBoundingClientRect().right).map(([head]) => head.textContent)"""
"""The column heads that are not shown whole."""
IN_SIGHT = """([grid, row]) => {
  const found = [document.querySelector(grid), document.querySelector(row)];
  const [box, one] = found.map((it) => it && it.getBoundingClientRect());
  return Boolean(one) && one.top >= box.top && one.bottom <= box.bottom;
}"""
RIGHT = (
    """(column) => document.querySelector(`[data-grid=gc] td[data-column=${column}]`).getBoundingClientRect().right"""
)
TOP = "(of) => document.querySelector(of).getBoundingClientRect().top"


async def test_every_column_has_its_whole_name(visit: Visit, world: World) -> None:
    await visit.open()
    async for route in each(visit, places(world.session)):
        assert await visit.page.evaluate(CUT_OFF) == [], route


async def test_a_name_that_does_not_fit_is_noticed(visit: Visit, world: World) -> None:
    """The control."""
    await visit.open(f"session/{world.session}/cells")
    await visit.page.evaluate(
        "() => { document.querySelector('[data-sort=sent_turns]').textContent += ' and more words'; }"
    )
    assert len(await visit.page.evaluate(CUT_OFF)) == 1


async def test_the_chart_is_above_the_fold(visit: Visit, session: Any) -> None:
    await visit.page.set_viewport_size({"width": 1280, "height": 800})
    await visit.open(session("heap"))
    assert (
        await visit.page.evaluate("() => document.querySelector('[data-chart=heap]').getBoundingClientRect().bottom")
        < 800
    )
    first = await visit.page.locator("[data-tile]").first.get_attribute("data-tile")
    assert first == "net"


async def test_a_tile_says_what_it_is_about_when_asked(visit: Visit, session: Any) -> None:
    await visit.open(session("heap"))
    assert not await visit.page.locator("[data-tile=net] .says").is_visible()
    await visit.page.focus("[data-tile=net] summary")
    await visit.page.keyboard.press("Enter")
    await visit.page.locator("[data-tile=net] .says").wait_for(state="visible")


async def test_what_was_predicted_and_billed_is_on_the_screen(visit: Visit, session: Any) -> None:
    await visit.open(session("gc"))
    for column in ("predicted", "billed"):
        assert await visit.page.evaluate(RIGHT, column) <= 1280 - 16, column


async def test_the_address_of_a_cell_leads_to_its_row(visit: Visit, world: World, session: Any) -> None:
    await visit.open(session("cells"))
    held = (await visit.data("[data-found]"))["found"]
    last = int(held) - 1
    await visit.open(session("cells", last))
    row = f'tr[data-cell="{last}"][aria-selected="true"]'
    await visit.until(IN_SIGHT, ["[data-grid=cells]", row])


async def test_on_a_phone_a_chosen_cell_comes_into_sight(visit: Visit, session: Any) -> None:
    await visit.page.set_viewport_size(PHONE)
    await visit.open(session("cells"))
    await visit.page.locator("tr[data-cell]").nth(3).click()
    await visit.until(f"() => ({TOP})('[data-pane]') < innerHeight / 3")


async def test_on_a_phone_the_list_begins_with_what_matters(visit: Visit) -> None:
    await visit.page.set_viewport_size(PHONE)
    await visit.open()
    for column in ("net", "suspects"):
        box = await visit.page.locator(f"tr[data-session] td[data-column={column}]").first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390, column


async def test_a_suspect_leads_to_its_cells_and_its_setting_is_shown_once(visit: Visit, world: World) -> None:
    setting = 'policy = "generational"'

    def suspect(number: int, subject: str) -> dict[str, Any]:
        told = {"rule": "reread", "figure": 9, "share": 0.1, "action": "Do.", "setting": setting}
        return {**told, "subject": subject, "sentence": f"Suspect {number} (10% of all tokens sent)."}

    def change(document: Any) -> None:
        document["suspects"] = [suspect(1, document["by_site"][0]["name"]), suspect(2, "the session")]

    await falsified(visit, f"sessions/{world.session}", change)
    await visit.open(f"session/{world.session}/suspects")
    assert "do not add up" in await visit.text("[data-view]")
    (group,) = await visit.all_data("[data-setting]")
    assert group == {"setting": setting, "against": "2"}
    assert await visit.page.locator("[data-action=copy]").count() == 1
    await visit.page.click("[data-action=copy]")
    await visit.until("() => /copied|press/.test(document.querySelector('.copyable .said').textContent)")
    await visit.page.click("[data-suspect] [data-cells-of]")
    await visit.page.wait_for_selector("[data-found]")
    found = await visit.data("[data-found]")
    assert 0 < int(found["found"]) == await visit.page.locator("tr[data-cell]").count()


async def test_a_tool_of_ctxgc_that_nobody_needed_is_no_leak(visit: Visit, world: World) -> None:
    def change(document: Any) -> None:
        for tool in document["tools"]:
            tool["calls"] = 0

    await falsified(visit, f"sessions/{world.session}", change)
    await visit.open(f"session/{world.session}/tools")
    rows = await visit.grid("tools", "tool")
    said = {name: columns["calls"] for name, columns in rows.items()}
    assert said.pop("ctxgc_recall") == "not needed yet"
    assert set(said.values()) == {"never called"}


async def test_where_nothing_was_collected_or_booked_the_page_says_so(visit: Visit, world: World) -> None:
    def bare(document: Any) -> None:
        document.update(collections=[], live=False)

    await falsified(visit, f"sessions/{world.other}", bare)
    await visit.open(f"session/{world.other}/gc")
    assert await visit.text("[data-empty]") == "Nothing was collected in this session."
    await visit.go(f"session/{world.other}/books")
    assert "it begins with the first milestone, fact or voucher" in await visit.text("[data-empty]")


@pytest.mark.parametrize("route", ["diff/999", "diff/24/999"])
async def test_a_turn_that_is_not_there_is_named(visit: Visit, session: Any, route: str) -> None:
    await visit.open(session(*route.split("/")))
    assert await visit.text("[data-refused]") == "There is no turn 999: there are 38 turns."


async def test_a_turn_that_is_not_there_is_refused_in_the_field(visit: Visit, session: Any) -> None:
    await visit.open(session("diff", 24))
    await visit.page.fill("#diff-turn", "61")
    await visit.page.keyboard.press("Enter")
    await visit.until("() => document.querySelector('[data-refused]').textContent.includes('no turn 61')")
    assert (await visit.data("[data-diff]"))["diff"] == "24"
    await visit.page.fill("#diff-turn", "23")
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector('[data-diff="23"]')
    assert await visit.text("[data-refused]") == ""


async def test_a_report_of_one_session_opens_on_it_and_on_a_diff_that_it_holds(
    visit: Visit, world: World, tmp_path: Path
) -> None:
    await visit.page.goto(report(world.running.store.inner, [world.session], tmp_path / "one.html"))
    await visit.page.wait_for_selector(f'[data-view=heap][data-session="{world.session}"]')
    await visit.go(f"session/{world.session}/diff")
    assert await visit.page.locator("[data-diff]").count() == 1


async def test_a_report_of_two_sessions_opens_on_the_list(visit: Visit, world: World, tmp_path: Path) -> None:
    """The control."""
    url = report(world.running.store.inner, [world.session, world.other], tmp_path / "two.html")
    await visit.page.goto(url)
    await visit.page.wait_for_selector("[data-view=sessions]")
