"""A request that comes: recognised against its history, and what of it is new planned.

Rule: nothing is changed here, so that a request which is left halfway leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from ctxgc.core.state import State
from ctxgc.session.admission import Meter, begun, new_schemas, warmed
from ctxgc.session.eden import Eden, Planned, Rules
from ctxgc.session.kit import Kit, Resumed
from ctxgc.session.offering import Offering, offering
from ctxgc.session.projection import Track
from ctxgc.session.recognise import Recognised, raw_messages, recognise
from ctxgc.wire.codec import Body


@dataclass(frozen=True, slots=True)
class Came:
    """A request that was recognised: the track that it goes on from, its messages behind that (each with the bytes
    before it), what of them is known, the tool that it offers, and whether its history had begun before."""

    body: Body
    track: Track | None
    raws: Sequence[tuple[bytes, bytes]]
    found: Recognised
    offers: Offering
    begun: bool

    @property
    def tool(self) -> bytes:
        """The tool of ours that leaves with it; empty for none."""
        return self.offers.tool if self.offers.spliced else b""


def coming(state: State, kit: Kit, scope: bytes, text: bytes, resumed: Resumed | None) -> Generator[None, None, Came]:
    """Recognise a body, in slices, and decide whether its history offers the recall tool. Raises ``Malformed``."""
    body, track = (resumed.body, resumed.track) if resumed else (kit.codec.split(text), None)
    raws, head = raw_messages(body), track.head if track else -1
    found = yield from recognise(state, kit.codec, scope, raws, head)
    found.variants[:0] = track.variants if track else ()
    start = begun(state, found.parent)
    offers = offering(state, kit.codec, found, body, wanted=kit.recall, begun=start)
    return Came(body, track, raws, found, offers, start)


def planning(
    state: State, kit: Kit, mint: Callable[[bytes], str], came: Came, meter: Meter
) -> Generator[None, None, tuple[tuple[Planned, ...], list[str]]]:
    """What becomes of the new messages, in slices, and which policies failed."""
    rules = Rules(() if state.plain else kit.policies, meter.count, mint, kit.retrieval)
    cell = len(state.cells) + new_schemas(state, came.body, kit.codec) + came.offers.begins
    eden, planned = Eden(state, rules, came.found.parent, cell, came.begun), []
    for draft in came.found.drafts:
        if draft.eden and rules.policies:
            yield from warmed(meter, draft)
        planned.append(eden.plan(draft))
        yield
    return tuple(planned), eden.faults
