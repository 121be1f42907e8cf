"""Work in slices on the event loop, and waiting with a bound: a long piece of work lets others be served in between.

Rule: whoever waits for the work gets its result as if it had been done at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import Future
from time import perf_counter
from typing import TypeVar

from ctxgc.proxy.chores import SLICE

PATIENCE = 10.0
"""Seconds that the end of an answer waits for a store that does not answer."""

T = TypeVar("T")


async def in_slices(steps: Generator[None, None, T]) -> T:
    """Run slices of work, and let others be served whenever they have taken long enough."""
    until = perf_counter() + SLICE
    try:
        while True:
            next(steps)
            if perf_counter() > until:
                await asyncio.sleep(0)
                until = perf_counter() + SLICE
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def in_time(future: Future[None]) -> bool:
    """Whether a write came to disk. A store that is slow or failing does not hold an answer for ever."""
    try:
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), PATIENCE)
    except Exception:  # the journal keeps what was not stored, and says later how much was late
        return False
    return True
