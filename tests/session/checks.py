"""What must hold after any sequence of requests, as functions that raise ``AssertionError`` where it does not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from ctxgc.core.compaction import Compaction
from ctxgc.core.heap import content_digest
from ctxgc.core.journal import decode
from ctxgc.core.nodes import ROOT, Node
from ctxgc.core.state import State, fold
from ctxgc.session import Kit, Session
from ctxgc.session.originals import disagreements
from ctxgc.wire.codec import Codec
from tests.session.scripts import history


class Prefixes:
    """What was sent for a history is sent again for it: the same bytes for the same bytes, else the same texts.

    ``see`` takes what came and what was sent for it, and compares with all that it saw before.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._bytes: dict[bytes, bytes] = {}
        self._texts: dict[bytes, tuple[str, ...]] = {}

    def see(self, received: bytes, sent: bytes) -> None:
        came, left = history(received), history(sent)
        assert len(came) == len(left)
        exact = canonical = b""
        for raw, out in zip(came, left, strict=True):
            exact = hashlib.sha256(exact + raw).digest()
            canonical = hashlib.sha256(canonical + self._codec.decode(raw).digest).digest()
            texts = tuple(block.text for block in self._codec.decode(out).blocks)
            assert self._bytes.setdefault(exact, out) == out, "the prefix was not sent again byte for byte"
            assert self._texts.setdefault(canonical, texts) == texts, "the prefix was not sent again"


def facts(state: State) -> dict[str, Any]:
    """All that a state says, for comparing."""
    return {**vars(state), "nodes": [structs.asdict(node) for node in state.nodes]}


def rebuilds(session: Session, used: Kit) -> None:
    """The journal tells the live state."""
    entries = [decode(stored.body) for stored in used.store.entries(session.key)]
    assert facts(fold(entries)) == facts(session.state)


def originals(session: Session, used: Kit) -> None:
    """Every call's bytes can be rebuilt, as they came and as they left."""
    entries = [decode(stored.body) for stored in used.store.entries(session.key)]
    assert list(disagreements(entries, used.store, used.codec)) == []


def attribution(state: State) -> None:
    """Every token belongs to a cell, a tag and a message, and the sums agree."""
    attribution_at(state, range(len(state.nodes)))


def attribution_at(state: State, heads: Iterable[int]) -> None:
    """``attribution``, of the histories that end at these nodes."""
    for node in map(state.node, heads):
        path = state.path(node.id)
        received = Counter[str]()
        for cell in (state.cells[number] for one in path for number in one.cells):
            received[cell.tag] += cell.tokens
        sent = Counter[str]()
        for cell in (state.cells[number] for number in sent_cells(state, node)):
            sent[cell.tag] += cell.sent
        last = [state.cells[cell] for each in state.own.behind(node.id) for cell in each.cells]
        assert dict(node.received) == {tag: tokens for tag, tokens in received.items() if tag in node.received}
        assert sum(node.received.values()) == received.total()
        assert {tag: tokens for tag, tokens in node.sent.items() if tokens} == {
            tag: tokens for tag, tokens in sent.items() if tokens
        }
        assert state.tokens(node.id, -1, sent=False) == received.total()
        assert state.tokens(node.id, -1, sent=True) == sent.total() + sum(cell.sent for cell in last)
        assert node.cells
    owned = [cell for node in [ROOT, *state.nodes] for cell in node.cells]
    owned += [cell for behind in state.own.inserted.values() for each in behind for cell in each.cells]
    if not state.plain:  # what was ours is gone from the history then, and its cells are sent no more
        left = sorted(number for number, owner in enumerate(state.owners) if owner >= 0)
        assert [number for number in left if number not in set(owned)] == records(state)
        assert sorted(owned) == [number for number in left if number in set(owned)]


def records(state: State) -> list[int]:
    """The cells of the records that ever stood for a span."""
    return [number for number, cell in enumerate(state.cells) if cell.tag == "summary" and not cell.tokens]


def sent_cells(state: State, node: Node) -> Iterator[int]:
    """The cells of a history as it is sent, without what is ours behind its last message: put together anew here."""
    path, made = state.path(node.id), node.compacted
    first, last = (state.node(each).depth for each in (made.after, made.upto)) if made else (-1, -1)
    for one, child in zip(path, [*(each.id for each in path[1:]), -1], strict=True):
        inside = first < one.depth <= last
        if not inside or (made and one.id in made.kept):
            yield from one.cells
        if (not inside or one.depth == last) and child >= 0:
            yield from (cell for each in state.own.behind(one.id, child) for cell in each.cells)
        if made and one.id == made.after:
            yield from made.cells


def shorter(state: State, original: dict[int, str]) -> None:
    """No edit makes a text longer, but where something in it had to be defused."""
    for edit in state.edits.values():
        if "defuse" not in edit.action:
            assert edit.after < edit.before
            assert len(edit.text) < len(original[edit.cell])


def recalled(session: Session) -> dict[int, str]:
    """The content of every edited cell, read back through its handle and compared with its digest."""
    found = {}
    for edit in tuple(session.state.edits.values()):
        text = session.recall(edit.handle)
        assert content_digest(text) == session.state.cells[edit.cell].content
        found[edit.cell] = text
    return found


def recorded(session: Session, used: Kit) -> None:
    """What was left out, and each record, is read back exactly: a record says nothing of the one before it."""
    entries = [decode(stored.body) for stored in used.store.entries(session.key)]
    for entry in (one for one in entries if isinstance(one, Compaction)):
        whole = session.recall(entry.handle)
        assert hashlib.sha256(whole.encode()).digest() == entry.record
        for handle, cell in entry.handles.items():
            assert content_digest(session.recall(handle)) == session.state.cells[cell].content
        path = session.state.path(entry.upto)
        inside = [node for node in path if node.depth > session.state.node(entry.after).depth]
        for node in inside:
            for cell in node.cells:
                digest = session.state.cells[cell].content
                assert f"- c{cell} [" in whole or digest == content_digest(""), "a cell of the span is in no record"


def texts_of(codec: Codec, bodies: Sequence[bytes]) -> set[str]:
    """Every block's text that came in some bodies."""
    return {block.text for text in bodies for raw in history(text) for block in codec.decode(raw).blocks}
