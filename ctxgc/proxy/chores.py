"""What a session does when a request has left, and nobody waits for: marking what is new, planning for the next one.
And what telemetry does then: counting the request, and looking for leak suspects now and again.

Rule: a slice at a time, with the session's lock held for that slice only, so that neither an answer's end nor another
stream ever waits for more than a slice. What is not done when the next request comes is done before it is decided.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from time import perf_counter

from ctxgc.core.journal import decode
from ctxgc.lab.suspects import Suspect
from ctxgc.proxy.errands import Errands
from ctxgc.session import Session
from ctxgc.telemetry import Figures
from ctxgc.telemetry.looking import looking

SLICE = 0.002
"""Seconds after which work lets others be served."""


class Chores:
    """The chores of all sessions. ``lock`` gives a session's lock; ``failed`` is told why one could not be done.

    ``figures`` are what counts the requests, if anything does.
    """

    def __init__(
        self,
        lock: Callable[[Session], asyncio.Lock],
        failed: Callable[[str], None],
        figures: Figures | None = None,
    ) -> None:
        self._lock, self._failed, self._figures = lock, failed, figures
        self._looking = asyncio.Lock()
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
                    break
                await asyncio.sleep(0)
        except Exception as error:  # fail open: what was not done now is done with the next request, or not at all
            self._failed(f"fault: {type(error).__name__}")
        if self._figures is not None:
            self._figures.catch_up()
            await self._look(session, self._figures)

    async def _look(self, session: Session, figures: Figures) -> None:
        """Look for leak suspects, if the session has come to a look: one session at a time, in a thread."""
        try:
            look = figures.looks.due(session.state)
            if not look:
                return
            async with self._looking:
                store, key = session.kit.store, session.key
                await asyncio.to_thread(store.flush)  # the end that made the look due may still be on its way to disk
                steps = looking((decode(stored.body) for stored in store.entries(key)), look)
                found: list[Suspect] = []
                slices = _kept(steps, found)
                while await asyncio.to_thread(some, slices):
                    pass
            figures.suspects(key, found)
        except Exception:  # fail open: what is not found now is known at the next look, and not told
            figures.failed()

    async def _slice(self, session: Session) -> bool:
        """Do some; whether there is more."""
        async with self._lock(session):
            return some(session.reflecting())


def _kept(steps: Generator[None, None, Sequence[Suspect]], found: list[Suspect]) -> Generator[None, None, None]:
    """The same slices, with what comes of them."""
    found += yield from steps


def some(steps: Generator[None, None, None]) -> bool:
    """Run slices of work for as long as nobody minds; whether there is more."""
    until = perf_counter() + SLICE
    return any(perf_counter() > until for _ in steps)
