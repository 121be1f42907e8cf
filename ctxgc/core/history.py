"""The histories of a session, to be read: messages, cells and tool sets, and what they come to in tokens.

Rule: nothing is changed here; the fold of the journal does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxgc.core.heap import Cell
from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import ROOT, Compacted, Node, Tally, Toolset, add
from ctxgc.core.own import Inserted, Own

_NO_TOOLS = Toolset((), {})


class History:
    """Cells, nodes and tool sets are numbered from 0 in the order of the journal."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.cells: list[Cell] = []
        self.owners: list[int] = []
        self.toolsets: list[Toolset] = []
        self.own = Own()

    def node(self, number: int) -> Node:
        """The node of that number; -1 is the empty history."""
        return self.nodes[number] if number >= 0 else ROOT

    def toolset(self, number: int) -> Toolset:
        """The tool set of that number; -1 is none."""
        return self.toolsets[number] if number >= 0 else _NO_TOOLS

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

    def told(self, head: int, child: int = -1) -> int:
        """The position in the ledger's log up to which a history was told of it; -1 if it never was."""
        node = self.node(head)
        made = node.compacted.told if node.compacted else -1
        behind = self.own.behind(head, child)
        return max(node.told, made, *(each.told for each in behind)) if behind else max(node.told, made)

    def shown(self, head: int) -> list[Node]:
        """The nodes of a history of which anything is sent: without those of a span that was compacted."""
        path, made = self.path(head), self.node(head).compacted
        return path if made is None else [node for node in path if not self.hidden(node, made)]

    def inside(self, node: Node, made: Compacted) -> bool:
        """Whether a node of a history through the end of a compacted span lies in that span."""
        return self.nodes[made.after].depth < node.depth <= self.nodes[made.upto].depth

    def hidden(self, node: Node, made: Compacted) -> bool:
        """Whether it is not sent."""
        return node.id not in made.kept and self.inside(node, made)
