"""A browser for all tests of this folder, and a store behind a running proxy to look at."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from ctxgc.web.token import token_of
from tests.proxy.harness import Running, proxy
from tests.proxy.upstream import Upstream
from tests.web.e2e.load import HELPER, SETTINGS, Load, Model, books
from tests.web.e2e.visit import Visit, visiting

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here share one event loop: that of the browser."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def browser() -> AsyncIterator[Browser]:
    if not CHROMIUM and not os.environ.get("CI"):
        pytest.skip("there is no chromium on this machine")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM or None, args=["--no-sandbox"])
        yield launched
        await launched.close()


@dataclass(frozen=True)
class World:
    """A proxy through which a load has gone. ``session`` and ``other`` are the ids of its two sessions."""

    running: Running
    session: str
    other: str

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.running.port}"

    @property
    def token(self) -> str:
        return token_of(self.running.store.inner.secret)


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A load that is over: nothing changes any more."""
    async with Upstream() as upstream:
        model = Model(upstream)
        async with proxy(upstream.base, tmp_path_factory.mktemp("page") / "audit.db", **SETTINGS) as running:
            yield await _loaded(running, model)


async def _loaded(running: Running, model: Model) -> World:
    other = Load(running, model, header=HELPER)
    await other.play(3)
    main = Load(running, model)
    await main.play()
    helper, agent = (key.hex() for key in await main.keys())
    books(running, agent)
    await asyncio.to_thread(running.store.inner.flush)
    return World(running, agent, helper)


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, world: World) -> AsyncIterator[Visit]:
    """A tab that is not on the page yet."""
    async with visiting(browser, world.base, world.token) as visit:
        yield visit


@pytest.fixture
def session(world: World) -> Callable[..., str]:
    """The route to a view of the session."""
    return lambda *parts: "/".join(("session", world.session, *map(str, parts)))
