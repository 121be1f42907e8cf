"""Who sends the rounds of a request on: see ``rounds.Asker``.

Rule: a round that is refused with what was recalled goes on without it, once.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from ctxgc.proxy.booking import Bookings, Unrecorded
from ctxgc.proxy.exchange import Exchange
from ctxgc.proxy.relay import Relayed
from ctxgc.proxy.rounds import Leg
from ctxgc.proxy.sending import Sender
from ctxgc.proxy.tickets import Ticket
from ctxgc.session.reading import TOOL_NAME
from ctxgc.wire.codec import Asking


@dataclass(frozen=True, slots=True)
class Rounds:
    """Sends the rounds of one request on; ``strict`` ones only when their intent is on disk."""

    bookings: Bookings
    sender: Sender
    exchange: Exchange
    ticket: Ticket
    opened: ExitStack
    strict: bool

    def tool(self) -> str:
        """The name of the recall tool."""
        return self.ticket.prepared.recall or TOOL_NAME

    def answerable(self) -> bool:
        """Whether recalls in this round's reply can be answered."""
        return self.ticket.prepared.answered

    async def go_on(self, relayed: Relayed, asking: Asking, limited: bool) -> Leg | None:
        """Book a round, answer its recalls, and send the next. Raises ``Unrecorded``."""
        leg = await self._round(relayed, asking, limited)
        if leg is not None and self.ticket.refused and self.ticket.carries:  # once more, without the content
            return await self._round(None, self.ticket.carries) or leg
        return leg

    async def _round(self, relayed: Relayed | None, asking: Asking, limited: bool = False) -> Leg | None:
        if not await self.bookings.further(self.ticket, relayed, asking, limited):
            return None
        if self.strict and not await self.bookings.intent(self.ticket):
            raise Unrecorded
        return await self.sender.leg(self.exchange, self.ticket, self.opened)

    async def end(self, relayed: Relayed, asking: Asking | None) -> None:
        """Book the last round, and the recalls in it that are not to be gone on with."""
        if asking:
            await self.bookings.intent(self.ticket)  # what is asked for may be what came with this request
        if not self.ticket.settled:
            await self.bookings.settle(self.ticket, relayed, "", asking)
