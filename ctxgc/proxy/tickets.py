"""A request being answered: what was prepared for it, what came of it, and how the journal is told.

Rule: a further round of a request has the same ticket with what is its own renewed, so that whatever ends it finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from ctxgc.core.journal import Settlement
from ctxgc.proxy.headers import Raw
from ctxgc.proxy.relay import Copy, Relayed
from ctxgc.session import Prepared, Session
from ctxgc.session.recalling import Refused
from ctxgc.telemetry.otel import UNTRACED, Trail


@dataclass(slots=True)
class Ticket:
    """A request being answered: what was prepared for it, and what came of it. ``overhead`` are the seconds that we
    took before it was sent; ``trail`` is told of it for spans.

    ``carries`` are the recalls that a further round answers, to be taken back if the provider has ``refused`` it.
    """

    session: Session
    prepared: Prepared
    original: bytes
    headers: Raw
    overhead: float
    trail: Trail = UNTRACED
    began: float = field(default_factory=perf_counter)
    status: int = 0
    answer: dict[str, str] = field(default_factory=dict)
    copy: Copy | None = None
    settled: bool = False
    carries: Refused | None = None
    refused: bool = False

    def leaves(self) -> None:
        """It is sent now: what it waited for until then, such as the disk where audit is strict, was our doing."""
        now = perf_counter()
        self.overhead, self.began = self.overhead + now - self.began, now

    def renew(self, prepared: Prepared, overhead: float, carries: Refused) -> None:
        """Go on with a further round of the request."""
        self.prepared, self.overhead, self.began = prepared, overhead, perf_counter()
        self.status, self.answer, self.copy, self.settled = 0, {}, None, False
        self.carries, self.refused = carries, False

    def taken_back(self) -> Refused | None:
        """What is to be taken back of a round when it is booked."""
        return self.carries if self.refused else None


def settlement(ticket: Ticket, relayed: Relayed | None, unanswered: str, at: float) -> Settlement:
    """How a request ended; ``unanswered`` says it where its answer's end was never relayed."""
    reply, answered = relayed.reply if relayed else None, ticket.status < 400
    return Settlement(
        at=at,
        call=ticket.prepared.call,
        outcome=unanswered or _outcome(ticket, relayed),
        status=ticket.status,
        model=(reply.model if reply else "") or ticket.prepared.model,
        usage=reply.usage if reply else None,
        headers=ticket.answer,
        first_byte=_since(ticket, relayed.first_byte) if relayed else 0.0,
        duration=perf_counter() - ticket.began,
        first_token=_since(ticket, relayed.first_token) if relayed and answered else 0.0,
        overhead=ticket.overhead,
    )


def _since(ticket: Ticket, moment: float) -> float:
    """The seconds since a request was sent; none for what never came."""
    return max(moment - ticket.began, 0.0) if moment else 0.0


def _outcome(ticket: Ticket, relayed: Relayed | None) -> str:
    if relayed is None or ticket.status >= 400 or relayed.reply.error:
        return "error"
    return "ok" if relayed.whole and relayed.reply.complete else "partial"
