"""The originals of a span: its cells as they came, with all that a record of them needs to know.

Rule: they are read from what the client sent or the store kept, never from what was sent in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from ctxgc.core.block import Block, Kind, Message
from ctxgc.core.nodes import Node
from ctxgc.core.record import Original
from ctxgc.core.state import State
from ctxgc.session.eden import clean

_SHOWN = (Kind.IMAGE, Kind.AUDIO, Kind.FILE)
"""Kinds that have no text which could be read back."""


def transcribed(
    state: State, nodes: Sequence[Node], read: Callable[[Node], Message], mint: Callable[[bytes], str]
) -> Generator[None, None, list[Original]]:
    """The cells of these nodes, in order, in slices. ``read`` gives a node's message."""
    calls: dict[str, str] = {}
    found: list[Original] = []
    for node in nodes:
        message = read(node)
        for cell, block in zip(node.cells, message.blocks, strict=True):
            if block.kind is Kind.TOOL_CALL:
                calls[block.call_id] = block.text
            if block.text or block.kind is not Kind.TEXT:
                found.append(_original(state, node, cell, block, calls, mint))
        yield
    return found


def _original(
    state: State, node: Node, cell: int, block: Block, calls: dict[str, str], mint: Callable[[bytes], str]
) -> Original:
    known = state.cells[cell]
    result = block.kind is Kind.TOOL_RESULT
    return Original(
        cell=cell,
        handle="" if block.kind in _SHOWN and not block.text else mint(known.content),
        kind=known.kind,
        author=block.author,
        tag=known.tag,
        site=known.site,
        text=clean(block.text),
        turn=known.turn,
        pinned=known.pinned,
        arguments=clean(calls.get(block.call_id, "")) if result else "",
        node=node.id,
    )
