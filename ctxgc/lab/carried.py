"""What each request of a session carried: a walk over its journal that keeps count, request by request.

Rule: a request costs what is new in it. Sums come from the tallies of nodes, and how often a cell was carried from the
number of requests below its node, never from going through a history again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ctxgc.core.block import Kind
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, NewNode, Settlement
from ctxgc.core.state import State, Tally, add


@dataclass(frozen=True, slots=True)
class Request:
    """One request, numbered from 1. All figures are tokens; ``received`` is as it came, ``sent`` as it left, per tag.

    ``fresh`` is what no earlier request carried. ``prefix`` is what it shares, from its first byte on, with an earlier
    request of the same model and tool list: the longest that a prefix cache can hold.
    """

    number: int
    call: bytes
    at: float
    model: str
    head: int
    toolset: int
    continues: bool
    received: Tally
    sent: Tally
    fresh: int
    fresh_sent: int
    prefix: int
    prefix_sent: int

    @property
    def total(self) -> int:
        """All its tokens as it came."""
        return sum(self.received.values())

    @property
    def total_sent(self) -> int:
        """All its tokens as it left."""
        return sum(self.sent.values())


@dataclass(frozen=True, slots=True)
class Carried:
    """The whole session. By cell id: ``times`` is how many requests carried it, ``sent_turns`` the tokens sent for it.

    ``answers`` pairs each tool call with its result; ``settled`` are the settlements that report usage; ``bypassed``
    counts the requests that went on unread, by reason.
    """

    state: State
    requests: tuple[Request, ...]
    times: tuple[int, ...]
    sent_turns: tuple[int, ...]
    answers: tuple[tuple[int, int], ...]
    settled: tuple[Settlement, ...]
    bypassed: Mapping[str, int]

    def newest(self) -> Request | None:
        """The newest request of the main history: helper calls and openings, which continue nothing, only if alone."""
        main = (request for request in reversed(self.requests) if request.continues)
        return next(main, self.requests[-1] if self.requests else None)

    def resident(self) -> frozenset[int]:
        """The cells that the newest request carries."""
        newest = self.newest()
        if newest is None:
            return frozenset()
        cells = {cell for node in self.state.path(newest.head) for cell in node.cells}
        return frozenset(cells.union(self.state.toolset(newest.toolset).cells))


def carried(entries: Iterable[AnyEntry]) -> Carried:
    """Walk a journal. Raises ``ValueError`` for entries that do not fit together."""
    walk = _Walk()
    for entry in entries:
        walk.take(entry)
    return walk.end()


@dataclass(slots=True)
class _Walk:
    """The walk under way. A request is only booked when the next begins: its collection comes after its allocation."""

    state: State = field(default_factory=State)
    requests: list[Request] = field(default_factory=list)
    times: Counter[int] = field(default_factory=Counter)
    sent_turns: Counter[int] = field(default_factory=Counter)
    answers: list[tuple[int, int]] = field(default_factory=list)
    settled: list[Settlement] = field(default_factory=list)
    bypassed: Counter[str] = field(default_factory=Counter)
    _begun: tuple[Allocation, int] | None = None
    _heads: Counter[int] = field(default_factory=Counter)
    _toolsets: Counter[int] = field(default_factory=Counter)
    _calls: list[Mapping[str, int]] = field(default_factory=list)
    _seen: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def take(self, entry: AnyEntry) -> None:
        if isinstance(entry, Allocation):
            self._book()
            self._begun = (entry, len(self.state.nodes))
        elif isinstance(entry, Collection) and self._old(entry):
            self._settle_counts()
        self.state.apply(entry)
        if isinstance(entry, Allocation):
            self._pair(entry)
        elif isinstance(entry, Collection):
            self._forget(self._old(entry))
        elif isinstance(entry, Settlement) and entry.usage is not None:
            self.settled.append(entry)
        elif isinstance(entry, Bypass):
            self.bypassed[entry.reason] += 1

    def end(self) -> Carried:
        self._book()
        self._settle_counts()
        cells = range(len(self.state.cells))
        return Carried(
            self.state,
            tuple(self.requests),
            tuple(self.times[cell] for cell in cells),
            tuple(self.sent_turns[cell] for cell in cells),
            tuple(self.answers),
            tuple(self.settled),
            dict(self.bypassed),
        )

    def _book(self) -> None:
        """The request that was begun, as it left."""
        if self._begun is None:
            return
        (entry, first), self._begun = self._begun, None
        self._heads[entry.head] += 1
        self._toolsets[entry.toolset] += 1
        node, tools = self.state.node(entry.head), self.state.toolset(entry.toolset)
        cells = [self.state.cells[cell] for node in self.state.nodes[first:] for cell in node.cells]
        schemas = sum(cell.tokens for cell in entry.schemas or ())
        prefix, prefix_sent = self._prefix(entry)
        self.requests.append(
            Request(
                number=len(self.requests) + 1,
                call=entry.call,
                at=entry.at,
                model=entry.model,
                head=entry.head,
                toolset=entry.toolset,
                continues=entry.continues,
                received=add(node.received, tools.tally.items()),
                sent=add(node.sent, tools.tally.items()),
                fresh=schemas + sum(cell.tokens for cell in cells),
                fresh_sent=schemas + sum(cell.sent for cell in cells),
                prefix=prefix,
                prefix_sent=prefix_sent,
            )
        )

    def _prefix(self, entry: Allocation) -> tuple[int, int]:
        """The tokens, as they came and as they left, up to the deepest node sent before with this model and tools."""
        key = (entry.model, entry.toolset)
        known = key in self._seen
        seen = self._seen.setdefault(key, set())
        at = entry.head
        while at >= 0 and at not in seen:
            seen.add(at)
            at = self.state.node(at).parent
        tools = sum(self.state.toolset(entry.toolset).tally.values()) if known else 0
        node = self.state.node(at)
        return tools + sum(node.received.values()), tools + sum(node.sent.values())

    def _old(self, entry: Collection) -> set[int]:
        """The nodes that a collection edits and that left in another form before."""
        first = self._begun[1] if self._begun else len(self.state.nodes)
        return {owner for edit in entry.edits if (owner := self.state.owners[edit.cell]) < first}

    def _forget(self, edited: set[int]) -> None:
        """A node that changed, and all behind it, is in no cache any more."""
        if not edited:
            return
        for node in self.state.nodes[min(edited) :]:
            if node.id in edited or node.parent in edited:
                edited.add(node.id)
        for seen in self._seen.values():
            seen -= edited

    def _settle_counts(self) -> None:
        """Add up how often cells were carried since this was last done: each at the tokens it is sent at now."""
        below = Counter(self._heads)
        for node in reversed(self.state.nodes):
            if node.parent >= 0:
                below[node.parent] += below[node.id]
        for node in self.state.nodes:
            self._carry(node.cells, below[node.id])
        for number, toolset in enumerate(self.state.toolsets):
            self._carry(toolset.cells, self._toolsets[number])
        self._heads.clear()
        self._toolsets.clear()

    def _carry(self, cells: Iterable[int], times: int) -> None:
        for cell in cells if times else ():
            self.times[cell] += times
            self.sent_turns[cell] += times * self.state.cells[cell].sent

    def _pair(self, entry: Allocation) -> None:
        """Find the call that each new result answers: it stands at the newest node with calls before it."""
        first = len(self.state.nodes) - len(entry.nodes)
        for node, new in zip(self.state.nodes[first:], entry.nodes, strict=True):
            before = self._calls[node.parent] if node.parent >= 0 else {}
            calls = _own_calls(new, node.cells)
            for cell, made in zip(node.cells, new.cells, strict=True):
                if made.block == Kind.TOOL_RESULT and made.call_id in before:
                    self.answers.append((before[made.call_id], cell))
            self._calls.append(calls or before)


def _own_calls(new: NewNode, cells: tuple[int, ...]) -> Mapping[str, int]:
    pairs = zip(new.cells, cells, strict=True)
    return {made.call_id: cell for made, cell in pairs if made.block == Kind.TOOL_CALL}
