"""The way back: the exact content of a cell, and the exact bytes of a request, from the journal and the store.

Rule: everything is hashed again on the way; what does not agree is an error and never an answer.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from ctxgc.core.block import Message
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Piece
from ctxgc.core.nodes import Compacted, Node
from ctxgc.core.state import State
from ctxgc.store import Store, StoreError, StoreMissing
from ctxgc.wire.codec import Body, Codec


def content(state: State, store: Store, codec: Codec, cell: int) -> str:
    """The text of a cell as it came; of one that a record stands in, the whole record.

    Raises ``StoreError`` where the store does not have it or it does not agree.
    """
    if cell in state.records:
        return store.blob(state.records[cell]).decode()
    node = state.node(state.owners[cell])
    return codec.decode(store.blob(node.blob)).blocks[node.cells.index(cell)].text


class Originals:
    """The original texts of the cells of a history that is in hand, read from its request when they are asked for."""

    def __init__(self, body: Body, codec: Codec, state: State) -> None:
        self._body, self._codec, self._state = body, codec, state
        self._whole: Body | None = None

    def __call__(self, cell: int) -> str:
        """The text of a cell. Raises ``Malformed``."""
        node = self._state.node(self._state.owners[cell])
        return self.message(node).blocks[node.cells.index(cell)].text

    def message(self, node: Node) -> Message:
        """The message of a node. Raises ``Malformed``."""
        self._whole = self._whole or self._codec.split(self._body.text)
        return self._codec.decode(self._whole.messages[node.depth].of(self._whole.text))


def lines(text: str, first: int, last: int) -> str:
    """Lines ``first`` to ``last`` of a text, counted from 1, both included, with their line ends.

    A line ends at a line feed and nowhere else, as the stubs count them and every tool outside Python does.
    """
    return "".join(islice(io.StringIO(text, newline="\n"), max(first, 1) - 1, max(last, 0)))


def received(state: State, store: Store, codec: Codec, entry: Allocation) -> bytes:
    """The request body as it came, from the pieces around its history and the messages of its path."""
    history = _history(state, store, entry, lambda _, raw: raw, ours=False)
    return b"".join((*_pieces(store, entry.before), *history, *_pieces(store, entry.after)))


def sent(state: State, store: Store, codec: Codec, entry: Allocation) -> bytes:
    """The request body as it left: the same with the edits of its nodes, and with what is ours in it."""
    before, after = (b"".join(_pieces(store, pieces)) for pieces in (entry.before, entry.after))
    if entry.offered:
        tool = state.own.offers[state.node(entry.head).offer].tool
        before, after = codec.offer(before, tool), codec.offer(after, tool)
    history = _history(state, store, entry, lambda node, raw: codec.project(raw, node.edits), ours=True)
    return b"".join((before, *history, after))


def disagreements(entries: Iterable[AnyEntry], store: Store, codec: Codec) -> Iterator[str]:
    """What of a session's requests cannot be rebuilt to the bytes whose hashes its journal holds.

    A call's edits follow its allocation, so each call is checked when the next entry comes that is none.
    """
    # A body that held a credential is not kept whole, so there is nothing to compare.
    state, call = State(), None
    for entry in entries:
        if call is not None and not _belongs(entry):
            yield from _compare(state, store, codec, call)
            call = None
        state.apply(entry)
        call = entry if isinstance(entry, Allocation) and not _withheld(entry) else call
    if call is not None:
        yield from _compare(state, store, codec, call)


def _belongs(entry: AnyEntry) -> bool:
    """Whether an entry says what was changed in the request that the allocation before it has booked."""
    return isinstance(entry, Collection | Compaction) or (isinstance(entry, Insertion) and entry.told >= 0)


def _withheld(entry: Allocation) -> bool:
    return any(piece.withheld for piece in (*entry.before, *entry.after))


def _compare(state: State, store: Store, codec: Codec, entry: Allocation) -> Iterator[str]:
    for word, rebuild, digest in (("received", received, entry.received), ("sent", sent, entry.sent)):
        try:
            body = rebuild(state, store, codec, entry)
        except StoreError as error:
            yield f"the body {word} in call {entry.call.hex()} cannot be rebuilt: {error}"
            continue
        if hashlib.sha256(body).digest() != digest:
            yield f"the body {word} in call {entry.call.hex()} does not rebuild to the bytes that were booked"


def _history(
    state: State, store: Store, entry: Allocation, form: Callable[[Node, bytes], bytes], *, ours: bool
) -> Iterator[bytes]:
    variants = {variant.node: variant for variant in entry.variants}
    made = state.node(entry.head).compacted if ours else None
    for node, child in state.followed(entry.head):
        if made is None or not state.hidden(node, made):
            variant = variants.get(node.id)
            yield variant.gap if variant else node.gap
            yield form(node, store.blob(variant.blob if variant else node.blob))
        for raw in _ours(state, node, child, made) if ours else ():
            yield from (b",", raw)


def _ours(state: State, node: Node, child: int, made: Compacted | None) -> Iterator[bytes]:
    """What of ours stands behind a node: in a span that is left out nothing, and before it what stands for it."""
    if made is None or node.id == made.upto or not state.inside(node, made):
        yield from (raw for each in state.own.behind(node.id, child) for raw in each.messages)
    if made is not None and node.id == made.after:
        yield from made.messages


def _pieces(store: Store, pieces: Sequence[Piece]) -> Iterator[bytes]:
    for piece in pieces:
        if piece.withheld:
            raise StoreMissing("a credential in this body was withheld from the store, so it cannot be rebuilt")
        yield store.blob(piece.blob) if piece.blob else piece.inline
