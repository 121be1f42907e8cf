"""Work in slices on the event loop: a long piece of it lets others be served in between.

Rule: whoever waits for the work gets its result as if it had been done at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from time import perf_counter
from typing import TypeVar

from ctxgc.proxy.chores import SLICE

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
