from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.proxy.harness import Running, proxy
from tests.proxy.upstream import Upstream


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as upstream:
        yield upstream


@pytest.fixture
def start(upstream: Upstream, tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Running]]:
    """Start a proxy with settings of the test's own."""
    return partial(proxy, upstream.base, tmp_path / "audit.db")


@pytest.fixture
async def observing(start: Callable[..., AbstractAsyncContextManager[Running]]) -> AsyncIterator[Running]:
    """A proxy that edits nothing."""
    async with start() as running:
        yield running


@pytest.fixture
async def eden(start: Callable[..., AbstractAsyncContextManager[Running]]) -> AsyncIterator[Running]:
    """A proxy that cuts long tool results."""
    async with start(policies=({"name": "truncate", "budget": 64},)) as running:
        yield running
