"""What a session does when a request has left, and nobody waits for: marking what is new, planning for the next one.

Rule: a slice at a time, with the session's lock held for that slice only, so that neither an answer's end nor another
stream ever waits for more than a slice. What is not done when the next request comes is done before it is decided.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from time import perf_counter

from ctxgc.proxy.errands import Errands
from ctxgc.session import Session

SLICE = 0.002
"""Seconds after which work lets others be served."""


class Chores:
    """The chores of all sessions. ``lock`` gives a session's lock; ``failed`` is told why one could not be done."""

    def __init__(self, lock: Callable[[Session], asyncio.Lock], failed: Callable[[str], None]) -> None:
        self._lock, self._failed = lock, failed
        self.errands = Errands(lock, self.soon, failed)
        self._tasks: set[asyncio.Future[None]] = set()

    def soon(self, session: Session) -> None:
        """Have a session's chores done from now on, beside everything else."""
        task = asyncio.ensure_future(self._do(session))
        self._tasks.add(task)  # the loop itself would not keep it
        task.add_done_callback(self._tasks.discard)

    async def _do(self, session: Session) -> None:
        try:
            while True:
                if not await self._slice(session):
                    self.errands.run(session)
                    return
                await asyncio.sleep(0)
        except Exception as error:  # fail open: what was not done now is done with the next request, or not at all
            self._failed(f"fault: {type(error).__name__}")

    async def _slice(self, session: Session) -> bool:
        """Do some; whether there is more."""
        async with self._lock(session):
            return some(session.reflecting())


def some(steps: Generator[None, None, None]) -> bool:
    """Run slices of work for as long as nobody minds; whether there is more."""
    until = perf_counter() + SLICE
    return any(perf_counter() > until for _ in steps)
