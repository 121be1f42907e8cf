"""Whoever does not see the page, or has no mouse, can use it: axe finds nothing, and the keyboard gets everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.web.e2e.conftest import World
from tests.web.e2e.places import each, places, report
from tests.web.e2e.visit import DESKTOP, PHONE, Visit

MODULES = Path(os.environ.get("TESTS_NODE_MODULES") or Path(__file__).parents[3] / ".node" / "node_modules")
AXE = MODULES / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (rules) => (await axe.run(document, {runOnly: rules, resultTypes: ["violations"]})).violations.map(
  (one) =>  one.id + ": " + one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; "))"""
UNNAMED = "() => document.querySelector('label[for=filter-tag]').remove()"


@pytest.fixture
def axe() -> str:
    if not AXE.exists() and not os.environ.get("CI"):
        pytest.skip("axe-core is not installed (npm install --prefix .node axe-core)")
    return AXE.read_text(encoding="utf-8")


async def violations(visit: Visit, axe: str, routes: Iterable[str]) -> dict[str, list[str]]:
    """What axe finds at each place."""
    await visit.page.evaluate(axe)  # not subject to the page's policy
    found = {route: await visit.page.evaluate(RUN, RULES) async for route in each(visit, tuple(routes))}
    return {route: listed for route, listed in found.items() if listed}


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(visit: Visit, world: World, axe: str, scheme: Any, size: Any) -> None:
    await visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    await visit.page.set_viewport_size(size)
    await visit.open()
    assert await violations(visit, axe, places(world.session)) == {}


async def test_axe_finds_nothing_in_a_report(visit: Visit, world: World, axe: str, tmp_path: Path) -> None:
    await visit.page.goto(report(world.running.store.inner, [world.session], tmp_path / "report.html"))
    assert await violations(visit, axe, places(world.session)) == {}


async def test_axe_finds_nothing_where_the_page_is_locked(visit: Visit, axe: str) -> None:
    await visit.page.goto(f"{visit.base}/ctxgc/")
    await visit.page.wait_for_selector("#token")
    await visit.page.evaluate(axe)
    assert await visit.page.evaluate(RUN, RULES) == []


async def test_a_field_that_lost_its_label_is_found(visit: Visit, world: World, axe: str) -> None:
    """The control."""
    await visit.open(f"session/{world.session}/cells")
    await visit.page.evaluate(axe)
    await visit.page.evaluate(UNNAMED)
    assert any(one.startswith("select-name") for one in await visit.page.evaluate(RUN, RULES))
