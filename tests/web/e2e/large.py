"""A store with one long session, written entry by entry: thousands of requests in a second or two.

Its figures are made up; its bytes are real messages, so that every view of it works.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256

from ctxgc.core.collector import Edit
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Collection,
    Edge,
    Marking,
    NewCell,
    NewNode,
    Open,
    Pace,
    Settlement,
    Usage,
    encode,
    kind,
)  # fmt: skip
from ctxgc.store import Node, Record, Store, Stub
from ctxgc.store.digests import NO_PARENT, chain

KEY = b"\x5a" * 32
TURNS, CELLS = 5_000, 20_000
"""Requests, and about how many cells they bring: each a reply, a call, its result, and a question of the user's."""
FILES = 200
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class _Writer:
    """Makes entries with their records, and remembers what has been numbered."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.cells = 0

    def node(self, message: dict[str, object], turn: int, *cells: NewCell) -> tuple[NewNode, Node, bytes]:
        data = json.dumps(message).encode()
        digest, parent = sha256(data).digest(), len(self.nodes) - 1
        link = chain(self.nodes[parent] if parent >= 0 else NO_PARENT, digest)
        self.nodes.append(link)
        self.cells += len(cells)
        new = NewNode(parent, link, digest, digest, b"", str(message["role"]), turn, cells)
        return new, Node(parent + 1, parent, link, digest, digest), data


def _cell(
    block: str, tag: str, site: str, tokens: int, number: int, call_id: str = "", pinned: bool = False
) -> NewCell:
    return NewCell(block, tag, site, tokens, number.to_bytes(16, "big"), pinned, call_id, True, block == "tool_call")


def _turn(writer: _Writer, turn: int) -> list[tuple[NewNode, Node, bytes]]:
    """A question, what the agent says and calls, and what the tool gives."""
    tool, path, call_id = ("read_file", "search")[turn % 3 == 0], f"src/module_{turn % FILES}.py", f"c{turn}"
    site = f'{tool}({{"path":"{path}"}})'
    function = {"name": tool, "arguments": json.dumps({"path": path})}
    calls = [{"id": call_id, "type": "function", "function": function}]
    text = f"{turn}: " + "what stands in that place\n" * (turn % 7 + 1)
    at = 4 * turn
    return [
        writer.node({"role": "user", "content": f"go on with {turn}"}, turn, _cell("text", "user_turn", "user", 6, at)),
        writer.node({"role": "assistant", "content": f"step {turn}", "tool_calls": calls}, turn,
                    _cell("text", "agent_reply", "agent", 3, at + 1),
                    _cell("tool_call", f"tool_call:{tool}", site, 14, at + 2, call_id)),
        writer.node({"role": "tool", "tool_call_id": call_id, "content": text}, turn,
                    _cell("tool_result", f"tool_result:{tool}", site, 30 * (turn % 7 + 1), at + 3, call_id)),
    ]  # fmt: skip


def _handle(number: int) -> str:
    return "".join(LETTERS[number >> 5 * at & 31] for at in range(16))


def _collection(writer: _Writer, turn: int, call: bytes, at: float) -> Iterator[tuple[AnyEntry, tuple[Stub, ...]]]:
    """Every tenth turn some old results go; the kinds take turns."""
    if turn % 10 or turn < 40:
        return
    old = [writer.cells - 4 * back - 1 for back in range(30, 36)]
    edits = tuple(
        Edit(cell, "generational", "excerpt", "unused for long", f"[ctxgc:{_handle(cell)} cut]", _handle(cell), 120, 8)
        for cell in old
    )
    edits = tuple(edit for edit in edits if turn % 60 == 0 or edit.cell == old[0])
    yield (
        Collection(at=at, call=call, generation="major" if turn % 60 == 0 else "minor", edits=edits),
        tuple(Stub(edit.handle, edit.cell) for edit in edits),
    )


def _request(writer: _Writer, turn: int) -> Iterator[Record]:
    at, call = 1_700_000_000.0 + turn, turn.to_bytes(16, "big")
    first = len(writer.nodes)
    made = _turn(writer, turn)
    whole = 50.0 * turn
    pace = Pace(
        trigger="rent" if turn % 10 == 0 else "", read=1e-7, write=1e-6, paid=whole * 1e-6, untouched=whole * 2e-6
    )
    allocation = Allocation(
        at=at, call=call, model="gpt-5", parent=first - 1, head=len(writer.nodes) - 1, continues=turn > 0,
        received=sha256(call).digest(), sent=sha256(call).digest(), before=(), after=(),
        nodes=tuple(new for new, _, _ in made), size=1000, pace=pace,
    )  # fmt: skip
    yield _record(allocation, turn, 0, tuple(data for *_, data in made), tuple(node for _, node, _ in made))
    for entry, stubs in _collection(writer, turn, call, at):
        yield _record(entry, turn, 1, stubs=stubs)
    edges = (Edge(writer.cells - 3, writer.cells - 5, (), "by name"),) if turn else ()
    yield _record(Marking(at=at, call=call, nodes=len(writer.nodes), edges=edges), turn, 2)
    usage = Usage(uncached=100, cached=40 * turn, output=20)
    yield _record(
        Settlement(at=at, call=call, outcome="ok", status=200, model="gpt-5", estimated=100, usage=usage), turn, 3
    )


def _record(
    entry: AnyEntry,
    turn: int,
    at: int,
    blobs: tuple[bytes, ...] = (),
    nodes: tuple[Node, ...] = (),
    stubs: tuple[Stub, ...] = (),
) -> Record:
    idem = (turn * 8 + at + 1).to_bytes(16, "big")
    return Record(KEY, kind(entry), encode(entry), idem, blobs, nodes, stubs)


def write_long_session(store: Store, turns: int = TURNS) -> None:
    """Write it. Raises ``StoreError``."""
    opening = Open(at=1_700_000_000.0, scope=b"s" * 32, origin="prefix", codec="openai_chat")
    records, writer = [Record(KEY, "open", encode(opening), bytes(16))], _Writer()
    for turn in range(turns):
        records += _request(writer, turn)
        if len(records) > 2_000:
            store.append(records).result()
            records = []
    store.append(records).result()
    store.flush()
