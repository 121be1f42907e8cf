"""The state of a session: a fold of its journal. Live and rebuilt state come from this one function.

Rule: nothing here is changed but by ``apply``, and ``apply`` looks at nothing but the entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.heap import Cell
from ctxgc.core.history import History
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Insertion,
    Marking,
    NewCell,
    NewNode,
    Open,
    Overwritten,
    Pace,
    Pin,
    Recall,
    Recovery,
    Settlement,
)
from ctxgc.core.nodes import Compacted, Head, Marks, Node, Tally, Toolset, add
from ctxgc.core.own import Inserted, Offered

EDEN = "eden"
"""The generation of cells that were never sent."""
LEAST = 4096
"""Input tokens below which a provider may not cache (the largest minimum that any publishes)."""


class State(History):
    """What is known of a session. Cells, nodes and tool sets are numbered from 0 in the order of the journal."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: Open | None = None
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
        self.milestones: list[Milestone] = []
        self.summaries: list[Summary] = []
        self.outcomes: list[str] = []
        self.asked = 0  # tokens of questions about spans, and of their answers
        self.records: dict[int, bytes] = {}

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
            case Recall(found=True) if entry.cell >= 0:
                self.resurrected[entry.cell] = self.resurrected.get(entry.cell, 0) + 1
                self.marked += 1
            case Insertion():
                self._insert(entry)
            case Compaction():
                self._compact(entry)
            case Pin():
                self._pin(entry)
            case Milestone():
                self.milestones.append(entry)
                self.marked += 1
            case Summary():
                self._say(entry)
            case Bypass(plain=True):
                self._take_back()
            case _:
                pass

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
        self.heads[entry.head] = Head(entry.toolset, entry.model, entry.at, entry.offered, entry.continues)
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
            cells, received, sent, offer=parent.offer if parent.offer >= 0 else offer, compacted=parent.compacted,
            told=self.told(new.parent, number),
        )  # fmt: skip
        self.nodes.append(node)
        self.by_chain[new.chain] = number
        self.by_blob[new.parent, new.blob] = number

    def _cell(self, new: NewCell, node: int, turn: int) -> int:
        number, kind = len(self.cells), Kind(new.block)
        self.cells.append(
            Cell(
                number, kind, new.tag, new.site, new.tokens, new.tokens, turn, new.pinned, new.content, new.exact,
                new.fixed,
            )
        )  # fmt: skip
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
        left = entry.call if entry.told >= 0 else b""  # news leave with the request that they were made for
        since, asked = len(self.nodes), entry.call
        self.own.insert(entry.head, Inserted(since, entry.messages, cells, left, asked, entry.told))

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

    def _say(self, entry: Summary) -> None:
        """Take what a model said. Pieces of one span, which were asked about together, have one outcome."""
        if self.summaries and self.summaries[-1].at == entry.at and self.outcomes[-1:] == [self.summaries[-1].outcome]:
            self.outcomes.pop()
        self.summaries.append(entry)
        self.outcomes.append(entry.outcome)
        self.asked += entry.input + entry.output
        self.marked += 1

    def _compact(self, entry: Compaction) -> None:
        """Histories through a node are sent without a span of theirs, and with a record in its place."""
        path = self.path(entry.upto) if 0 <= entry.upto < len(self.nodes) else []
        if entry.after not in {node.id for node in path[:-1]}:
            raise ValueError("a compaction names nodes that are no span of one history")
        turn = self.nodes[entry.upto].turn
        cells = tuple(self._ours(cell, entry.after, turn) for cell in entry.cells)
        following = path[self.nodes[entry.after].depth + 1].id
        earlier = self.nodes[entry.upto].compacted
        known = self.nodes[earlier.upto].depth if earlier else -1
        if not {node.id for node in path[known + 1 :]}.intersection(one.upto for one in self.summaries):
            self.outcomes.append("")  # nobody was asked about it
        number = earlier.number + 1 if earlier else 1
        made = Compacted(
            entry.after, following, entry.upto, frozenset(entry.kept), entry.messages, cells, number, entry.told
        )
        self.nodes[entry.upto] = replace(self.nodes[entry.upto], compacted=made)
        self.by_handle.update(entry.handles)
        if entry.handle not in self.by_handle:
            self.by_handle[entry.handle] = cells[0]
            self.records[cells[0]] = entry.record
        self.marked += 1
        self._retally(entry.upto)

    def _pin(self, entry: Pin) -> None:
        if not 0 <= entry.cell < len(self.cells):
            raise ValueError("a pin names a cell that was never journalled")
        self.cells[entry.cell] = replace(self.cells[entry.cell], pinned=entry.pinned)
        self.marked += 1  # what is planned by now has not heard of it

    def _take_back(self) -> None:
        """Nothing is sent in another form any more; handles still lead to what they stood for."""
        self.plain = True
        self.edits.clear()
        self.evacuated.clear()
        self.own.inserted.clear()
        self.cells = [replace(cell, sent=cell.tokens) for cell in self.cells]
        self.nodes = [replace(node, edits={}, offer=-1, compacted=None) for node in self.nodes]
        self._retally(0)

    def _retally(self, first: int) -> None:
        """Sum up anew what is sent, from the first changed node on: a parent's number is below its children's."""
        for number in range(first, len(self.nodes)):
            node = self.nodes[number]
            made = node.compacted
            if made is not None and made.upto == number:
                sent = self._sent_instead(made)
            else:
                made = self.node(node.parent).compacted
                sent = add(self.sent(node.parent, number), self._own(node.cells))
            self.nodes[number] = replace(node, sent=sent, compacted=made)

    def _sent_instead(self, made: Compacted) -> Tally:
        """The tokens of a history up to the end of a span that was compacted, as it is sent."""
        kept = (cell for number in sorted(made.kept) for cell in self.nodes[number].cells)
        return add(self.sent(made.after, made.following), self._own((*made.cells, *kept)))


def fold(entries: Iterable[AnyEntry]) -> State:
    """The state that a journal comes to."""
    state = State()
    for entry in entries:
        state.apply(entry)
    return state


def edit_tokens(cell: Cell, edit: Edit) -> int:
    """Tokens of a cell as it is sent: its framing stays, its text is the edit's."""
    return cell.tokens - edit.before + edit.after
