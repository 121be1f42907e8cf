"""A chat completion on its way through: prepare, send, book while the upstream thinks, relay, settle.

Rule: any fault of ours lets the request go on as it came; the answer's bytes are the upstream's; its end is held back
until what happened is on disk.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from weakref import WeakKeyDictionary

import aiohttp

from ctxgc.core.spans import Malformed
from ctxgc.proxy.chores import Chores
from ctxgc.proxy.encoding import TooLarge, Undecodable, decode
from ctxgc.proxy.errands import in_thread
from ctxgc.proxy.exchange import ClientGone, Exchange
from ctxgc.proxy.headers import stored, to_upstream
from ctxgc.proxy.relay import Copy, Relayed, relay
from ctxgc.proxy.rounds import Leg, relay_rounds
from ctxgc.proxy.slices import in_slices, in_time
from ctxgc.proxy.tickets import Ticket, settlement
from ctxgc.proxy.upstream import Upstream
from ctxgc.session import Prepared, Session, Sessions
from ctxgc.session.errands import NOBODY
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.recalling import Refused
from ctxgc.telemetry import Figures
from ctxgc.wire.codec import Asking

GRACE = 0.02
"""Seconds that an upstream has to answer before a request is booked: nothing then competes with a quick answer."""
REFUSED = (400, 422)
"""Statuses with which providers say that a request is not valid."""
UNFIT = (*REFUSED, 413)
"""Statuses with which they may say that what was recalled is too much."""
NEW_WINDOW = b"x-ctxgc-new-window"
"""A header of answers that says of which session a new window should be begun: `ctxgc ledger opening` has its start."""
_LOST = "the session's journal has lost an entry, and is read anew with its next request: say it again then"
_UNRECORDED = "the audit store cannot be written, and audit is strict"


class Unrecorded(Exception):
    """The intent of a request is not on disk, and must be."""


class Chat:
    """Answers ``POST .../chat/completions``."""

    def __init__(self, upstream: Upstream, sessions: Sessions, figures: Figures, *, strict: bool, limit: int) -> None:
        self._upstream = upstream
        self._sessions = sessions
        self._figures = figures
        self._strict = strict
        self._limit = limit
        self._bookings: set[asyncio.Future[None]] = set()
        self._locks: WeakKeyDictionary[Session, asyncio.Lock] = WeakKeyDictionary()
        self._chores = Chores(self._lock, figures.bypassed)

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request. Raises ``TooLarge``, ``ClientGone``, and ``aiohttp.ClientError`` before it answers."""
        raw = await exchange.body(self._limit)
        ticket = await self._prepare(exchange, raw)
        if ticket.prepared.new_window_advised:
            exchange.ours.append((NEW_WINDOW, ticket.session.key.hex().encode()))
        self._figures.request_started()
        unanswered = "error"
        try:
            if self._strict and not await self._intent(ticket):
                raise Unrecorded
            await exchange.while_connected(self._answer(exchange, ticket))
        except Unrecorded:
            if not exchange.started:
                await exchange.refuse(503, "audit_unavailable", _UNRECORDED)
        except (ClientGone, asyncio.CancelledError):
            unanswered = "aborted"
            raise
        finally:
            if not ticket.settled:
                relayed = ticket.copy.relayed(whole=False) if ticket.copy else None
                await self._settle(ticket, relayed, unanswered)
            self._chores.soon(ticket.session)

    async def _prepare(self, exchange: Exchange, raw: bytes) -> Ticket:
        """Decide what to send; whatever is wrong with the body or with us, it is sent as it came."""
        began, text = perf_counter(), raw
        plain = {b"accept-encoding": b"identity"}
        headers = to_upstream(exchange.raw_headers, plain)
        try:
            encoding = exchange.headers.get("content-encoding", "identity")
            if encoding.lower() != "identity":
                text = decode(raw, encoding, self._limit)
                headers = [(name, value) for name, value in headers if name.lower() != b"content-encoding"]
            found = await in_slices(self._sessions.finding(exchange.headers, text, exchange.query))
            session = found.session
            self._chores.errands.reach(session, self._upstream.access(exchange.path, exchange.headers))
            async with self._lock(session):
                prepared = await in_slices(session.preparing(text, found.resumed))
        except (Malformed, Undecodable) as error:
            session, prepared = self._stray(exchange, text, f"malformed: {error}")
        except TooLarge:
            raise
        except Exception as error:  # fail open
            session, prepared = self._stray(exchange, text, f"fault: {type(error).__name__}")
        if text is not raw and prepared.body is text:  # not edited: it leaves as it came, in its encoding too
            prepared, text, headers = replace(prepared, body=raw), raw, to_upstream(exchange.raw_headers, plain)
        return Ticket(session, prepared, text, headers, perf_counter() - began)

    def _stray(self, exchange: Exchange, text: bytes, reason: str) -> tuple[Session, Prepared]:
        """A request that belongs to no conversation goes as it came, and its credential's strays say why."""
        session = self._sessions.strays(exchange.headers, exchange.query)
        return session, session.bypass(self._sessions.kit.new_id(), text, reason)

    async def _answer(self, exchange: Exchange, ticket: Ticket) -> None:
        with ExitStack() as opened:
            leg = await self._leg(exchange, ticket, opened)
            if ticket.prepared.recall and leg.response.status < 400:
                await relay_rounds(exchange, leg, self._sessions.kit.codec, _Asker(self, exchange, ticket, opened))
            else:
                settle = partial(self._settle, ticket, unanswered="")
                await relay(exchange, leg.response, leg.copy, leg.stream, settle)

    async def _leg(self, exchange: Exchange, ticket: Ticket, opened: ExitStack) -> Leg:
        """Send what was prepared, and begin to read the answer."""
        response = await self._response(exchange, ticket, opened)
        ticket.status, ticket.answer = response.status, stored(response.raw_headers)
        kind = response.content_type
        stream = kind == "text/event-stream" or (ticket.prepared.stream and kind != "application/json")
        reader = self._sessions.kit.codec.reader(stream=stream)
        encoding = response.headers.get("content-encoding", "identity").lower().replace("identity", "")
        ticket.copy = Copy(reader, encoding)
        return Leg(response, ticket.copy, stream, encoding)

    async def _response(self, exchange: Exchange, ticket: Ticket, opened: ExitStack) -> aiohttp.ClientResponse:
        # An upstream that answers at once is let through first: its request is booked when it is settled.
        booking = asyncio.get_running_loop().call_later(GRACE, self._book_soon, ticket)
        try:
            response = await self._send(exchange, ticket, ticket.prepared.body, opened)
        finally:
            booking.cancel()
        carries = ticket.carries
        ticket.refused = response.status in (UNFIT if carries else REFUSED)
        last = carries is None or not carries.again
        if ticket.refused and last and ticket.prepared.body != ticket.original:
            return await self._again(exchange, ticket, opened) or response
        return response

    async def _again(self, exchange: Exchange, ticket: Ticket, opened: ExitStack) -> aiohttp.ClientResponse | None:
        """Send a refused request as it came, once: if that passes, it was our form that was refused."""
        try:
            again = await self._send(exchange, ticket, ticket.original, opened)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return None
        if again.status in REFUSED:
            return None
        if again.status < 400:
            await self._go_plain(ticket)
        return again

    async def _go_plain(self, ticket: Ticket) -> None:
        try:
            async with self._lock(ticket.session):
                ticket.session.go_plain(ticket.prepared.call, "refused: the provider found an edited request not valid")
        except Exception as error:  # fail open
            self._figures.bypassed(f"fault: {type(error).__name__}")

    async def _send(self, exchange: Exchange, ticket: Ticket, body: bytes, opened: ExitStack) -> aiohttp.ClientResponse:
        """Send one form of a request. Its answer is closed with ``opened``, whatever becomes of it."""
        response = await self._upstream.send("POST", exchange.path, exchange.query, ticket.headers, body)
        opened.callback(response.close)
        return response

    def _book_soon(self, ticket: Ticket) -> None:
        task = asyncio.ensure_future(self._while_it_thinks(ticket))
        self._bookings.add(task)  # the loop itself would not keep it
        task.add_done_callback(self._bookings.discard)

    async def _while_it_thinks(self, ticket: Ticket) -> None:
        await self._admit(ticket)
        self._chores.soon(ticket.session)

    async def _admit(self, ticket: Ticket) -> None:
        try:
            async with self._lock(ticket.session):
                await in_slices(ticket.session.admitting())
        except Exception as error:  # fail open: what cannot be booked was sent all the same
            self._figures.bypassed(f"fault: {type(error).__name__}")

    async def _intent(self, ticket: Ticket) -> bool:
        """Whether the intent of a request is on disk."""
        await self._admit(ticket)
        durable = ticket.session.durable(ticket.prepared.call)
        return durable is not None and await in_time(durable)

    async def milestone(self, session: Session, name: str) -> str:
        """A sub-task of a session is done; why its period could not be closed (empty: it is)."""
        async with self._lock(session):
            if session.broken:
                return _LOST
            closing = session.closing(name)
        ran = await in_thread(closing, NOBODY)
        booked = await self._chores.errands.book(session, ran)
        return ran.fault if booked else _LOST

    async def _settle(
        self, ticket: Ticket, relayed: Relayed | None, unanswered: str, asking: Asking | None = None
    ) -> None:
        """Book how it ended, and wait until it is on disk. ``unanswered`` says how, if its end was never relayed."""
        async with self._lock(ticket.session):
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
        self._figures.request_ended(
            ticket.prepared.model, booked.outcome, ticket.overhead, booked.duration, booked.first_byte or None
        )
        try:
            if isinstance(asking, Refused):  # what followed it meanwhile has it in its bytes
                ticket.session.tracks.clear()
            return ticket.session.settle(booked, reply, asking, limited=limited)
        except Exception as error:  # fail open: what cannot be booked is answered all the same
            self._figures.bypassed(f"fault: {type(error).__name__}")
            return None

    async def _further(self, ticket: Ticket, relayed: Relayed | None, asking: Asking, limited: bool) -> bool:
        """Book a round, with the answers to its recalls, and prepare the next; whether that could be done."""
        began, again = perf_counter(), not isinstance(asking, Refused)
        carries = Refused(asking.message, asking.uses, asking.alone, ticket.prepared.call, again)
        await self._intent(ticket)  # what is asked for may be what came with this request
        async with self._lock(ticket.session):
            if not ticket.session.answerable(ticket.prepared.call):
                return False
            if self._book(ticket, relayed, asking=asking, limited=limited) is None:
                return False
            prepared = await in_slices(ticket.session.preparing(ticket.original, again=True))
        ticket.renew(prepared, perf_counter() - began, carries)
        self._figures.request_started()
        return True

    def _lock(self, session: Session) -> asyncio.Lock:
        return self._locks.setdefault(session, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class _Asker:
    """Sends the rounds of one request on; see ``Asker``."""

    chat: Chat
    exchange: Exchange
    ticket: Ticket
    opened: ExitStack

    def tool(self) -> str:
        return self.ticket.prepared.recall or TOOL_NAME

    def answerable(self) -> bool:
        return self.ticket.prepared.answered

    async def go_on(self, relayed: Relayed, asking: Asking, limited: bool) -> Leg | None:
        leg = await self._round(relayed, asking, limited)
        if leg is not None and self.ticket.refused and self.ticket.carries:  # once more, without the content
            return await self._round(None, self.ticket.carries) or leg
        return leg

    async def _round(self, relayed: Relayed | None, asking: Asking, limited: bool = False) -> Leg | None:
        if not await self.chat._further(self.ticket, relayed, asking, limited):
            return None
        if self.chat._strict and not await self.chat._intent(self.ticket):
            raise Unrecorded
        return await self.chat._leg(self.exchange, self.ticket, self.opened)

    async def end(self, relayed: Relayed, asking: Asking | None) -> None:
        if asking:
            await self.chat._intent(self.ticket)  # what is asked for may be what came with this request
        if not self.ticket.settled:
            await self.chat._settle(self.ticket, relayed, "", asking)
