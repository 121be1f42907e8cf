"""From what was decided about a request to the bytes that leave: the whole history anew, or only what is new in it.

Rule: a request whose edits break a rule of the format is made again without them, and the journal says so.
"""

from __future__ import annotations

from collections import deque
from contextlib import nullcontext
from dataclasses import replace

from msgspec import structs

from ctxgc.core.nodes import Compacted
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.session.collecting import Collected, changed
from ctxgc.session.coming import Came
from ctxgc.session.eden import Planned
from ctxgc.session.kit import Kit
from ctxgc.session.projection import Invalid, Outgoing, Track, project
from ctxgc.session.recognise import Recognised, raw_messages
from ctxgc.session.timing import REWRITE
from ctxgc.wire.codec import Codec

Projected = tuple[tuple[Planned, ...], Collected, Outgoing]
"""What of the plans is carried out, and what leaves."""


def projected(
    state: State, kit: Kit, came: Came, planned: tuple[Planned, ...], collected: Collected, faults: list[str]
) -> Projected:
    """What is sent, and by which edits. Raises ``Invalid`` or ``Malformed`` where not even the plain form may be."""
    codec, changes = kit.codec, collected.edits or collected.compaction
    try:
        with kit.timer.span(REWRITE) if changes else nullcontext():
            return planned, collected, _made(state, codec, came, planned, collected)
    except (Invalid, Malformed) as error:
        faults.append(f"validator: {error}")
        plain = tuple(replace(plan, edits=()) for plan in planned)
        nothing = Collected((), structs.replace(collected.pace, trigger=""))
        return plain, nothing, _made(state, codec, came, plain, nothing)


def _made(state: State, codec: Codec, came: Came, planned: tuple[Planned, ...], collected: Collected) -> Outgoing:
    """What was sent before goes again from memory, unless something is done to it with this request."""
    made = state.node(came.found.parent).compacted
    resumes = came.track is not None and state.node(came.track.head).compacted is made
    if collected.edits or collected.compaction or not resumes:
        return _anew(state, codec, came, planned, collected, made)
    news = collected.news
    return project(came.body, came.track, came.raws, state, came.found, planned, codec, tool=came.tool, news=news)


def _anew(
    state: State,
    codec: Codec,
    came: Came,
    planned: tuple[Planned, ...],
    collected: Collected,
    made: Compacted | None,
) -> Outgoing:
    """All of the history is made anew, with what is ours in it."""
    whole = codec.split(came.body.text)
    known = [node.id for node in state.path(came.found.parent)]
    found = Recognised(came.found.parent, known, came.found.variants, came.found.drafts)
    edits = changed(state, collected.edits)
    made = collected.compaction.compacted() if collected.compaction else made
    raws = raw_messages(whole)
    return project(whole, None, raws, state, found, planned, codec, edits, came.tool, made, collected.news)


def unpointed(planned: tuple[Planned, ...], collected: Collected) -> tuple[Planned, ...]:
    """What becomes of new messages, without pointers to what is left out with this very request."""
    draft = collected.compaction
    if draft is None or not any(edit.of in draft.gone for plan in planned for edit in plan.edits):
        return planned
    return tuple(
        replace(plan, edits=tuple(edit for edit in plan.edits if edit.of not in draft.gone)) for plan in planned
    )


def keep(tracks: deque[Track], state: State, came: Came, outgoing: Outgoing) -> Track:
    """Keep what was sent for the next request to be resumed behind it: as the newest of a session's tracks."""
    head = len(state.nodes) + len(came.found.drafts) - 1 if came.found.drafts else came.found.parent
    kept = Track(came.body, outgoing, head, tuple(came.found.variants))
    if came.track is not None and came.track in tracks:
        tracks.remove(came.track)
    tracks.appendleft(kept)
    return kept
