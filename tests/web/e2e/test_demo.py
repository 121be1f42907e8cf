"""The demo's two sessions on the page: what leaks in the one without ctxgc, and the picture that the README shows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from ctxgc.core.journal import decode
from ctxgc.demo.run import run_demo
from ctxgc.demo.untouched import keep_untouched
from ctxgc.store import open_store
from ctxgc.web.app import Page
from ctxgc.web.desk import InChild
from ctxgc.web.frames import Terms
from ctxgc.web.serving import base_of, listen, page_server, serving
from tests.web.e2e import shown_more
from tests.web.e2e.truth import Truth
from tests.web.e2e.visit import differing, visiting

PICTURE = Path(__file__).parents[3] / "dashboards" / "page.png"
LARGEST = 300_000
"""Bytes of the picture."""
CLIP = {"x": 0, "y": 0, "width": 1280, "height": 1040}


@dataclass(frozen=True)
class Demo:
    """Its page, and the keys of its sessions."""

    base: str
    url: str
    untouched: bytes
    collected: bytes


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    url = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'ctxgc.db'}"
    untouched = await asyncio.to_thread(keep_untouched, await run_demo("gpt-5", url))
    store = open_store(url, read_only=True)
    (collected,) = (row.key for row in store.sessions() if row.key != untouched)
    store.close()
    listener, page = listen("127.0.0.1", 0), Page(InChild(Terms(url=url)), "token")
    async with serving(page_server(page, "127.0.0.1", ()), listener):
        yield Demo(base_of("127.0.0.1", listener), url, untouched, collected)
    await page.close()
    listener.close()


async def test_what_leaks_is_shown_with_its_figures(browser: Browser, demo: Demo) -> None:
    store = open_store(demo.url, read_only=True)
    truth = Truth([decode(found.body) for found in store.entries(demo.untouched)])
    store.close()
    async with visiting(browser, demo.base, "token") as visit:
        await visit.open(f"session/{demo.untouched.hex()}/suspects")
        found = await shown_more.suspects(visit)
    assert len({name.split(".")[0] for name in found}) >= 3
    assert differing(found, shown_more.true_suspects(truth)) == {}


async def test_the_picture_of_the_demo(browser: Browser, demo: Demo, tmp_path: Path) -> None:
    """TESTS_SCREENSHOTS=1 puts it where the README shows it."""
    async with visiting(browser, demo.base, "token", color_scheme="light") as visit:
        await visit.open(f"session/{demo.collected.hex()}/heap")
        await visit.until("() => document.querySelector('[data-live]').dataset.live === 'live'")
        picture = await visit.page.screenshot(path=tmp_path / "page.png", clip=CLIP, full_page=True)
    assert 20_000 < len(picture) < LARGEST
    if os.environ.get("TESTS_SCREENSHOTS"):
        PICTURE.write_bytes(picture)
