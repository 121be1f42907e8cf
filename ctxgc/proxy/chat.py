"""A chat completion on its way through: prepare, send, book while the upstream thinks, relay, settle.

Rule: any fault of ours lets the request go on as it came; the answer's bytes are the upstream's; its end is held back
until what happened is on disk.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from time import perf_counter

import aiohttp

from ctxgc.core.spans import Malformed
from ctxgc.proxy.asking import Rounds
from ctxgc.proxy.booking import Bookings, Unrecorded
from ctxgc.proxy.encoding import TooLarge, Undecodable, decode
from ctxgc.proxy.exchange import ClientGone, Exchange
from ctxgc.proxy.headers import to_upstream
from ctxgc.proxy.relay import relay
from ctxgc.proxy.rounds import relay_rounds
from ctxgc.proxy.sending import Sender
from ctxgc.proxy.slices import in_slices
from ctxgc.proxy.tickets import Ticket
from ctxgc.proxy.upstream import Upstream
from ctxgc.session import Prepared, Session, Sessions
from ctxgc.telemetry import Figures
from ctxgc.telemetry.otel import UNTRACED, Tracer, Trail

NEW_WINDOW = b"x-ctxgc-new-window"
"""A header of answers that says of which session a new window should be begun: `ctxgc ledger opening` has its start."""
_UNRECORDED = "the audit store cannot be written, and audit is strict"


class Chat:
    """Answers ``POST .../chat/completions``. ``tracing`` makes spans of it, if there is any."""

    def __init__(
        self,
        upstream: Upstream,
        sessions: Sessions,
        figures: Figures,
        *,
        strict: bool,
        limit: int,
        tracing: Tracer | None = None,
    ) -> None:
        self._upstream = upstream
        self._sessions = sessions
        self._strict = strict
        self._limit = limit
        self._tracer: Tracer = tracing or UNTRACED
        self._bookings = Bookings(sessions, figures, self._tracer)
        self._sender = Sender(upstream, self._bookings, sessions.kit.codec)
        self.lock, self.milestone = self._bookings.lock, self._bookings.milestone

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request. Raises ``TooLarge``, ``ClientGone``, and ``aiohttp.ClientError`` before it answers."""
        trail, status, error = self._tracer.request(exchange.method, exchange.path, exchange.headers), 0, ""
        try:
            await self._serve(exchange, trail)
        except BaseException as raised:
            status, error = _refusal(raised)
            raise
        finally:
            trail.end(exchange.status or status, error)

    async def _serve(self, exchange: Exchange, trail: Trail) -> None:
        raw = await exchange.body(self._limit)
        ticket = await self._prepare(exchange, raw, trail)
        if ticket.prepared.new_window_advised:
            exchange.ours.append((NEW_WINDOW, ticket.session.key.hex().encode()))
        self._bookings.started(ticket)
        unanswered = "error"
        try:
            if self._strict and not await self._bookings.intent(ticket):
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
                await self._bookings.settle(ticket, relayed, unanswered)
            self._bookings.chores.soon(ticket.session)

    async def _prepare(self, exchange: Exchange, raw: bytes, trail: Trail) -> Ticket:
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
            self._bookings.chores.errands.reach(session, self._upstream.access(exchange.path, exchange.headers))
            async with self.lock(session):
                prepared = await in_slices(session.preparing(text, found.resumed))
        except (Malformed, Undecodable) as error:
            session, prepared = self._stray(exchange, text, f"malformed: {error}")
        except TooLarge:
            raise
        except Exception as error:  # fail open
            session, prepared = self._stray(exchange, text, f"fault: {type(error).__name__}")
        if text is not raw and prepared.body is text:  # not edited: it leaves as it came, in its encoding too
            prepared, text, headers = replace(prepared, body=raw), raw, to_upstream(exchange.raw_headers, plain)
        ticket = Ticket(session, prepared, text, headers, perf_counter() - began, trail)
        trail.prepared(prepared.call, session.key, ticket.overhead)
        return ticket

    def _stray(self, exchange: Exchange, text: bytes, reason: str) -> tuple[Session, Prepared]:
        """A request that belongs to no conversation goes as it came, and its credential's strays say why."""
        session = self._sessions.strays(exchange.headers, exchange.query)
        return session, session.bypass(self._sessions.kit.new_id(), text, reason)

    async def _answer(self, exchange: Exchange, ticket: Ticket) -> None:
        with ExitStack() as opened:
            leg = await self._sender.leg(exchange, ticket, opened)
            if ticket.prepared.recall and leg.response.status < 400:
                rounds = Rounds(self._bookings, self._sender, exchange, ticket, opened, self._strict)
                await relay_rounds(exchange, leg, self._sessions.kit.codec, rounds)
            else:
                settle = partial(self._bookings.settle, ticket, unanswered="")
                await relay(exchange, leg.response, leg.copy, leg.stream, settle)


def _refusal(raised: BaseException) -> tuple[int, str]:
    """The HTTP status and the kind of error that a request ends with which was not answered; 0: with none."""
    if isinstance(raised, TooLarge):
        return 413, ""
    if isinstance(raised, ClientGone | asyncio.CancelledError):
        return 0, "aborted"
    unreachable = isinstance(raised, aiohttp.ClientError | TimeoutError | OSError)
    return 502 if unreachable else 500, type(raised).__qualname__
