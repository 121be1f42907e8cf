"""Which cells refer to which, as far as a page shows it: counts, the newest, and who refers to a cell.

Rule: kept up to date entry by entry; a cell's list is replaced and never changed, so that documents may share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxgc.core.journal import Edge
from ctxgc.core.state import State

KEPT = 20
"""References to one cell that are listed: the newest."""


@dataclass(slots=True)
class References:
    """By id, ``count`` is the turns that referred to a cell, and ``newest`` the newest request that did (0: none).
    ``kept_by`` lists, by id as text, the cells that refer to it and their requests, the newest last."""

    count: list[int] = field(default_factory=list)
    newest: list[int] = field(default_factory=list)
    kept_by: dict[str, list[list[int]]] = field(default_factory=dict)

    def take(self, edges: Iterable[Edge], state: State, arrived: Sequence[int]) -> None:
        """Take references that a marking has added to the state."""
        self.grow(len(state.cells))
        for edge in edges:
            number, request = edge.target, arrived[edge.source]
            self.count[number] = state.marks[number].count
            self.newest[number] = max(self.newest[number], request)
            name = str(number)
            self.kept_by[name] = [*self.kept_by.get(name, ())[-KEPT + 1 :], [edge.source, request]]

    def grow(self, count: int) -> None:
        """Make room for so many cells."""
        for column in (self.count, self.newest):
            column += [0] * (count - len(column))
