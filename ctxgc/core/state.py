"""The state of a session: a fold of its journal. Live and rebuilt state come from this one function.

Rule: nothing here is changed but by ``apply``, and ``apply`` looks at nothing but the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.heap import Cell
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Insertion,
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
from ctxgc.core.nodes import ROOT, Head, Marks, Node, Tally, Toolset, add
from ctxgc.core.own import Inserted, Offered, Own

EDEN = "eden"
"""The generation of cells that were never sent."""
LEAST = 4096
"""Input tokens below which a provider may not cache (the largest minimum that any publishes)."""


class State:
    """What is known of a session. Cells, nodes and tool sets are numbered from 0 in the order of the journal."""

    def __init__(self) -> None:
        self.opened: Open | None = None
        self.nodes: list[Node] = []
        self.cells: list[Cell] = []
        self.owners: list[int] = []
        self.toolsets: list[Toolset] = []
        self.own = Own()
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
        self.covered = 0
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
            case Insertion():
                self._insert(entry)
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

    def followed(self, head: int) -> Iterator[tuple[Node, int]]:
        """The nodes of a history, each with the number of the one that follows it; -1 for the last."""
        path = self.path(head)
        yield from zip(path, [node.id for node in path[1:]], strict=False)
        yield from ((node, -1) for node in path[-1:])

    def tokens(self, head: int, toolset: int, *, sent: bool, offered: bool = False) -> int:
        """The tokens of a whole request, as it came or as it is sent: with the tool of ours, if it is ``offered``."""
        if not sent:
            return sum(self.node(head).received.values()) + sum(self.toolset(toolset).tally.values())
        return sum(self.sent(head).values()) + sum(self._tools(head, toolset, offered=offered).values())

    def tools(self, entry: Allocation) -> Tally:
        """The tokens of the tools that leave with a request, per tag: the client's, and the one that it offers."""
        return self._tools(entry.head, entry.toolset, offered=entry.offered)

    def sent(self, head: int, child: int = -1) -> Tally:
        """The tokens of a history as it is sent, per tag, with what stands of ours behind its last node."""
        return self._with(self.node(head).sent, self.own.behind(head, child))

    def left(self, head: int, call: bytes = b"") -> Tally:
        """``sent``, without what of ours at its end leaves first with the request ``call`` (empty: with the next)."""
        return self._with(self.node(head).sent, (each for each in self.own.behind(head) if each.call != call))

    def fresh(self, head: int) -> int:
        """The tokens of what stands of ours behind a node and has not left with any request."""
        return sum(self.sent(head).values()) - sum(self.left(head).values())

    def _tools(self, head: int, toolset: int, *, offered: bool) -> Tally:
        tally, offer = self.toolset(toolset).tally, self.node(head).offer if offered else -1
        return tally if offer < 0 else add(tally, self._own((self.own.offers[offer].cell,)))

    def _with(self, tally: Tally, inserted: Iterable[Inserted]) -> Tally:
        cells = [cell for each in inserted for cell in each.cells]
        return add(tally, self._own(cells)) if cells else tally

    def _own(self, cells: Iterable[int]) -> Iterable[tuple[str, int]]:
        return ((self.cells[cell].tag, self.cells[cell].sent) for cell in cells)

    def _allocate(self, entry: Allocation) -> None:
        nodes, toolsets = len(self.nodes) + len(entry.nodes), len(self.toolsets) + (entry.schemas is not None)
        if not -1 <= entry.head < nodes or entry.toolset >= toolsets:
            raise ValueError("an allocation names a node or tool set that was never journalled")
        if entry.schemas is not None:
            cells = tuple(self._cell(cell, -1, 0) for cell in entry.schemas)
            self.by_toolset[entry.tools] = len(self.toolsets)
            self.toolsets.append(Toolset(cells, add({}, ((cell.tag, cell.tokens) for cell in entry.schemas))))
        offer = -1
        if entry.offer is not None:
            offer = len(self.own.offers)
            self.own.offers.append(Offered(entry.offer.tool, self._ours(entry.offer.cell, -1, 0)))
        for number, node in enumerate(entry.nodes, 1):  # a system prompt may be that of other histories too
            begun = node.role == "user" or node.turn > 0 or number == len(entry.nodes)
            self._node(node, offer if begun else -1)
        self.calls += 1
        self.unsettled[entry.call] = entry
        self.own.leave((entry.parent, entry.head), entry.call)
        self.heads[entry.head] = Head(entry.toolset, entry.model, entry.at, entry.offered)
        if entry.parent in self.heads:  # its prefix was used, too
            self.heads[entry.parent] = replace(self.heads[entry.parent], at=entry.at)
        self.pace = entry.pace or self.pace

    def _mark(self, entry: Marking) -> None:
        """Take references and what is out of date."""
        self.marked += bool(entry.edges or entry.overwritten)
        self.covered = max(self.covered, entry.nodes)
        for edge in entry.edges:
            known = self.marks.get(edge.target, Marks())
            self.marks[edge.target] = known.marked(edge.source, self.cells[edge.source].turn, edge.marks)
        for one in entry.overwritten:
            self.overwritten[one.cell] = one

    def _settle(self, entry: Settlement) -> None:
        """How many calls in a row the provider reported to be read from no cache, though a prefix had been sent."""
        allocation = self.unsettled.pop(entry.call, None)
        if allocation is not None and allocation.head in self.heads:
            self.heads[allocation.head] = replace(self.heads[allocation.head], at=entry.at)
        if entry.usage is not None and allocation is not None and allocation.parent >= 0 and entry.usage.input > LEAST:
            self.uncached = 0 if entry.usage.cached else self.uncached + 1

    def _node(self, new: NewNode, offer: int) -> None:
        number, parent = len(self.nodes), self.node(new.parent)
        cells = tuple(self._cell(cell, number, new.turn) for cell in new.cells)
        received = add(parent.received, ((cell.tag, cell.tokens) for cell in new.cells))
        before = self.sent(new.parent)
        same = before is parent.received  # nothing on the path is edited: one tally serves both
        sent = received if same else add(before, ((cell.tag, cell.tokens) for cell in new.cells))
        node = Node(
            number, new.parent, parent.depth + 1, new.turn, new.chain, new.blob, new.gap, new.role, new.eden,
            cells, received, sent, offer=parent.offer if parent.offer >= 0 else offer,
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

    def _ours(self, new: NewCell, node: int, turn: int) -> int:
        """A cell that is sent and never came. It is no call or result that anything of the client's refers to."""
        number = len(self.cells)
        kind = Kind(new.block)
        self.cells.append(Cell(number, kind, new.tag, new.site, 0, new.tokens, turn, True, new.content, new.exact))
        self.owners.append(node)
        return number

    def _insert(self, entry: Insertion) -> None:
        if not 0 <= entry.head < len(self.nodes):
            raise ValueError("an insertion names a node that was never journalled")
        if entry.void:
            self._withdraw(entry)
            return
        turn = self.nodes[entry.head].turn
        cells = tuple(self._ours(cell, entry.head, turn) for cell in entry.cells)
        self.own.insert(entry.head, Inserted(len(self.nodes), entry.messages, cells, asked=entry.call))

    def _withdraw(self, entry: Insertion) -> None:
        """What a round was refused with is sent no more, and belongs to no history."""
        for cell in self.own.withdraw(entry.head, entry.call):
            self.owners[cell] = -1
            self.cells[cell] = replace(self.cells[cell], sent=0)
        self.marked += 1  # what is planned by now has counted it
        self._retally(entry.head + 1)

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
        self.own.inserted.clear()
        self.cells = [replace(cell, sent=cell.tokens) for cell in self.cells]
        self.nodes = [replace(node, edits={}, offer=-1) for node in self.nodes]
        self._retally(0)

    def _retally(self, first: int) -> None:
        """Sum up anew what is sent, from the first changed node on: a parent's number is below its children's."""
        for number in range(first, len(self.nodes)):
            node = self.nodes[number]
            sent = add(self.sent(node.parent, number), self._own(node.cells))
            self.nodes[number] = replace(node, sent=sent)


def fold(entries: Iterable[AnyEntry]) -> State:
    """The state that a journal comes to."""
    state = State()
    for entry in entries:
        state.apply(entry)
    return state


def edit_tokens(cell: Cell, edit: Edit) -> int:
    """Tokens of a cell as it is sent: its framing stays, its text is the edit's."""
    return cell.tokens - edit.before + edit.after
