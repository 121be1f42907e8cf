"""How often each cell of a session was carried: counted for a stretch of its journal in which nothing was changed.

Rule: the work of a stretch follows the nodes there are and not the requests made: requests are counted where they end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import Compacted
from ctxgc.core.state import State
from ctxgc.lab.compactions import span


@dataclass(slots=True)
class Sends:
    """By cell id: in how many requests it came (``times``), with how many it was sent, and the tokens sent for it."""

    times: Counter[int] = field(default_factory=Counter)
    sends: Counter[int] = field(default_factory=Counter)
    sent_turns: Counter[int] = field(default_factory=Counter)
    _came: Counter[int] = field(default_factory=Counter)
    _heads: Counter[int] = field(default_factory=Counter)
    _came_toolsets: Counter[int] = field(default_factory=Counter)
    _toolsets: Counter[int] = field(default_factory=Counter)
    _offers: Counter[int] = field(default_factory=Counter)

    def count(self, state: State, entry: Allocation) -> None:
        """Take a request, which leaves by the state as it is."""
        self._heads[entry.head] += 1
        self._toolsets[entry.toolset] += 1
        self._offers[state.node(entry.head).offer if entry.offered else -1] += 1
        if not entry.again:
            self._came[entry.head] += 1
            self._came_toolsets[entry.toolset] += 1

    def settle(self, state: State) -> None:
        """Add up what was taken since this was last done, before the state changes: each at what it is sent at now."""
        came, sent = _below(state, self._came), _below(state, self._heads)
        behind = _behind(state, sent)
        for made, requests in self._compacted(state):
            _leave_out(state, made, requests, sent, behind)
            self._carry(state, made.cells, 0, requests)
        for node in state.nodes:
            self._carry(state, node.cells, came[node.id], sent[node.id])
        for number, sends in behind.items():
            for each, times in zip(state.own.behind(number), sends, strict=True):
                self._carry(state, each.cells, 0, times)
        for number, toolset in enumerate(state.toolsets):
            self._carry(state, toolset.cells, self._came_toolsets[number], self._toolsets[number])
        for number, offer in enumerate(state.own.offers):
            self._carry(state, (offer.cell,), 0, self._offers[number])
        for counted in (self._came, self._heads, self._came_toolsets, self._toolsets, self._offers):
            counted.clear()

    def _compacted(self, state: State) -> Iterable[tuple[Compacted, int]]:
        """Each span that is left out of some history, and of how many requests it was."""
        found: Counter[int] = Counter()
        for head, requests in self._heads.items():
            made = state.node(head).compacted
            if made is not None:
                found[made.upto] += requests
        known = ((state.node(upto).compacted, requests) for upto, requests in found.items())
        return [(made, requests) for made, requests in known if made is not None]

    def _carry(self, state: State, cells: Iterable[int], times: int, sends: int) -> None:
        for cell in cells if times or sends else ():
            self.times[cell] += times
            self.sends[cell] += sends
            self.sent_turns[cell] += sends * state.cells[cell].sent


def _below(state: State, heads: Counter[int]) -> Counter[int]:
    """How many requests went through each node."""
    below = Counter(heads)
    for node in reversed(state.nodes):
        if node.parent >= 0:
            below[node.parent] += below[node.id]
    return below


def _behind(state: State, below: Counter[int]) -> dict[int, list[int]]:
    """How many requests took each thing of ours behind a node: all through it, but those that go on without it."""
    sends = {node: [below[node]] * len(behind) for node, behind in state.own.inserted.items()}
    for child in state.nodes if sends else ():
        for number, each in enumerate(state.own.behind(child.parent)):
            sends[child.parent][number] -= below[child.id] if each.since > child.id else 0
    return sends


def _leave_out(state: State, made: Compacted, requests: int, sent: Counter[int], behind: dict[int, list[int]]) -> None:
    """Take a span out of what requests through it have sent."""
    nodes = span(state, made)
    for node, child in zip(nodes, [*(node.id for node in nodes[1:]), -1], strict=True):
        if node.id not in made.kept:
            sent[node.id] -= requests
        if node.id == made.upto:  # what stands behind its end is sent
            continue
        for number, each in enumerate(state.own.behind(node.id)):
            behind[node.id][number] -= requests if each.since <= child else 0
