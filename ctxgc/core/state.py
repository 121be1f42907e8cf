"""The state of a session: a fold of its journal. Live and rebuilt state come from this one function.

Rule: nothing here is changed but by ``apply``, and ``apply`` looks at nothing but the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.heap import Cell
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Marking,
    NewCell,
    NewNode,
    Open,
    Overwritten,
    Pace,
    Recall,
    Recovery,
    Settlement,
)

MEMORY = 8
"""References to a cell that are remembered one by one: the newest."""
EDEN = "eden"
"""The generation of cells that were never sent."""
LEAST = 4096
"""Input tokens below which a provider may not cache (the largest minimum that any publishes)."""

Tally = Mapping[str, int]
"""Tokens per tag."""


@dataclass(frozen=True, slots=True)
class Node:
    """A message in the trie of histories. ``received`` and ``sent`` are the tokens of the whole path to it, per tag."""

    id: int
    parent: int
    depth: int
    turn: int
    chain: bytes
    blob: bytes
    gap: bytes
    role: str
    eden: bool
    cells: tuple[int, ...]
    received: Tally
    sent: Tally
    edits: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of the references to a cell: how many turns made one, the newest of them, and where they point."""

    count: int = 0
    turn: int = 0
    at: tuple[int, ...] = ()
    by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The last node of a request: with which tool set and model, and when (Unix seconds) it was in use last."""

    toolset: int
    model: str
    at: float


@dataclass(frozen=True, slots=True)
class Toolset:
    """A tool list that requests of the session carried: its cells, and their tokens per tag."""

    cells: tuple[int, ...]
    tally: Tally


_NOTHING: Tally = {}
ROOT = Node(-1, -1, -1, 0, bytes(32), b"", b"", "", False, (), _NOTHING, _NOTHING)


class State:
    """What is known of a session. Cells, nodes and tool sets are numbered from 0 in the order of the journal."""

    def __init__(self) -> None:
        self.opened: Open | None = None
        self.nodes: list[Node] = []
        self.cells: list[Cell] = []
        self.owners: list[int] = []
        self.toolsets: list[Toolset] = []
        self.edits: dict[int, Edit] = {}
        self.evacuated: set[int] = set()
        self.by_handle: dict[str, int] = {}
        self.by_chain: dict[bytes, int] = {}
        self.by_toolset: dict[bytes, int] = {}
        self.by_blob: dict[tuple[int, bytes], int] = {}
        self.call_sites: dict[tuple[int, str], int] = {}
        self.results: dict[tuple[str, bytes], list[int]] = {}
        self.unsettled: dict[bytes, Allocation] = {}
        self.heads: dict[int, Head] = {}
        self.calls = 0
        self.marked = 0
        self.plain = False
        self.resurrected: dict[int, int] = {}
        self.marks: dict[int, Marks] = {}
        self.overwritten: dict[int, Overwritten] = {}
        self.pace = Pace()
        self.uncached = 0

    def apply(self, entry: AnyEntry) -> None:
        """Take one entry. Raises ``ValueError`` for one that does not fit what came before it."""
        match entry:
            case Open():
                self.opened = entry
            case Allocation():
                self._allocate(entry)
            case Collection():
                self._collect(entry)
            case Marking():
                self._mark(entry)
            case Settlement():
                self._settle(entry)
            case Recovery():
                self.unsettled.pop(entry.call, None)
            case Recall(found=True):
                self.resurrected[entry.cell] = self.resurrected.get(entry.cell, 0) + 1
                self.marked += 1
            case Bypass(plain=True):
                self._take_back()
            case Recall() | Bypass() | Gap():
                pass

    def node(self, number: int) -> Node:
        """The node of that number; -1 is the empty history."""
        return self.nodes[number] if number >= 0 else ROOT

    def toolset(self, number: int) -> Toolset:
        """The tool set of that number; -1 is none."""
        return self.toolsets[number] if number >= 0 else Toolset((), {})

    def path(self, head: int) -> list[Node]:
        """The nodes of a history from its first message to ``head``."""
        found = []
        while head >= 0:
            found.append(self.nodes[head])
            head = self.nodes[head].parent
        return found[::-1]

    def tokens(self, head: int, toolset: int, *, sent: bool) -> int:
        """The tokens of a whole request, as it came or as it is sent."""
        node = self.node(head)
        return sum((node.sent if sent else node.received).values()) + sum(self.toolset(toolset).tally.values())

    def _allocate(self, entry: Allocation) -> None:
        nodes, toolsets = len(self.nodes) + len(entry.nodes), len(self.toolsets) + (entry.schemas is not None)
        if not -1 <= entry.head < nodes or entry.toolset >= toolsets:
            raise ValueError("an allocation names a node or tool set that was never journalled")
        if entry.schemas is not None:
            cells = tuple(self._cell(cell, -1, 0) for cell in entry.schemas)
            self.by_toolset[entry.tools] = len(self.toolsets)
            self.toolsets.append(Toolset(cells, add({}, ((cell.tag, cell.tokens) for cell in entry.schemas))))
        for node in entry.nodes:
            self._node(node)
        self.calls += 1
        self.unsettled[entry.call] = entry
        self.heads[entry.head] = Head(entry.toolset, entry.model, entry.at)
        if entry.parent in self.heads:  # its prefix was used, too
            self.heads[entry.parent] = replace(self.heads[entry.parent], at=entry.at)
        self.pace = entry.pace or self.pace

    def _mark(self, entry: Marking) -> None:
        """Take references and what is out of date. A turn that refers to a cell several times counts once."""
        self.marked += 1
        for edge in entry.edges:
            known, turn = self.marks.get(edge.target, Marks()), self.cells[edge.source].turn
            count = known.count + (turn != known.turn or not known.count)
            at = tuple(sorted({*known.at, *edge.marks}))
            by = (*known.by, edge.source)[-MEMORY:]
            self.marks[edge.target] = Marks(count, max(turn, known.turn), at, by)
        for one in entry.overwritten:
            self.overwritten[one.cell] = one

    def _settle(self, entry: Settlement) -> None:
        """How many calls in a row the provider reported to be read from no cache, though a prefix had been sent."""
        allocation = self.unsettled.pop(entry.call, None)
        if allocation is not None and allocation.head in self.heads:
            self.heads[allocation.head] = replace(self.heads[allocation.head], at=entry.at)
        if entry.usage is not None and allocation is not None and allocation.parent >= 0 and entry.usage.input > LEAST:
            self.uncached = 0 if entry.usage.cached else self.uncached + 1

    def _node(self, new: NewNode) -> None:
        number, parent = len(self.nodes), self.node(new.parent)
        cells = tuple(self._cell(cell, number, new.turn) for cell in new.cells)
        received = add(parent.received, ((cell.tag, cell.tokens) for cell in new.cells))
        same = parent.sent is parent.received  # nothing on the path is edited: one tally serves both
        sent = received if same else add(parent.sent, ((cell.tag, cell.tokens) for cell in new.cells))
        node = Node(
            number, new.parent, parent.depth + 1, new.turn, new.chain, new.blob, new.gap, new.role, new.eden,
            cells, received, sent,
        )  # fmt: skip
        self.nodes.append(node)
        self.by_chain[new.chain] = number
        self.by_blob[new.parent, new.blob] = number

    def _cell(self, new: NewCell, node: int, turn: int) -> int:
        number, kind = len(self.cells), Kind(new.block)
        self.cells.append(
            Cell(
                number,
                kind,
                new.tag,
                new.site,
                new.tokens,
                new.tokens,
                turn,
                new.pinned,
                new.content,
                new.exact,
                new.fixed,
            )
        )
        self.owners.append(node)
        if kind is Kind.TOOL_CALL:
            self.call_sites[node, new.call_id] = number
        elif kind is Kind.TOOL_RESULT:
            self.results.setdefault((new.site, new.content), []).append(number)
        return number

    def _collect(self, entry: Collection) -> None:
        texts: dict[int, dict[int, str]] = {}
        for edit in entry.edits:
            self.edits[edit.cell] = edit
            if entry.generation != EDEN:
                self.evacuated.add(edit.cell)
            self.by_handle[edit.handle] = edit.cell
            self.cells[edit.cell] = replace(self.cells[edit.cell], sent=edit_tokens(self.cells[edit.cell], edit))
            node = self.nodes[self.owners[edit.cell]]
            texts.setdefault(node.id, {})[edit.cell - node.cells[0]] = edit.text  # a node's cells are numbered in a row
        for number, edits in texts.items():
            self.nodes[number] = replace(self.nodes[number], edits={**self.nodes[number].edits, **edits})
        if texts:
            self._retally(min(texts))

    def _take_back(self) -> None:
        """Nothing is sent in another form any more; handles still lead to what they stood for."""
        self.plain = True
        self.edits.clear()
        self.evacuated.clear()
        self.cells = [replace(cell, sent=cell.tokens) for cell in self.cells]
        self.nodes = [replace(node, edits={}) for node in self.nodes]
        self._retally(0)

    def _retally(self, first: int) -> None:
        """Sum up anew what is sent, from the first changed node on: a parent's number is below its children's."""
        for number in range(first, len(self.nodes)):
            node = self.nodes[number]
            own = ((self.cells[cell].tag, self.cells[cell].sent) for cell in node.cells)
            self.nodes[number] = replace(node, sent=add(self.node(node.parent).sent, own))


def fold(entries: Iterable[AnyEntry]) -> State:
    """The state that a journal comes to."""
    state = State()
    for entry in entries:
        state.apply(entry)
    return state


def add(tally: Tally, items: Iterable[tuple[str, int]]) -> Tally:
    """A new tally with more tokens in it."""
    total = dict(tally)
    for tag, tokens in items:
        total[tag] = total.get(tag, 0) + tokens
    return total


def edit_tokens(cell: Cell, edit: Edit) -> int:
    """Tokens of a cell as it is sent: its framing stays, its text is the edit's."""
    return cell.tokens - edit.before + edit.after
