"""Marking: what new cells refer to, and which older ones they put out of date. Done while the upstream thinks.

Rule: the indices here are caches of texts that the store has, built from a session's nodes in their order; what they
find is journalled, so that liveness is a fold of the journal.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field

from ctxgc.core.barrier import Barrier
from ctxgc.core.block import Author, Block, Kind, Message
from ctxgc.core.digest import telling
from ctxgc.core.failures import Failures, failed
from ctxgc.core.journal import Edge, Marking, Overwritten
from ctxgc.core.nodes import Node
from ctxgc.core.references import References
from ctxgc.core.resources import Access, accesses
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.store import Store, StoreError
from ctxgc.wire.codec import Codec

OFFSETS = 32
"""Places in one cell that one text is noted to refer to."""


@dataclass(slots=True)
class Marker:
    """The indices over a session's cells; ``nodes`` is how many of its nodes are in them."""

    nodes: int = 0
    _references: References = field(default_factory=References)
    _barrier: Barrier = field(default_factory=Barrier)
    _failures: Failures = field(default_factory=Failures)
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    _names: dict[str, tuple[int, int]] = field(default_factory=dict)
    _said: dict[str, int] = field(default_factory=dict)

    def catch_up(self, state: State, store: Store, codec: Codec) -> Generator[None, None, None]:
        """Take the nodes that the journal says are marked, but that are not in the indices: after a restart."""
        for node in state.nodes[self.nodes : state.covered]:
            yield from self._node(node, _read(node, store, codec), [], [])
            self.nodes = node.id + 1
            yield

    def take(
        self, state: State, known: Mapping[int, Message], store: Store, codec: Codec, call: bytes, at: float
    ) -> Generator[None, None, Marking | None]:
        """Mark all nodes that are not marked yet, those of ``known`` without reading them: what the journal is to say.

        None where there are none. What the store has lost introduces nothing and refers to nothing.
        """
        yield from self.catch_up(state, store, codec)
        edges: list[Edge] = []
        overwritten: list[Overwritten] = []
        first = self.nodes
        for node in state.nodes[first:]:
            message = known.get(node.id) or _read(node, store, codec)
            yield from self._node(node, message, edges, overwritten)
            self.nodes = node.id + 1
        if self.nodes == first:
            return None
        return Marking(at=at, call=call, nodes=self.nodes, edges=tuple(edges), overwritten=tuple(overwritten))

    def referred(self, message: Message) -> frozenset[int]:
        """The cells that a message of the agent refers to; it becomes part of nothing."""
        return frozenset(edge.target for block in message.blocks for edge in self._edges(-1, block))

    def said(self, term: str, turn: int) -> bool:
        """Whether the agent, the user or the system had said a term by then: it stands in the context anyway."""
        return self._said.get(term, turn + 1) <= turn

    def quotable(self) -> frozenset[int]:
        """The cells that an edit may have to quote: the newest views of resources that the agent is editing."""
        return self._barrier.in_use()

    def _node(
        self, node: Node, message: Message | None, edges: list[Edge], overwritten: list[Overwritten]
    ) -> Generator[None, None, None]:
        if message is None:
            return
        for cell, block in zip(node.cells, message.blocks, strict=True):
            if block.author is not Author.TOOL:
                for term in telling(block.text):
                    self._said.setdefault(term, node.turn)
            if block.author is Author.AGENT:
                edges += self._edges(cell, block)
                if block.kind is Kind.TOOL_CALL:
                    self._calls[block.call_id] = (block.name, block.text)
            elif block.kind is Kind.TOOL_RESULT:
                overwritten += self._result(cell, block)
                yield from self._references.adding(cell, block.text)
                for name, offset in _offsets(block.text):
                    self._names[name] = (cell, offset)
            elif block.text:
                self._references.background(block.text)

    def _edges(self, source: int, block: Block) -> list[Edge]:
        if block.author is not Author.AGENT or not block.text:
            return []
        found: dict[int, tuple[set[int], str]] = {}
        for reference in self._references.refer(block.text):
            newest = self._names.get(reference.evidence, (reference.cell, 0))[0]
            if newest == reference.cell:  # of the cells that carry a name, the newest is what was read
                found[reference.cell] = (set(reference.at), reference.evidence)
        for name in dict.fromkeys(telling(block.text)):
            if name in self._names:
                cell, offset = self._names[name]
                found.setdefault(cell, (set(), name))[0].add(offset)
        return [
            Edge(source, cell, tuple(sorted(at)[:OFFSETS]), _clean(said)) for cell, (at, said) in sorted(found.items())
        ]

    def _result(self, cell: int, block: Block) -> list[Overwritten]:
        tool, arguments = self._calls.get(block.call_id, (block.name, ""))
        failure, touched = failed(block.text), accesses(tool, arguments)
        stale = self._barrier.take(cell, touched, block.text, failure)
        about = _about(touched, arguments)
        overcome = self._failures.take(cell, tool, about, failure=failure)
        gone = [Overwritten(one.cell, one.by, one.why) for one in stale]
        return gone + [Overwritten(one, cell, "overcome", overcome=True) for one in overcome]


def _read(node: Node, store: Store, codec: Codec) -> Message | None:
    try:
        return codec.decode(store.blob(node.blob))
    except (StoreError, Malformed):
        return None


def _about(touched: Iterable[Access], arguments: str) -> tuple[str, ...]:
    """What a call is about, to know another attempt at the same: its resources, or else its first words."""
    resources = tuple(dict.fromkeys(access.resource for access in touched))
    return resources or (" ".join(arguments.split()[:3])[:80],)


def _offsets(text: str) -> Iterable[tuple[str, int]]:
    """The telling names of a text and where each stands first."""
    found: dict[str, int] = {}
    at = 0
    for name in telling(text[:400_000]):
        at = text.find(name, at)
        found.setdefault(name, at)
        at += len(name)
    return found.items()


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
