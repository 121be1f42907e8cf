"""What was changed in a request, as the journal books it: collections, a compaction, and news from the ledger.

Rule: values from values; nothing here decides anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.heap import content_digest
from ctxgc.core.journal import Bypass, Collection, Insertion
from ctxgc.core.state import EDEN, State
from ctxgc.session.eden import clean
from ctxgc.session.tags import NEWS
from ctxgc.wire.codec import Codec

if TYPE_CHECKING:
    from ctxgc.session.admission import Pending
    from ctxgc.session.errands import Ran
    from ctxgc.session.kit import Kit

TAG = NEWS


def collections(pending: Pending) -> Iterator[Collection]:
    """What was collected with a request: of what had been sent before, and of what is new."""
    eden = tuple(edit for plan in pending.planned for edit in plan.edits)
    old = pending.collected
    for generation, edits in ((old.generation, old.edits), (EDEN, eden)):
        if edits:
            yield Collection(at=pending.at, call=pending.call, generation=generation, edits=edits)


def record(pending: Pending) -> tuple[bytes, ...]:
    """The whole record of a span that was compacted with a request, to be kept."""
    draft = pending.collected.compaction
    return (draft.whole,) if draft else ()


def compaction(pending: Pending) -> Compaction | None:
    """The span that was compacted with a request."""
    draft = pending.collected.compaction
    return draft.entry(pending.call, pending.at, hashlib.sha256(draft.whole).digest()) if draft else None


def milestone(state: State, kit: Kit, name: str) -> Milestone:
    """What the host says is done: all that stands in the history that was in use last."""
    heads = state.heads
    head = max(heads, key=lambda number: (heads[number].continues, heads[number].at, number), default=-1)
    return Milestone(at=kit.clock(), name=name, head=head)


def came_of(state: State, kit: Kit, ran: Ran) -> Iterator[Summary | Milestone | Bypass]:
    """What is to be booked of an errand that was run."""
    if ran.fault:
        yield Bypass(at=kit.clock(), call=b"", reason=clean(ran.fault))
    yield from ran.summaries
    if ran.milestone and state.opened:
        yield milestone(state, kit, ran.milestone)


def news(pending: Pending, codec: Codec) -> Insertion | None:
    """What was told of the ledger with a request: it stands in its history from then on."""
    messages, told = pending.collected.news, pending.collected.told
    if not messages:
        return None
    meter = pending.meter
    cells = tuple(
        NewCell(str(one.kind), TAG, TAG, meter.measure(one), content_digest(one.text), True, exact=meter.exact)
        for raw in messages
        for one in codec.decode(raw).blocks
    )
    head = pending.track.head
    return Insertion(at=pending.at, call=pending.call, head=head, messages=messages, cells=cells, told=told)
