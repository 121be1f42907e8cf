"""Compactions as readers of a journal see them: what a request sends in which order, and what is left out of it.

Rule: read off the state alone; a span is left out of the histories that run through its end, and of no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.journal import Collection
from ctxgc.core.nodes import Compacted, Node
from ctxgc.core.state import EDEN, State
from ctxgc.wire.codec import Codec


@dataclass(frozen=True, slots=True)
class Part:
    """Cells of a request that stand together: a message that came (``own`` is False), or what is ours behind it.

    ``node`` is that message, and ``messages`` are ours. ``out`` says that a record stands for them, and nothing of them
    is sent.
    """

    node: Node
    cells: tuple[int, ...]
    own: bool = False
    out: bool = False
    messages: tuple[bytes, ...] = ()

    def texts(self, codec: Codec) -> Iterator[tuple[int, str]]:
        """What of ours stands here: each cell with its text."""
        blocks = (block for raw in self.messages for block in codec.decode(raw).blocks)
        return zip(self.cells, (block.text for block in blocks), strict=True)


def parts(state: State, head: int) -> Iterator[Part]:
    """A history as the model reads it, with what is left out in its place, and each record where its span was."""
    made = state.node(head).compacted
    for node, child in state.followed(head):
        inside = made is not None and state.inside(node, made)
        yield Part(node, node.cells, out=made is not None and inside and state.hidden(node, made))
        for each in state.own.behind(node.id, child):
            out = inside and made is not None and node.id != made.upto
            yield Part(node, each.cells, own=True, out=out, messages=each.messages)
        if made is not None and node.id == made.after:
            yield Part(node, made.cells, own=True, messages=made.messages)


def left_out(state: State, made: Compacted) -> Iterator[int]:
    """The cells that a record stands for: those that came, and those of ours among them."""
    return (cell for part in parts(state, made.upto) if part.out for cell in part.cells)


def span(state: State, made: Compacted) -> list[Node]:
    """The messages from the first of a span to its last, also those of them that stay."""
    return [node for node in state.path(made.upto) if state.inside(node, made)]


def follows(entry: Collection) -> bool:
    """Whether a collection is what a compaction changes behind its span, since it pointed into it."""
    return entry.generation != EDEN and all(edit.policy == "compaction" for edit in entry.edits)
