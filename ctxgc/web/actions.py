"""What the page may do to a running session: pin, let go, recall, declare done.

Rule: a session is acted on with its lock held, as its own requests are, and by nobody but a holder of the page's token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ctxgc.errors import UnknownHandle
from ctxgc.session import Session, Sessions
from ctxgc.session.pinning import CannotPin
from ctxgc.store import StoreError

LOST = "the session's journal has lost an entry, and is read anew with its next request: say it again then"
"""Why nothing is done to a session that must be restored first."""
PATIENCE = 5.0
"""Seconds that an action waits for the disk."""


class Refused(Exception):
    """Why something is not done, and the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Actions:
    """Acts on the sessions in memory. ``lock`` gives a session's lock; ``milestone`` ends a period under a name, and
    says why not (empty: it is done)."""

    sessions: Sessions
    lock: Callable[[Session], asyncio.Lock]
    milestone: Callable[[Session, str], Awaitable[str]]

    def live(self) -> tuple[str, ...]:
        """The ids of the sessions in memory."""
        return tuple(session.key.hex() for session in self.sessions if not session.broken)

    async def pin(self, wanted: str, cell: int, pinned: bool) -> str:
        """Pin a cell or let go of it; what was done. Raises ``Refused``."""
        async with self._held(wanted) as session:
            try:
                written = session.pin(cell, pinned)
            except CannotPin as error:
                raise Refused(409, str(error)) from None
            shortened = cell in session.state.edits
        word = "pinned" if pinned else "let go of"
        if written is None:
            return f"cell {cell} was {word} before"
        await _on_disk(session, written)
        return f"cell {cell} is {word}" + (", as it is sent now: shortened" if pinned and shortened else "")

    async def recall(self, wanted: str, handle: str) -> str:
        """The content behind a handle. Whoever reads it on the page is no agent that needs it: nothing is booked.
        Raises ``Refused``."""
        async with self._held(wanted) as session:
            try:
                return session.recall(handle, by="")
            except UnknownHandle as error:
                raise Refused(404, str(error)) from None
            except StoreError as error:
                raise Refused(503, str(error)) from None

    async def done(self, wanted: str, name: str) -> str:
        """A sub-task is done; what that came to. Raises ``Refused``."""
        fault = await self.milestone(self._session(wanted), name)
        if fault:
            raise Refused(409, fault)
        return f"{name}: noted as done"

    def _session(self, wanted: str) -> Session:
        found = next((session for session in self.sessions if session.key.hex() == wanted), None)
        if found is None:
            raise Refused(409, "that session is not in memory: it can be acted on when its agent goes on")
        return found

    @asynccontextmanager
    async def _held(self, wanted: str) -> AsyncIterator[Session]:
        """The session with its lock held: the one that is in memory then. Who waits may find another in its place."""
        while True:
            session = self._session(wanted)
            async with self.lock(session):
                if self._session(wanted) is not session:
                    continue
                if session.broken:
                    raise Refused(409, LOST)
                yield session
                return


async def _on_disk(session: Session, written: Future[None]) -> None:
    try:
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(written)), PATIENCE)
    except Exception:  # of the store, or of waiting for it
        if session.broken:  # somebody else wrote into it: what is written behind that is not taken
            raise Refused(409, LOST) from None
        # the journal keeps it, and tries again
        raise Refused(503, "it is done, but not on disk yet: the store does not take it") from None
