"""Nothing is wider than the screen, however narrow that is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.e2e.conftest import World
from tests.web.e2e.places import each, places
from tests.web.e2e.visit import DESKTOP, PHONE, Visit

TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("size", [PHONE, {"width": 320, "height": 640}, DESKTOP], ids=["phone", "small", "desktop"])
async def test_no_view_scrolls_sideways(visit: Visit, world: World, size: Any) -> None:
    await visit.page.set_viewport_size(size)
    await visit.open()
    async for route in each(visit, places(world.session)):
        assert await visit.page.evaluate(TOO_WIDE) == 0, route


async def test_what_is_too_wide_is_noticed(visit: Visit) -> None:
    """The control."""
    await visit.page.set_viewport_size(PHONE)
    await visit.open()
    await visit.page.evaluate("() => { document.querySelector('h1').style.width = '500px'; }")
    assert await visit.page.evaluate(TOO_WIDE) > 0
