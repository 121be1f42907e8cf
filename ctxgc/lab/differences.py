"""What the agent sent against what the model got, message by message, in one request.

Rule: both sides are made from the stored bytes, the one through the codec's projection, as when they were sent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, NamedTuple

from ctxgc.core.collector import Edit
from ctxgc.core.state import State, fold
from ctxgc.lab.moments import Moment
from ctxgc.store import Store
from ctxgc.wire.codec import Codec


class Line(NamedTuple):
    """A line of a text: it stayed (a space), was taken out (-) or was put in (+)."""

    sign: Literal[" ", "-", "+"]
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A changed block. ``message`` counts the request's messages from 1; ``tokens`` are as it came, ``sent`` as it
    left; ``lines`` are all of its lines. ``edit`` is None where only ctxgc's own fields were taken out."""

    message: int
    role: str
    tag: str
    site: str
    cell: int
    tokens: int
    sent: int
    edit: Edit | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes of a request of ``messages`` messages; ``received`` and ``sent`` are its tokens, tools included."""

    messages: int
    received: int
    sent: int
    changes: tuple[Change, ...]


def difference(moment: Moment, store: Store, codec: Codec) -> Difference:
    """The changes of a request. Raises ``StoreError`` where the store has lost a message that was changed."""
    state, entry = fold((*moment.before, *moment.own)), moment.entry
    return Difference(
        messages=state.node(entry.head).depth + 1,
        received=state.tokens(entry.head, entry.toolset, sent=False),
        sent=state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered),
        changes=tuple(_changes(moment, state, store, codec)),
    )


def _changes(moment: Moment, state: State, store: Store, codec: Codec) -> Iterator[Change]:
    blobs = {variant.node: variant.blob for variant in moment.entry.variants}
    for node in state.path(moment.entry.head):
        raw = store.blob(blobs.get(node.id, node.blob))
        projected = codec.project(raw, node.edits)
        if projected == raw:
            continue
        came, left = codec.decode(raw).blocks, codec.decode(projected).blocks
        changed = [at for at, pair in enumerate(zip_longest(came, left)) if at in node.edits or pair[0] != pair[1]]
        for at in changed or [0]:
            cell = state.cells[node.cells[at]]
            before, after = came[at].text, left[at].text
            lines = tuple(compare(before, after)) if before != after else ()
            edit = state.edits.get(cell.id)
            yield Change(node.depth + 1, node.role, cell.tag, cell.site, cell.id, cell.tokens, cell.sent, edit, lines)


def compare(before: str, after: str) -> Iterator[Line]:
    """The lines of both texts, in order: each of ``after`` that still follows in ``before`` stayed, at its first place.

    Finds what was left out of a text in time that grows with its length; not the least difference of any two texts.
    A line ends at a line feed.
    """
    old, at = before.split("\n"), 0
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(old):
        places[line].append(number)
    for line in after.split("\n"):
        known = places.get(line, [])
        found = bisect_left(known, at)
        if found == len(known):
            yield Line("+", line)
            continue
        yield from (Line("-", text) for text in old[at : known[found]])
        yield Line(" ", line)
        at = known[found] + 1
    yield from (Line("-", text) for text in old[at:])
