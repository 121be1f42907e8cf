"""What the agent sent against what the model got, message by message, in one request: also of a span that was left
out, and the record that stands for it.

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
from ctxgc.core.nodes import Node
from ctxgc.core.state import State, fold
from ctxgc.lab.compactions import Part, parts
from ctxgc.lab.links import Links
from ctxgc.lab.moments import Moment
from ctxgc.store import Store
from ctxgc.wire.codec import Codec


class Line(NamedTuple):
    """A line of a text: it stayed (a space), was taken out (-) or was put in (+)."""

    sign: Literal[" ", "-", "+"]
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A changed block. ``message`` counts the messages that came from 1; ``tokens`` are as it came, ``sent`` as it
    left; ``lines`` are all of its lines. ``edit`` is None where only ctxgc's own fields were taken out.

    ``record`` is the handle of the record that stands for a block, which is left out; of the record's own blocks too,
    which came with nothing and stand behind that message. ``since`` is the request that made it.
    """

    message: int
    role: str
    tag: str
    site: str
    cell: int
    tokens: int
    sent: int
    edit: Edit | None
    lines: tuple[Line, ...]
    record: str = ""
    since: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes of a request of which ``messages`` messages came, and ``left_out`` of these were not sent.

    ``received`` and ``sent`` are its tokens, tools included.
    """

    messages: int
    received: int
    sent: int
    changes: tuple[Change, ...]
    left_out: int = 0


def difference(moment: Moment, store: Store, codec: Codec, state: State | None = None) -> Difference:
    """The changes of a request; ``state`` is as it left, where that is known. Raises ``StoreError`` where the store has
    lost a message that was changed."""
    state, entry = state or fold((*moment.before, *moment.own)), moment.entry
    found = parts(state, entry.head)
    return Difference(
        messages=state.node(entry.head).depth + 1,
        received=state.tokens(entry.head, entry.toolset, sent=False),
        sent=state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered),
        changes=tuple(_Changes(moment, state, store, codec).all()),
        left_out=sum(part.out and not part.own for part in found),
    )


class _Changes:
    """The work on one request, whose ``state`` is as it left."""

    def __init__(self, moment: Moment, state: State, store: Store, codec: Codec) -> None:
        self._head, self._state, self._store, self._codec = moment.entry.head, state, store, codec
        self._blobs = {variant.node: variant.blob for variant in moment.entry.variants}
        self._made = state.node(self._head).compacted
        self._since, self._record = Links(moment).compacted[self._made.upto] if self._made else (0, "")

    def all(self) -> Iterator[Change]:
        """The changes, as the model would have come to them."""
        for part in parts(self._state, self._head):
            if not part.own:
                yield from self._left_out(part.node) if part.out else self._edited(part.node)
            elif self._made is not None and part.cells == self._made.cells:
                yield from self._stands(part)

    def _edited(self, node: Node) -> Iterator[Change]:
        raw = self._store.blob(self._blobs.get(node.id, node.blob))
        projected = self._codec.project(raw, node.edits)
        if projected == raw:
            return
        came, left = self._codec.decode(raw).blocks, self._codec.decode(projected).blocks
        changed = [at for at, pair in enumerate(zip_longest(came, left)) if at in node.edits or pair[0] != pair[1]]
        for at in changed or [0]:
            before, after, cell = came[at].text, left[at].text, node.cells[at]
            lines = tuple(compare(before, after)) if before != after else ()
            yield self._change(node, node.role, cell, lines, self._state.cells[cell].sent, self._state.edits.get(cell))

    def _left_out(self, node: Node) -> Iterator[Change]:
        raw = self._store.blob(self._blobs.get(node.id, node.blob))
        for cell, block in zip(node.cells, self._codec.decode(raw).blocks, strict=True):
            lines = tuple(Line("-", text) for text in block.text.split("\n"))
            yield self._change(node, node.role, cell, lines, 0, record=self._record)

    def _stands(self, part: Part) -> Iterator[Change]:
        """The record: it stands behind the message of ``part``."""
        for cell, said in part.texts(self._codec):
            lines = tuple(Line("+", text) for text in said.split("\n"))
            sent = self._state.cells[cell].sent
            yield self._change(part.node, self._state.cells[cell].tag, cell, lines, sent, record=self._record)

    def _change(
        self, node: Node, role: str, number: int, lines: tuple[Line, ...], sent: int, edit: Edit | None = None,
        record: str = "",
    ) -> Change:  # fmt: skip
        cell, since = self._state.cells[number], self._since if record else 0
        return Change(node.depth + 1, role, cell.tag, cell.site, number, cell.tokens, sent, edit, lines, record, since)


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
