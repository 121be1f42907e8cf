"""Booking what becomes of requests, beside the streams: one lock for each session, and nothing that fails reaches them.

Rule: fail open. What cannot be booked was sent all the same, and is answered; the figures count it.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from time import perf_counter
from weakref import WeakKeyDictionary

from ctxgc.proxy.chores import Chores
from ctxgc.proxy.errands import in_thread
from ctxgc.proxy.relay import Relayed
from ctxgc.proxy.slices import in_slices, in_time
from ctxgc.proxy.tickets import Ticket, settlement
from ctxgc.session import Session, Sessions
from ctxgc.session.errands import NOBODY
from ctxgc.session.recalling import Refused
from ctxgc.telemetry import Figures
from ctxgc.telemetry.otel import Tracer
from ctxgc.web.actions import LOST
from ctxgc.wire.codec import Asking


class Unrecorded(Exception):
    """The intent of a request is not on disk, and must be."""


class Bookings:
    """Books requests. ``chores`` are what sessions do when a request has left."""

    def __init__(self, sessions: Sessions, figures: Figures, tracer: Tracer) -> None:
        self._sessions, self._figures, self._tracer = sessions, figures, tracer
        self._tasks: set[asyncio.Future[None]] = set()
        self._locks: WeakKeyDictionary[Session, asyncio.Lock] = WeakKeyDictionary()
        self.chores = Chores(self.lock, self.failed, figures)

    def lock(self, session: Session) -> asyncio.Lock:
        """The lock that whoever uses a session holds."""
        return self._locks.setdefault(session, asyncio.Lock())

    def failed(self, reason: str) -> None:
        """Something went on without us, and no journal says so."""
        self._figures.bypassed(reason)
        self._tracer.failed_open(reason)

    def started(self, ticket: Ticket) -> None:
        """A request, or a round of one, is on its way."""
        self._figures.request_started(ticket.prepared.call, ticket.trail.trace, ticket.session.state)

    def soon(self, ticket: Ticket) -> None:
        """Book a request while the upstream thinks."""
        task = asyncio.ensure_future(self._while_it_thinks(ticket))
        self._tasks.add(task)  # the loop itself would not keep it
        task.add_done_callback(self._tasks.discard)

    async def _while_it_thinks(self, ticket: Ticket) -> None:
        await self.admit(ticket)
        self.chores.soon(ticket.session)

    async def admit(self, ticket: Ticket) -> None:
        """Book all that a session has prepared."""
        try:
            async with self.lock(ticket.session):
                await in_slices(ticket.session.admitting())
        except Exception as error:  # fail open: what cannot be booked was sent all the same
            self.failed(f"fault: {type(error).__name__}")

    async def intent(self, ticket: Ticket) -> bool:
        """Whether the intent of a request is on disk."""
        await self.admit(ticket)
        durable = ticket.session.durable(ticket.prepared.call)
        return durable is not None and await in_time(durable)

    async def settle(
        self, ticket: Ticket, relayed: Relayed | None, unanswered: str, asking: Asking | None = None
    ) -> None:
        """Book how it ended, and wait until it is on disk. ``unanswered`` says how, if its end was never relayed."""
        async with self.lock(ticket.session):
            on_disk = self._book(ticket, relayed, unanswered, asking)
        if on_disk:
            await in_time(on_disk)

    def _book(
        self,
        ticket: Ticket,
        relayed: Relayed | None,
        unanswered: str = "",
        asking: Asking | None = None,
        *,
        limited: bool = False,
    ) -> Future[None] | None:
        """Book how it ended, and the recalls in it; None where that failed. Whoever calls holds the session's lock.

        The body of an error is not kept: some upstreams repeat the key in it.
        """
        booked = settlement(ticket, relayed, unanswered, self._sessions.kit.clock())
        reply = relayed.copy if relayed and ticket.status < 400 else b""
        ticket.settled = True
        asking = asking or ticket.taken_back()
        if relayed:
            ticket.trail.replied(relayed.reply)
        try:
            if isinstance(asking, Refused):  # what followed it meanwhile has it in its bytes
                ticket.session.tracks.clear()
            return ticket.session.settle(booked, reply, asking, limited=limited)
        except Exception as error:  # fail open: what cannot be booked is answered all the same
            self.failed(f"fault: {type(error).__name__}")
            return None
        finally:
            self._figures.request_ended(ticket.prepared.call)

    async def further(self, ticket: Ticket, relayed: Relayed | None, asking: Asking, limited: bool) -> bool:
        """Book a round, with the answers to its recalls, and prepare the next; whether that could be done."""
        began, again = perf_counter(), not isinstance(asking, Refused)
        carries = Refused(asking.message, asking.uses, asking.alone, ticket.prepared.call, again)
        await self.intent(ticket)  # what is asked for may be what came with this request
        async with self.lock(ticket.session):
            if not ticket.session.answerable(ticket.prepared.call):
                return False
            if self._book(ticket, relayed, asking=asking, limited=limited) is None:
                return False
            prepared = await in_slices(ticket.session.preparing(ticket.original, again=True))
        ticket.renew(prepared, perf_counter() - began, carries)
        ticket.trail.prepared(prepared.call, ticket.session.key, ticket.overhead)
        self.started(ticket)
        return True

    async def go_plain(self, ticket: Ticket) -> None:
        """The provider refused what we made of a request: its session's requests go as they come from now on."""
        try:
            async with self.lock(ticket.session):
                ticket.session.go_plain(ticket.prepared.call, "refused: the provider found an edited request not valid")
        except Exception as error:  # fail open
            self.failed(f"fault: {type(error).__name__}")

    async def milestone(self, session: Session, name: str) -> str:
        """A sub-task of a session is done; why its period could not be closed (empty: it is)."""
        async with self.lock(session):
            if session.broken:
                return LOST
            closing = session.closing(name)
        ran = await in_thread(closing, NOBODY)
        booked = await self.chores.errands.book(session, ran)
        return ran.fault if booked else LOST
