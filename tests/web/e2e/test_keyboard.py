"""With the keyboard alone: every control of every view is reached, is seen to have the focus, and does what it says."""

from __future__ import annotations

from typing import Any

from tests.web.e2e.conftest import World
from tests.web.e2e.places import each, places
from tests.web.e2e.visit import Visit

START = """() => {
  document.body.tabIndex = -1;
  document.body.focus(); // from here on, Tab begins at the top
  document.body.removeAttribute("tabindex");
  window.__stops = new Set();
}"""
CONTROLS = """Array.from(document.querySelectorAll("a[href], button, summary, input, select, textarea, [tabindex='0']"))
  .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !(one.type === "radio" && !one.checked))"""
"""All that takes the focus; of radio buttons that belong together, the one that is chosen."""
STOP = """() => {
  const one = document.activeElement;
  if (one === document.body || window.__stops.has(one)) return null;
  window.__stops.add(one);
  const style = getComputedStyle(one);
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const box = one.getBoundingClientRect();
  const seen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  return { name: one.tagName + (one.id && "#" + one.id) + " " + one.textContent.trim().slice(0, 30), ring, seen };
}"""
MISSED = f"() => {CONTROLS}.filter((one) => !window.__stops.has(one)).map((one) => one.outerHTML.slice(0, 120))"


async def walk(visit: Visit) -> tuple[list[dict[str, Any]], list[str]]:
    """Press Tab from the top until the focus leaves the page or comes back: the stops, and what was not reached."""
    await visit.page.evaluate(START)
    most = int(await visit.page.evaluate(f"{CONTROLS}.length")) + 5
    stops: list[dict[str, Any]] = []
    while len(stops) <= most:
        await visit.page.keyboard.press("Tab")
        stop = await visit.page.evaluate(STOP)
        if stop is None:
            break
        stops.append(stop)
    return stops, await visit.page.evaluate(MISSED)


async def test_tab_reaches_every_control_of_every_view_and_each_is_seen(visit: Visit, world: World) -> None:
    await visit.open()
    async for route in each(visit, places(world.session)):
        stops, missed = await walk(visit)
        assert missed == [], route
        assert [stop for stop in stops if not (stop["ring"] and stop["seen"])] == [], route


async def test_a_control_without_a_ring_or_out_of_reach_is_noticed(visit: Visit, world: World) -> None:
    """The control: one control takes no focus by Tab, another shows none."""
    await visit.open(f"session/{world.session}/cells")
    await visit.page.evaluate(
        "() => document.querySelector('#filter-text').style.setProperty('outline', 'none', 'important')"
    )
    trap = "(event) => event.key === 'Tab' && event.preventDefault()"
    stops, missed = await walk(visit)
    assert [stop["name"] for stop in stops if not stop["ring"]] == ["INPUT#filter-text "]
    await visit.page.evaluate(f"() => document.querySelector('#filter-text').addEventListener('keydown', {trap})")
    stops, missed = await walk(visit)
    assert missed != []


async def test_the_chart_is_moved_by_arrows_and_opens_a_diff(visit: Visit, world: World) -> None:
    await visit.open(f"session/{world.session}/heap")
    chart = visit.page.locator("[data-chart=heap]")
    await chart.focus()
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "PageDown"):
        await visit.page.keyboard.press(key)
        seen.append(await chart.get_attribute("aria-valuenow"))
    assert seen == ["1", "2", "3", "2", "38", "36"]
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector('[data-diff="36"]')


async def test_a_table_is_sorted_and_a_cell_opened_by_enter(visit: Visit, world: World) -> None:
    await visit.open(f"session/{world.session}/cells")
    await visit.page.focus('[data-sort="tokens"]')
    await visit.page.keyboard.press("Enter")
    head = visit.page.locator("th", has=visit.page.locator('[data-sort="tokens"]'))
    assert await head.get_attribute("aria-sort") == "descending"
    tokens = await visit.page.locator("tr[data-cell] td[data-column=tokens]").all_inner_texts()
    figures = [int(text.replace(",", "")) for text in tokens]
    assert figures == sorted(figures, reverse=True)
    await visit.page.focus("[data-grid=cells] table")
    await visit.page.keyboard.press("ArrowDown")
    await visit.page.keyboard.press("ArrowDown")
    second = await visit.page.locator("tr[data-cell]").nth(1).get_attribute("data-cell")
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector(f'[data-pane="{second}"]')


async def test_a_dialog_closes_by_escape_and_gives_the_focus_back(visit: Visit, world: World) -> None:
    await visit.open(f"session/{world.session}/heap")
    await visit.page.focus("[data-action=milestone-open]")
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector("dialog[open]")
    inside = "() => [document.body, ...document.querySelectorAll('dialog *')].includes(document.activeElement)"
    for _ in range(6):
        await visit.page.keyboard.press("Tab")
        assert await visit.page.evaluate(inside)
    await visit.page.keyboard.press("Escape")
    await visit.until("() => !document.querySelector('dialog')")
    assert await visit.page.evaluate("document.activeElement.dataset.action") == "milestone-open"
