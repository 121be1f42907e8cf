"""Errands of the proxy: a model asked for its part of a record, a period closed, each in a thread beside the streams.

Rule: nothing waits for them, not even the proxy's end; few models are asked at a time; keys are kept in memory only.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import nullcontext
from weakref import WeakKeyDictionary

from ctxgc.session import Session
from ctxgc.session.errands import NOBODY, Access, Errand, Ran, Writing, done, undone

AT_ONCE = 4
"""Models that are asked at the same time."""


class Errands:
    """The errands of all sessions. ``lock`` gives a session's lock, ``planned`` has it plan anew, ``failed`` is told
    why one could not be done."""

    def __init__(
        self,
        lock: Callable[[Session], asyncio.Lock],
        planned: Callable[[Session], None],
        failed: Callable[[str], None],
    ) -> None:
        self._lock, self._planned, self._failed = lock, planned, failed
        self._access: WeakKeyDictionary[Session, Access] = WeakKeyDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(AT_ONCE)

    def reach(self, session: Session, access: Access) -> None:
        """Note where a session's own model is asked: where its newest request went, and with the same key."""
        self._access[session] = access

    def run(self, session: Session) -> None:
        """Have what a session has to be run be run from now on."""
        for errand in session.errands():
            task = asyncio.ensure_future(self._do(session, errand))
            self._tasks.add(task)  # the loop itself would not keep it
            task.add_done_callback(self._tasks.discard)

    async def _do(self, session: Session, errand: Errand) -> None:
        try:
            async with self._room if isinstance(errand, Writing) else nullcontext():  # only models are slow
                ran = await in_thread(errand, self._access.get(session, NOBODY))
            await self.book(session, ran)
        except Exception as error:  # fail open: a record, or a period, does without
            self._failed(f"fault: {type(error).__name__}")

    async def book(self, session: Session, ran: Ran) -> bool:
        """Book what came of an errand, and have the session plan by it; whether that could be done."""
        async with self._lock(session):
            if session.broken:  # it was restored meanwhile, and knows nothing of this
                return False
            session.ran(ran)
        self._planned(session)
        return True


async def in_thread(errand: Errand, access: Access) -> Ran:
    """Run an errand in a thread that does not hold up the end of the process."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Ran] = loop.create_future()

    def finish(ran: Ran) -> None:
        if not result.done():
            result.set_result(ran)

    def work() -> None:
        ran = done(errand, access)
        try:
            loop.call_soon_threadsafe(finish, ran)
        except RuntimeError:  # the proxy has ended meanwhile
            pass

    try:
        threading.Thread(target=work, daemon=True, name="ctxgc-errand").start()
    except RuntimeError as error:  # there can be no more threads
        return undone(errand, f"errand not begun: {type(error).__name__}")
    return await result
