"""Who brought, edited and referred to each cell, read off a journal up to one of its requests.

Rule: the journal's own entries are the evidence; turns are numbers of requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Edge, Insertion, Marking
from ctxgc.core.state import State
from ctxgc.lab.moments import Moment


@dataclass(frozen=True, slots=True)
class Reference:
    """One end of a reference: the cell at that end, the request (``turn``) that brought it and its tag; ``said`` is
    the evidence, ``marks`` the character offsets in the cell that is referred to."""

    cell: int
    turn: int
    tag: str
    said: str
    marks: tuple[int, ...]


class Links:
    """See the module. ``edited`` gives the request and the generation of each cell's newest edit, and ``compacted``,
    by the node that a span ends with, the newest request that compacted it and the handle of its record. ``numbers``
    are the requests by call. What comes later is told with ``take``."""

    def __init__(self, moment: Moment | None = None) -> None:
        self.edited: dict[int, tuple[int, str]] = {}
        self.compacted: dict[int, tuple[int, str]] = {}
        self.numbers: dict[bytes, int] = {}
        self.arrivals: list[int] = []
        self._into: dict[int, list[Edge]] = defaultdict(list)
        self._out: dict[int, list[Edge]] = defaultdict(list)
        for entry in (*moment.before, *moment.own) if moment else ():
            self.take(entry)

    def arrived(self, cell: int) -> int:
        """The number of the request that brought a cell, with which it was made, or in whose reply it was recalled."""
        return self.arrivals[cell]

    def into(self, state: State, cell: int) -> tuple[Reference, ...]:
        """The references to a cell, oldest first."""
        return tuple(self._reference(state, edge, edge.source) for edge in self._into.get(cell, ()))

    def out(self, state: State, cell: int) -> tuple[Reference, ...]:
        """The references that a cell makes, oldest first."""
        return tuple(self._reference(state, edge, edge.target) for edge in self._out.get(cell, ()))

    def take(self, entry: AnyEntry) -> None:
        """The next entry of the journal."""
        numbers = self.numbers
        match entry:
            case Allocation():
                numbers[entry.call] = len(numbers) + 1
                cells = len(entry.schemas or ()) + (entry.offer is not None)
                cells += sum(len(node.cells) for node in entry.nodes)
                self.arrivals += [len(numbers)] * cells  # cells are numbered as they come
            case Insertion() | Compaction():
                number = numbers.get(entry.call, len(numbers))
                self.arrivals += [number] * len(entry.cells)
                if isinstance(entry, Compaction):
                    self.compacted[entry.upto] = number, entry.handle
            case Collection():
                made = numbers.get(entry.call, len(numbers)), entry.generation
                self.edited.update((edit.cell, made) for edit in entry.edits)
            case Marking():
                self._refer(entry.edges)
            case Bypass(plain=True):
                self.edited.clear()
            case _:
                pass

    def _refer(self, edges: Sequence[Edge]) -> None:
        for edge in edges:
            self._into[edge.target].append(edge)
            self._out[edge.source].append(edge)

    def _reference(self, state: State, edge: Edge, other: int) -> Reference:
        return Reference(other, self.arrived(other), state.cells[other].tag, edge.evidence, edge.marks)
