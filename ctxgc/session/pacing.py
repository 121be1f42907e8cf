"""What a session's input costs, request by request: as it is sent, and as it would have been sent untouched.

Rule: both bills are made by one rule, so that their difference is what collecting has brought or cost: what an earlier
request of the history carried is read from the cache while that is warm, the rest is written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from ctxgc.core.journal import Insertion, NewCell, NewNode, Offer, Pace
from ctxgc.core.pacer import Decision, Tariff
from ctxgc.core.state import State

if TYPE_CHECKING:
    from ctxgc.session.admission import Pending

CACHELESS = 3
"""Calls in a row for which a provider reported no cached tokens, after which it is taken to cache nothing."""


def tariff_for(state: State, tariff: Tariff) -> Tariff:
    """The tariff as experience has it: of a provider that has read nothing from a cache, all input costs the same."""
    return tariff if state.uncached < CACHELESS else replace(tariff, read=tariff.write)


def cold(state: State, tariff: Tariff, head: int, model: str, at: float) -> bool:
    """Whether nothing of a history is in the provider's cache any more: sent too long ago, or to another model."""
    known = state.heads.get(head)
    return known is None or at - known.at > tariff.ttl or model != known.model


def pace_of(decision: Decision, candidates: int, tariff: Tariff, *, cold: bool) -> Pace:
    """The decision as the journal has it; what was paid is added when the request is booked."""
    return Pace(
        trigger=decision.trigger,
        cold=cold,
        candidates=candidates,
        dead=decision.dead,
        live=decision.live,
        rent=round(decision.rent, 6),
        price=round(decision.price, 6),
        read=tariff.read,
        write=tariff.write,
    )


def paced(
    pending: Pending,
    state: State,
    toolset: int,
    nodes: Sequence[NewNode],
    schemas: tuple[NewCell, ...] | None,
    offer: Offer | None,
    told: Insertion | None = None,
) -> Pace:
    """The pace of a request that is being booked, with both bills up to it.

    What is ours in it, the recall tool and what was recalled, counts as sent and not as untouched; so does all of a
    request that no client asked for.
    """
    ours = sum(cell.tokens for cell in told.cells) if told else 0
    paid = _paid(pending, state, toolset, nodes, schemas, offer, ours)
    untouched = 0.0 if pending.again else _untouched(pending, state, toolset, nodes, schemas)
    pace = pending.collected.pace
    return structs.replace(pace, paid=state.pace.paid + paid, untouched=state.pace.untouched + untouched)


def _untouched(
    pending: Pending, state: State, toolset: int, nodes: Sequence[NewNode], schemas: tuple[NewCell, ...] | None
) -> float:
    """The cost of the request as it came. Of a new tool list nothing is cached, since it stands before all else."""
    known = toolset if schemas is None else -1
    before = state.tokens(pending.recognised.parent, known, sent=False)
    fresh = sum(cell.tokens for node in nodes for cell in node.cells) + sum(cell.tokens for cell in schemas or ())
    return _cost(pending, before, fresh, cold=bool(schemas))


def _paid(
    pending: Pending,
    state: State,
    toolset: int,
    nodes: Sequence[NewNode],
    schemas: tuple[NewCell, ...] | None,
    offer: Offer | None,
    ours: int,
) -> float:
    """The cost of the request as it left."""
    edited = {edit.cell: edit.after - edit.before for plan in pending.planned for edit in plan.edits}
    first = len(state.cells) + len(schemas or ()) + (offer is not None)
    new = [cell.tokens for node in nodes for cell in node.cells]
    fresh = ours + sum(tokens + edited.get(first + at, 0) for at, tokens in enumerate(new))
    fresh += sum(cell.tokens for cell in schemas or ()) + (offer.cell.tokens if offer else 0)
    parent, known, offered = pending.recognised.parent, toolset if schemas is None else -1, pending.offering.spliced
    unsent = state.fresh(parent)
    sent = state.tokens(parent, known, sent=True, offered=offered) - unsent
    pace = pending.collected.pace
    kept = sent - (pace.dead + pace.live if pace.trigger else 0)
    rewritten = pace.live if pace.trigger else 0
    return _cost(pending, kept, rewritten + unsent + fresh, cold=bool(schemas))


def _cost(pending: Pending, known: int, fresh: int, *, cold: bool) -> float:
    if cold or pending.collected.pace.cold:
        known, fresh = 0, known + fresh
    return pending.tariff.cost(known, fresh)
