"""What the page must show of a session, added up from its journal by going through it request by request.

It knows nothing of ``ctxgc.web``: states are folded anew for each request, and figures are sums over cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction
from ctxgc.core.heap import Cell
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Marking, Offer, Recall, Settlement
from ctxgc.core.state import State, fold
from ctxgc.core.stub import TOKENS as STUB
from ctxgc.lab.compactions import parts
from ctxgc.lab.gc_log import Made, gc_log
from ctxgc.lab.moments import Moment, moment
from ctxgc.tokens import Price, PriceTable

MODEL = "gpt-5"
HIGH, LOW = 0.75, 0.5
_UNIT = 10**15
"""Sums of prices are made in whole numbers: half a digit must not depend on their order."""
Row = tuple[int, int, int, int, int, int]


class Truth:
    """A session of one model that has a price, as its journal has it."""

    def __init__(self, entries: Sequence[AnyEntry]) -> None:
        self.entries = entries
        price = PriceTable.load().price(MODEL)
        assert price is not None
        self.price: Price = price

    @cached_property
    def state(self) -> State:
        return fold(self.entries)

    @property
    def cells(self) -> Sequence[Cell]:
        return self.state.cells

    @cached_property
    def moments(self) -> list[Moment]:
        count = sum(isinstance(entry, Allocation) for entry in self.entries)
        return [moment(self.entries, at) for at in range(1, count + 1)]

    @cached_property
    def states(self) -> list[State]:
        """The state with each request."""
        return [fold((*one.before, *one.own)) for one in self.moments]

    @cached_property
    def left(self) -> list[dict[int, int]]:
        """Of each request, the cells that it sent with their tokens."""
        return [_left(state, one.entry) for state, one in zip(self.states, self.moments, strict=True)]

    @cached_property
    def came(self) -> list[set[int]]:
        """Of each request, the cells that it came with."""
        return [_came(state, one.entry) for state, one in zip(self.states, self.moments, strict=True)]

    @cached_property
    def ends(self) -> dict[bytes, Settlement]:
        return {entry.call: entry for entry in self.entries if isinstance(entry, Settlement)}

    @cached_property
    def received(self) -> list[int]:
        return [sum(self.cells[cell].tokens for cell in came) for came in self.came]

    @cached_property
    def sent(self) -> list[int]:
        return [sum(left.values()) for left in self.left]

    @cached_property
    def net(self) -> list[float]:
        paces = [one.entry.pace for one in self.moments]
        return [pace.untouched - pace.paid for pace in paces if pace is not None]

    @cached_property
    def newest(self) -> int:
        """The place of the newest request of the main history."""
        return max(at for at, one in enumerate(self.moments) if one.entry.continues)

    @cached_property
    def arrived(self) -> dict[int, int]:
        """The request with which each cell came into the journal; what is inserted behind one came with it."""
        found, number = list[int](), 0
        for entry in self.entries:
            number += isinstance(entry, Allocation)
            found += [number] * len(_new_cells(entry))
        return dict(enumerate(found))

    @cached_property
    def booked(self) -> list[NewCell]:
        """All cells as they were booked."""
        found = [cell for entry in self.entries for cell in _new_cells(entry)]
        assert [cell.tag for cell in found] == [cell.tag for cell in self.cells]
        return found

    @cached_property
    def token_turns(self) -> Counter[int]:
        found = Counter[int]()
        for came in self.came:
            for cell in came:
                found[cell] += self.cells[cell].tokens
        return found

    @cached_property
    def sent_turns(self) -> Counter[int]:
        found = Counter[int]()
        for left in self.left:
            found.update(left)
        return found

    @cached_property
    def cost(self) -> dict[int, float]:
        """What each cell has cost: written with the first request that sent it, read with each later one."""
        spent, seen = Counter[int](), set[int]()
        for left in self.left:
            for cell, tokens in left.items():
                spent[cell] += tokens * _units(self.price.cached_read if cell in seen else self.price.cache_write)
                seen.add(cell)
        return {cell.id: spent[cell.id] / _UNIT for cell in self.cells}

    @cached_property
    def references(self) -> dict[int, set[int]]:
        """The requests that refer to each cell."""
        found: dict[int, set[int]] = {}
        for entry in self.entries:
            for edge in entry.edges if isinstance(entry, Marking) else ():
                found.setdefault(edge.target, set()).add(self.arrived[edge.source])
        return found

    @cached_property
    def handles(self) -> dict[int, str]:
        found: dict[int, str] = {}
        known = 0
        for entry in self.entries:
            if isinstance(entry, Collection):
                found.update({edit.cell: edit.handle for edit in entry.edits})
            known += len(_new_cells(entry))
            if isinstance(entry, Compaction):
                found.update({number: handle for handle, number in entry.handles.items()})
                found.update(dict.fromkeys(range(known - len(entry.cells), known), entry.handle))
        return found

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Calls with their results: both say the same call id, in one history."""
        ids = [(cell.kind, booked.call_id, cell.id) for cell, booked in zip(self.cells, self.booked, strict=True)]
        calls = {call: number for kind, call, number in ids if kind == "tool_call" and call}
        return [(calls[call], number) for kind, call, number in ids if kind == "tool_result" and call in calls]

    @cached_property
    def retained(self) -> dict[int, int]:
        here = self.left[self.newest]
        partner = {one: other for pair in self.pairs for one, other in (pair, pair[::-1])}
        return {
            cell.id: max(0, here[cell.id] + here.get(partner.get(cell.id, -1), 0) - STUB) if cell.id in here else 0
            for cell in self.cells
        }

    @cached_property
    def collections(self) -> tuple[Made, ...]:
        return gc_log(self.entries, lambda model: self.price if model == MODEL else None, self._least).made

    def _least(self, model: str) -> int:
        return self.price.min_cacheable

    def rows(self, names: Sequence[str]) -> dict[str, Row]:
        """Sums by name: cells, tokens, resent, token-turns, sent-turns, resident."""
        here, found = self.left[self.newest], dict[str, list[int]]()
        for cell, name in zip(self.cells, names, strict=True):
            row = found.setdefault(name, [0] * 6)
            turns = self.token_turns[cell.id]
            figures = 1, cell.tokens, turns - cell.tokens, turns, self.sent_turns[cell.id], here.get(cell.id, 0)
            for at, value in enumerate(figures):
                row[at] += value
        return {name: (row[0], row[1], row[2], row[3], row[4], row[5]) for name, row in found.items()}

    @property
    def sites(self) -> list[str]:
        return ["ctxgc_recall" if cell.tag == "recall" else cell.site for cell in self.cells]

    def recalled(self) -> list[int]:
        return [entry.cell for entry in self.entries if isinstance(entry, Recall) and entry.found]

    def schemas(self) -> dict[str, list[int]]:
        """The cells of each tool's schema."""
        found: dict[str, list[int]] = {}
        for cell in self.cells:
            if cell.kind == "tool_schema":
                found.setdefault(cell.tag.partition(":")[2], []).append(cell.id)
        return found


def _units(price: float) -> int:
    return round(price * _UNIT)


def _left(state: State, entry: Allocation) -> dict[int, int]:
    offer = state.node(entry.head).offer if entry.offered else -1
    cells = [*state.toolset(entry.toolset).cells, *([state.own.offers[offer].cell] if offer >= 0 else [])]
    for part in parts(state, entry.head):
        cells += () if part.out else part.cells
    return {cell: state.cells[cell].sent for cell in cells}


def _came(state: State, entry: Allocation) -> set[int]:
    if entry.again:
        return set()
    nodes = {cell for node in state.path(entry.head) for cell in node.cells}
    return nodes | set(state.toolset(entry.toolset).cells)


def _new_cells(entry: AnyEntry) -> list[NewCell]:
    """The cells that an entry brings, in the order in which they are numbered."""
    if isinstance(entry, Insertion | Compaction):
        return list(entry.cells)
    if not isinstance(entry, Allocation):
        return []
    offered = [entry.offer.cell] if isinstance(entry.offer, Offer) else []
    return [*(entry.schemas or ()), *offered, *(cell for node in entry.nodes for cell in node.cells)]
