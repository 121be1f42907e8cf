"""The histories of a session, read from its journal: walked message by message, with nothing summed up before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, Collection, Insertion, NewNode

ACTIONS = {"dedup": "dedupe"}
"""Actions that journals name otherwise than metrics do."""


@dataclass
class _Cell:
    tag: str
    came: int
    sent: int


@dataclass
class _Own:
    """Something of ours behind a message: what followed that message before ``since`` goes without it."""

    since: int
    cells: list[int]
    left: bytes


@dataclass(frozen=True)
class Item:
    """A cell of a request: ``old`` if it was sent before; ``record`` if it stands for what was, from here on."""

    cell: int
    old: bool
    record: bool = False


Counted = tuple[Item, int]
"""A cell of a request, with its tokens."""


@dataclass
class History:
    """The cells and messages of a session, in the order of its journal."""

    cells: list[_Cell] = field(default_factory=list)
    nodes: list[tuple[NewNode, list[int]]] = field(default_factory=list)
    toolsets: list[list[int]] = field(default_factory=list)
    offer: int = -1
    edited: dict[int, int] = field(default_factory=dict)
    behind: dict[int, list[_Own]] = field(default_factory=lambda: defaultdict(list))
    spans: list[tuple[Compaction, list[int]]] = field(default_factory=list)

    def new(self, cells: Sequence[NewCell], *, ours: bool = False) -> list[int]:
        first = len(self.cells)
        self.cells += [_Cell(cell.tag, 0 if ours else cell.tokens, cell.tokens) for cell in cells]
        return list(range(first, len(self.cells)))

    def allocate(self, entry: Allocation) -> None:
        if entry.schemas is not None:
            self.toolsets.append(self.new(entry.schemas))
        if entry.offer is not None:
            (self.offer,) = self.new([entry.offer.cell], ours=True)
        for node in entry.nodes:
            self.nodes.append((node, self.new(node.cells)))
        for at in (entry.parent, entry.head):
            for own in self.behind[at]:
                own.left = own.left or entry.call

    def insert(self, entry: Insertion) -> None:
        left = entry.call if entry.told >= 0 else b""
        self.behind[entry.head].append(_Own(len(self.nodes), self.new(entry.cells, ours=True), left))

    def collect(self, entry: Collection) -> Iterator[tuple[str, str, int]]:
        """Change cells; the tag, the action and what went of each."""
        for edit in entry.edits:
            cell = self.cells[edit.cell]
            before, cell.sent = cell.sent, cell.came - edit.before + edit.after
            self.edited[edit.cell] = edit.before - edit.after
            yield cell.tag, ACTIONS.get(last := edit.action.split("+")[-1], last), before - cell.sent

    def path(self, head: int) -> list[int]:
        found = []
        while head >= 0:
            found.append(head)
            head = self.nodes[head][0].parent
        return found[::-1]

    def came(self, entry: Allocation) -> Iterator[Item]:
        """What the client sent."""
        old = set(self.path(entry.parent))
        for at in self.path(entry.head):
            yield from (Item(cell, at in old) for cell in self.nodes[at][1])

    def left(self, entry: Allocation) -> Iterator[Item]:
        """What was sent on."""
        path, old = self.path(entry.head), set(self.path(entry.parent))
        span, record = self._span(path)
        inside = path[path.index(span.after) + 1 : path.index(span.upto) + 1] if span else []
        for at, child in zip(path, [*path[1:], len(self.nodes)], strict=True):
            if at not in inside or (span and at in span.kept):
                yield from (Item(cell, at in old) for cell in self.nodes[at][1])
            for own in self.behind[at]:
                if own.since <= child and (at not in inside or (span and at == span.upto)):
                    before = at in old and (at != entry.parent or own.left != entry.call)
                    yield from (Item(cell, before) for cell in own.cells)
            if span and at == span.after:
                new = span.call == entry.call
                yield from (Item(cell, not new, new) for cell in record)

    def _span(self, path: Sequence[int]) -> tuple[Compaction | None, list[int]]:
        found = [(path.index(span.upto), number) for number, (span, _) in enumerate(self.spans) if span.upto in path]
        return self.spans[max(found)[1]] if found else (None, [])

    def tools(self, entry: Allocation, *, sent: bool) -> list[int]:
        given = self.toolsets[entry.toolset] if entry.toolset >= 0 else []
        return [*given, self.offer] if sent and entry.offered else given


@dataclass
class Request:
    """A request under way: what its history was when its own entries had come."""

    entry: Allocation
    received: list[Counted]
    sent: list[Counted]
    tools_received: list[Counted]
    tools_sent: list[Counted]
    collected: bool = False


def saved(request: Request) -> tuple[int, int]:
    """How many tokens less were sent than came: of what is new in a request, and of what was there before. A record
    stands for what was there before."""
    if request.entry.again:
        return 0, 0
    new = old = 0
    for sign, items in ((1, request.received), (-1, request.sent)):
        for item, tokens in items:
            if item.old or item.record:
                old += sign * tokens
            else:
                new += sign * tokens
    return max(new, 0), max(old, 0)
