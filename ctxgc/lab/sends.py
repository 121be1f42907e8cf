"""How often each cell of a session was carried: counted for a stretch of its journal in which nothing was changed.

Rule: the work of a stretch follows the nodes there are and not the requests made: requests are counted where they end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import add, mul

from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import Compacted
from ctxgc.core.state import State
from ctxgc.lab.compactions import span


@dataclass(slots=True)
class Requests:
    """Amounts by where requests end: by node, tool list and tool of ours."""

    heads: list[int] = field(default_factory=list)
    toolsets: Counter[int] = field(default_factory=Counter)
    offers: Counter[int] = field(default_factory=Counter)

    def count(self, state: State, entry: Allocation, amount: int) -> None:
        """Take a request."""
        self.heads += [0] * (len(state.nodes) - len(self.heads))
        if entry.head >= 0:
            self.heads[entry.head] += amount
        self.toolsets[entry.toolset] += amount
        self.offers[state.node(entry.head).offer if entry.offered else -1] += amount

    def below(self, state: State, first: int = 0) -> list[int]:
        """How much goes through each node from ``first`` on; one more at the end, for what belongs to no node."""
        amounts = [*self.heads[first:], *([0] * (len(state.nodes) - max(len(self.heads), first))), 0]
        nodes = state.nodes
        for at in range(len(nodes) - 1, first - 1, -1):
            amount = amounts[at - first]
            if amount and nodes[at].parent >= first:
                amounts[nodes[at].parent - first] += amount
        return amounts

    def times(self, amount: int) -> Requests:
        """The same with each so many times as much."""
        toolsets, offers = (
            Counter({at: one * amount for at, one in sums.items()}) for sums in (self.toolsets, self.offers)
        )
        return Requests([one * amount for one in self.heads], toolsets, offers)


@dataclass(slots=True)
class Sends:
    """By cell id: in how many requests it came (``times``), with how many it was sent (``sends``), the tokens sent for
    it (``sent_turns``) and what that cost (``spent``, in the units in which requests are weighed)."""

    times: list[int] = field(default_factory=list)
    sends: list[int] = field(default_factory=list)
    sent_turns: list[int] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    ours: list[int] = field(default_factory=list)
    _left: Requests = field(default_factory=Requests)
    _came: Requests | None = None  # as long as it is no other than what left, it is not counted
    _weighed: Requests | None = None  # as long as all have one weight, it is not counted
    _weight: int | None = None
    _ends: Counter[int] = field(default_factory=Counter)

    def count(self, state: State, entry: Allocation, weight: int = 0) -> None:
        """Take a request, which leaves by the state as it is. ``weight`` is the price of a token that it reads."""
        if self._weight is None:
            self._weight = weight
        if self._weighed is None and weight != self._weight:
            self._weighed = self._left.times(self._weight)
        if self._came is None and entry.again:
            self._came = self._left.times(1)
        self._left.count(state, entry, 1)
        if self._weighed is not None:
            self._weighed.count(state, entry, weight)
        if self._came is not None and not entry.again:
            self._came.count(state, entry, 1)
        made = state.node(entry.head).compacted
        if made is not None:
            self._ends[made.upto] += 1

    def grow(self, count: int) -> None:
        """Make room for so many cells."""
        for column in (self.times, self.sends, self.sent_turns, self.spent):
            column += [0] * (count - len(column))

    def bears(self, state: State, cells: Iterable[int]) -> bool:
        """Whether ``change`` can note that cells change their size: none of them is where a record may stand."""
        return min((state.owners[cell] for cell in cells), default=-1) > max(self._ends, default=-1)

    def change(self, state: State, cells: Sequence[int], shrunk: Sequence[int]) -> None:
        """Note that cells are sent with so many tokens less from here on: until now they were sent with them."""
        self.grow(len(state.cells))
        first = min(state.owners[cell] for cell in cells)
        left = self._left.below(state, first)
        weighed = self._weighed.below(state, first) if self._weighed is not None else None
        price = self._weight or 0
        for cell, tokens in zip(cells, shrunk, strict=True):
            owner = state.owners[cell] - first
            self.sent_turns[cell] += left[owner] * tokens
            self.spent[cell] += (weighed[owner] if weighed else left[owner] * price) * tokens

    def settle(self, state: State) -> None:
        """Add up what was taken since this was last done, before the state changes: each at what it is sent at now."""
        self.grow(len(state.cells))
        if self._weight is None:
            return
        sent = self._sent(state, self._left)
        apart = self._came is not None or self.ours or self._ends
        came = self._received(state, self._came or self._left) if apart else sent
        sizes = [cell.sent for cell in state.cells]
        turns = list(map(mul, sent, sizes))
        self.times[:] = map(add, self.times, came)
        self.sends[:] = map(add, self.sends, sent)
        self.sent_turns[:] = map(add, self.sent_turns, turns)
        if self._weighed is None:
            costs = [self._weight * tokens for tokens in turns]
        else:
            costs = list(map(mul, self._sent(state, self._weighed), sizes))
        self.spent[:] = map(add, self.spent, costs)
        self._left, self._came, self._weighed = Requests(), None, None
        self._weight, self._ends = None, Counter()

    def _received(self, state: State, requests: Requests) -> list[int]:
        """By cell, in how many requests it came; what is ours came in none."""
        carried = list(map(requests.below(state).__getitem__, state.owners))
        for cell in self.ours:
            carried[cell] = 0
        return self._tools(state, requests, carried)

    def _sent(self, state: State, requests: Requests) -> list[int]:
        """By cell, how much of ``requests`` sent it."""
        below = requests.below(state)
        behind = _behind(state, below)
        records: list[tuple[Compacted, int]] = []
        for made, amount in _shortened(state, requests):
            _leave_out(state, made, amount, below, behind)
            records.append((made, amount))
        below[-1] = 0
        carried = list(map(below.__getitem__, state.owners))
        for cell in self.ours:
            carried[cell] = 0
        for number, amounts in behind.items():
            for each, amount in zip(state.own.behind(number), amounts, strict=True):
                _put(carried, each.cells, amount)
        for made, amount in records:
            _put(carried, made.cells, amount)
        for number, offer in enumerate(state.own.offers):
            _put(carried, (offer.cell,), requests.offers[number])
        return self._tools(state, requests, carried)

    def _tools(self, state: State, requests: Requests, carried: list[int]) -> list[int]:
        for number, toolset in enumerate(state.toolsets):
            _put(carried, toolset.cells, requests.toolsets[number])
        return carried


def _shortened(state: State, requests: Requests) -> list[tuple[Compacted, int]]:
    """Each span that is left out of some history, and how much of ``requests`` was sent without it."""
    found: Counter[int] = Counter()
    for head, amount in enumerate(requests.heads):
        made = state.nodes[head].compacted if amount else None
        if made is not None:
            found[made.upto] += amount
    known = ((state.node(upto).compacted, amount) for upto, amount in found.items())
    return [(made, amount) for made, amount in known if made is not None]


def _put(carried: list[int], cells: Iterable[int], amount: int) -> None:
    for cell in cells:
        carried[cell] = amount


def _behind(state: State, below: list[int]) -> dict[int, list[int]]:
    """How many requests took each thing of ours behind a node: all through it, but those that go on without it."""
    sends = {node: [below[node]] * len(behind) for node, behind in state.own.inserted.items()}
    for child in state.nodes if sends else ():
        for number, each in enumerate(state.own.behind(child.parent)):
            sends[child.parent][number] -= below[child.id] if each.since > child.id else 0
    return sends


def _leave_out(state: State, made: Compacted, amount: int, sent: list[int], behind: dict[int, list[int]]) -> None:
    """Take a span out of what requests through it have sent."""
    nodes = span(state, made)
    for node, child in zip(nodes, [*(node.id for node in nodes[1:]), -1], strict=True):
        if node.id not in made.kept:
            sent[node.id] -= amount
        if node.id == made.upto:  # what stands behind its end is sent
            continue
        for number, each in enumerate(state.own.behind(node.id)):
            behind[node.id][number] -= amount if each.since <= child else 0
