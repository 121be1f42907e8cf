"""What each request of a session carried: a walk over its journal that keeps count, request by request.

Rule: a request costs what is new in it. Sums come from the tallies of nodes, and how often a cell was carried from the
number of requests below its node, never from going through a history again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ctxgc.core.block import Kind
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Insertion, NewNode, Settlement
from ctxgc.core.nodes import Tally, add
from ctxgc.core.own import Inserted
from ctxgc.core.state import State
from ctxgc.lab.compactions import parts
from ctxgc.lab.sends import Sends


@dataclass(frozen=True, slots=True)
class Request:
    """One request, numbered from 1. All figures are tokens; ``received`` is as it came, ``sent`` as it left, per tag.

    ``fresh`` is what no earlier request carried. ``prefix`` is what it shares, from its first byte on, with an earlier
    request of the same model and tool list: the longest that a prefix cache can hold. A request that ctxgc sent once
    more, for what the model recalled, was received from nobody: it came with nothing. A record that stands for a span,
    and news of the ledger, came with nothing either, and are fresh in what is sent.
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
    offered: bool = False

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
    """The whole session. By cell id: ``times`` is in how many requests it came, ``sends`` with how many it was sent,
    and ``sent_turns`` the tokens sent for it.

    ``answers`` pairs each tool call with its result; ``settled`` are the settlements that report usage; ``bypassed``
    counts the requests that went on unread, by reason.
    """

    state: State
    requests: tuple[Request, ...]
    times: tuple[int, ...]
    sends: tuple[int, ...]
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
        cells = {cell for part in parts(self.state, newest.head) if not part.out for cell in part.cells}
        offer = self.state.node(newest.head).offer if newest.offered else -1
        cells.update((self.state.own.offers[offer].cell,) if offer >= 0 else ())
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
    answers: list[tuple[int, int]] = field(default_factory=list)
    settled: list[Settlement] = field(default_factory=list)
    bypassed: Counter[str] = field(default_factory=Counter)
    _begun: tuple[Allocation, int] | None = None
    _record: int = 0
    _sends: Sends = field(default_factory=Sends)
    _behind: Counter[int] = field(default_factory=Counter)
    _calls: list[Mapping[str, int]] = field(default_factory=list)
    _came_before: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    _seen: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def take(self, entry: AnyEntry) -> None:
        if isinstance(entry, Allocation):
            self._book()
            self._begun = (entry, len(self.state.nodes))
            self._record = 0
        elif (isinstance(entry, Collection) and self._old(entry)) or isinstance(entry, Compaction):
            self._sends.settle(self.state)
        elif isinstance(entry, Insertion) or (isinstance(entry, Bypass) and entry.plain):
            if not self._news(entry):
                self._book()
            self._sends.settle(self.state)
        self.state.apply(entry)
        if isinstance(entry, Allocation):
            self._pair(entry)
        elif isinstance(entry, Collection):
            self._forget(self._old(entry))
        elif isinstance(entry, Compaction):
            self._forget({entry.upto})
            self._record = sum(cell.tokens for cell in entry.cells)
        elif isinstance(entry, Settlement) and entry.usage is not None:
            self.settled.append(entry)
        elif isinstance(entry, Bypass):
            self.bypassed[entry.reason] += 1

    def end(self) -> Carried:
        self._book()
        self._sends.settle(self.state)
        cells = range(len(self.state.cells))
        return Carried(
            self.state,
            tuple(self.requests),
            tuple(self._sends.times[cell] for cell in cells),
            tuple(self._sends.sends[cell] for cell in cells),
            tuple(self._sends.sent_turns[cell] for cell in cells),
            tuple(self.answers),
            tuple(self.settled),
            dict(self.bypassed),
        )

    def _book(self) -> None:
        """The request that was begun, as it left."""
        if self._begun is None:
            return
        (entry, first), self._begun = self._begun, None
        self._sends.count(self.state, entry)
        node, tools = self.state.node(entry.head), self.state.toolset(entry.toolset)
        cells = [self.state.cells[cell] for node in self.state.nodes[first:] for cell in node.cells]
        schemas = sum(cell.tokens for cell in entry.schemas or ())
        begins = entry.offer.cell.tokens if entry.offer else 0
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
                received={} if entry.again else add(node.received, tools.tally.items()),
                sent=add(self.state.sent(entry.head), self.state.tools(entry).items()),
                fresh=schemas + sum(cell.tokens for cell in cells),
                fresh_sent=schemas + begins + self._record + self._unsent(entry) + sum(cell.sent for cell in cells),
                prefix=0 if entry.again else prefix,
                prefix_sent=prefix_sent,
                offered=entry.offered,
            )
        )

    def _news(self, entry: AnyEntry) -> bool:
        """Whether an entry has something leave with the request that was begun."""
        told = isinstance(entry, Insertion) and entry.told >= 0
        return told and self._begun is not None and self._begun[0].call == getattr(entry, "call", None)

    def _unsent(self, entry: Allocation) -> int:
        """The tokens of what stands of ours where the new part begins and ends, and was not sent yet."""
        fresh = 0
        for node in {entry.parent, entry.head}:
            behind = self.state.own.behind(node)
            fresh += self._tokens(behind[self._behind[node] :])
            self._behind[node] = len(behind)
        return fresh

    def _tokens(self, inserted: Iterable[Inserted]) -> int:
        return sum(self.state.cells[cell].sent for each in inserted for cell in each.cells)

    def _prefix(self, entry: Allocation) -> tuple[int, int]:
        """The tokens, as they came and as they left, up to the deepest node sent before with this model and tools.

        As they came, nothing was ever changed: what was collected since is still a prefix there.
        """
        key = (entry.model, entry.toolset)
        known = key in self._seen
        came, _ = self._deepest(self._came_before.setdefault(key, set()), entry.head)
        at, child = self._deepest(self._seen.setdefault(key, set()), entry.head, sent=True)
        tools, ours = self.state.toolset(entry.toolset).tally, self.state.tools(entry)
        node = self.state.node(at)
        behind = self.state.own.behind(at, child)[: self._behind[at]]
        received = sum(self.state.node(came).received.values()) + (sum(tools.values()) if known else 0)
        sent = sum(node.sent.values()) + self._tokens(behind) + (sum(ours.values()) if known else 0)
        return received, sent

    def _deepest(self, seen: set[int], at: int, *, sent: bool = False) -> tuple[int, int]:
        """The deepest node of a path that was seen, and its child there; the others are seen from now on.

        As it is ``sent``, a record stands between the end of a span and what is before it.
        """
        child, made = -1, self.state.node(at).compacted if sent else None
        while at >= 0 and at not in seen:
            seen.add(at)
            if made is not None and at == made.upto:
                at, child = made.after, made.following
            else:
                at, child = self.state.node(at).parent, at
        return at, child

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
