"""Sending what was prepared: once, and once more as it came where the provider refuses our form of it.

Rule: a request is booked while the upstream thinks, and never before a quick answer; an answer that was begun is closed
with the request, whatever becomes of it.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import aiohttp

from ctxgc.proxy.booking import Bookings
from ctxgc.proxy.exchange import Exchange
from ctxgc.proxy.headers import stored
from ctxgc.proxy.relay import Copy
from ctxgc.proxy.rounds import Leg
from ctxgc.proxy.tickets import Ticket
from ctxgc.proxy.upstream import Upstream
from ctxgc.telemetry.otel import Sending
from ctxgc.wire.codec import Codec

GRACE = 0.02
"""Seconds that an upstream has to answer before a request is booked: nothing then competes with a quick answer."""
REFUSED = (400, 422)
"""Statuses with which providers say that a request is not valid."""
UNFIT = (*REFUSED, 413)
"""Statuses with which they may say that what was recalled is too much."""


class Sender:
    """Sends the requests of tickets. What it opens is closed with ``opened``."""

    def __init__(self, upstream: Upstream, bookings: Bookings, codec: Codec) -> None:
        self._upstream, self._bookings, self._codec = upstream, bookings, codec

    async def leg(self, exchange: Exchange, ticket: Ticket, opened: ExitStack) -> Leg:
        """Send what was prepared, and begin to read the answer. Raises ``aiohttp.ClientError``, ``TimeoutError``."""
        ticket.leaves()
        response = await self._response(exchange, ticket, opened)
        ticket.status, ticket.answer = response.status, stored(response.raw_headers)
        kind = response.content_type
        stream = kind == "text/event-stream" or (ticket.prepared.stream and kind != "application/json")
        reader = self._codec.reader(stream=stream)
        encoding = response.headers.get("content-encoding", "identity").lower().replace("identity", "")
        ticket.copy = Copy(reader, encoding)
        return Leg(response, ticket.copy, stream, encoding)

    async def _response(self, exchange: Exchange, ticket: Ticket, opened: ExitStack) -> aiohttp.ClientResponse:
        # An upstream that answers at once is let through first: its request is booked when it is settled.
        booking = asyncio.get_running_loop().call_later(GRACE, self._bookings.soon, ticket)
        try:
            response = await self._send(exchange, ticket, ticket.prepared.body, opened)
        finally:
            booking.cancel()
        carries = ticket.carries
        ticket.refused = response.status in (UNFIT if carries else REFUSED)
        last = carries is None or not carries.again
        if ticket.refused and last and ticket.prepared.body != ticket.original:
            return await self._again(exchange, ticket, opened, response.status) or response
        return response

    async def _again(
        self, exchange: Exchange, ticket: Ticket, opened: ExitStack, refused: int
    ) -> aiohttp.ClientResponse | None:
        """Send a refused request as it came, once: if that passes, it was our form that was refused."""
        try:
            again = await self._send(exchange, ticket, ticket.original, opened)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            ticket.trail.lost(type(error).__qualname__)
            return None
        except BaseException:  # the client has left, perhaps: it is this one that was under way
            ticket.trail.replaced(str(refused))
            raise
        if again.status in REFUSED:
            ticket.trail.lost(str(again.status))
            return None
        ticket.trail.replaced(str(refused))
        if again.status < 400:
            await self._bookings.go_plain(ticket)
        return again

    async def _send(self, exchange: Exchange, ticket: Ticket, body: bytes, opened: ExitStack) -> aiohttp.ClientResponse:
        """Send one form of a request. Its answer is closed with ``opened``, whatever becomes of it."""
        prepared, changed = ticket.prepared, body is not ticket.original and body != ticket.original
        sending = Sending(prepared.call, prepared.model, prepared.stream, changed, body)
        headers = ticket.trail.send(sending, ticket.headers)
        response = await self._upstream.send("POST", exchange.path, exchange.query, headers, body)
        opened.callback(response.close)
        return response
