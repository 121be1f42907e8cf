"""What is ctxgc's own in the histories of a session: the tool that they offer, and what the model recalled with it.

Rule: it stands behind a node for those who come after it; what was sent without it goes on without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool of ours as it is sent, and its cell."""

    tool: bytes
    cell: int


@dataclass(frozen=True, slots=True)
class Inserted:
    """Messages of ours behind a node, and their cells. Nodes that followed it before ``since`` go without them.

    ``call`` is the request that they left with first (empty: none yet), ``asked`` the one in whose reply the model
    asked for them. ``told`` is the position in the ledger's log up to which they tell of it.
    """

    since: int
    messages: tuple[bytes, ...]
    cells: tuple[int, ...]
    call: bytes = b""
    asked: bytes = b""
    told: int = -1


@dataclass(slots=True)
class Own:
    """The tools, numbered from 0 in the order of the journal, and what stands behind which node, in order."""

    offers: list[Offered] = field(default_factory=list)
    inserted: dict[int, tuple[Inserted, ...]] = field(default_factory=dict)

    def insert(self, node: int, inserted: Inserted) -> None:
        """Have messages stand behind a node from now on."""
        self.inserted[node] = (*self.inserted.get(node, ()), inserted)

    def withdraw(self, node: int, asked: bytes) -> tuple[int, ...]:
        """Have what was asked for in the reply to that request stand behind a node no more; the cells that it had.

        An empty one keeps its place, so that those behind it are counted as before. News were asked for by nobody.
        """
        found = self.inserted.get(node, ())
        taken = [each for each in found if each.asked == asked and each.told < 0]
        if not taken:
            return ()
        self.inserted[node] = tuple(replace(each, messages=(), cells=()) if each in taken else each for each in found)
        return tuple(cell for each in taken for cell in each.cells)

    def leave(self, nodes: Iterable[int], call: bytes) -> None:
        """Note that a request carries what stands behind these nodes."""
        for node in self.inserted.keys() & set(nodes):
            self.inserted[node] = tuple(each if each.call else replace(each, call=call) for each in self.inserted[node])

    def behind(self, node: int, child: int = -1) -> tuple[Inserted, ...]:
        """What stands between a node and the ``child`` that follows it; without one, all that is behind it now."""
        found = self.inserted.get(node, ())
        return found if child < 0 or not found else tuple(each for each in found if each.since <= child)
