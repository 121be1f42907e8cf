"""What a session's input costs, request by request: as it is sent, and as it would have been sent untouched.

Rule: both bills are made by one rule, so that their difference is what collecting has brought or cost: what an earlier
request of the history carried is read from the cache while that is warm, the rest is written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from ctxgc.core.journal import NewCell, NewNode, Pace
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
    pending: Pending, state: State, toolset: int, nodes: Sequence[NewNode], schemas: tuple[NewCell, ...] | None
) -> Pace:
    """The pace of a request that is being booked, with both bills up to it.

    Of a new tool list nothing is cached, since it stands before all else.
    """
    tariff, parent = pending.tariff, pending.recognised.parent
    edited = {edit.cell: edit.after - edit.before for plan in pending.planned for edit in plan.edits}
    first = len(state.cells) + len(schemas or ())
    fresh = sum(cell.tokens for cell in schemas or ())
    new = [cell.tokens for node in nodes for cell in node.cells]
    fresh_sent = fresh + sum(tokens + edited.get(first + at, 0) for at, tokens in enumerate(new))
    fresh += sum(new)
    known = toolset if schemas is None else -1
    before, sent = (state.tokens(parent, known, sent=form) for form in (False, True))
    pace = pending.collected.pace
    rewritten = pace.live if pace.trigger else 0
    kept = sent - (pace.dead + pace.live if pace.trigger else 0)
    if pace.cold or schemas:
        paid, untouched = tariff.cost(0, kept + rewritten + fresh_sent), tariff.cost(0, before + fresh)
    else:
        paid, untouched = tariff.cost(kept, rewritten + fresh_sent), tariff.cost(before, fresh)
    return structs.replace(pace, paid=state.pace.paid + paid, untouched=state.pace.untouched + untouched)
