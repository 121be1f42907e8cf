"""What each request of a session carried: a walk over its journal that keeps count, request by request.

Rule: a request costs what is new in it. Sums come from the tallies of nodes, and how often a cell was carried from the
number of requests below its node, never from going through a history again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ctxgc.core.block import Kind
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Insertion, Settlement
from ctxgc.core.nodes import add
from ctxgc.core.own import Inserted
from ctxgc.core.state import State
from ctxgc.lab.churn import Churning
from ctxgc.lab.index import Index
from ctxgc.lab.requests import Carried as Carried
from ctxgc.lab.requests import Request as Request
from ctxgc.lab.sends import Sends

Charge = Callable[[str], tuple[int, int]]
"""From a model's name to what a token costs that is read from its cache, and one that is written to it, in any unit of
which an amount is a whole number: sums of such do not depend on their order."""

_CALL, _RESULT = Kind.TOOL_CALL.value, Kind.TOOL_RESULT.value


def carried(entries: Iterable[AnyEntry]) -> Carried:
    """Walk a journal. Raises ``ValueError`` for entries that do not fit together."""
    walk = Walk()
    for entry in entries:
        walk.take(entry)
    return walk.end()


@dataclass(slots=True)
class Walk:
    """A walk under way. A request is only booked when the next begins: its collection comes after its allocation.

    ``before`` and ``after`` are for who applies the entries to ``state`` himself, since others look at it, too. What
    ``end`` gives is right whenever the newest request is whole; the walk may go on after it.
    """

    state: State = field(default_factory=State)
    charge: Charge = lambda _: (0, 0)
    requests: list[Request] = field(default_factory=list)
    answers: list[tuple[int, int]] = field(default_factory=list)
    settled: list[Settlement] = field(default_factory=list)
    bypassed: Counter[str] = field(default_factory=Counter)
    index: Index = field(default_factory=Index)
    policies: set[str] = field(default_factory=set)
    sends: Sends = field(default_factory=Sends)
    churning: Churning = field(default_factory=Churning)
    _begun: tuple[Allocation, int] | None = None
    _record: tuple[int, ...] = ()
    _changed: bool = False
    _resized: list[tuple[int, int]] = field(default_factory=list)
    _cells: int = 0
    _behind: Counter[int] = field(default_factory=Counter)
    _calls: list[Mapping[str, int]] = field(default_factory=list)
    _came_before: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    _seen: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def take(self, entry: AnyEntry) -> None:
        """Apply an entry, and count it. Raises ``ValueError`` for one that does not fit what came before it."""
        self.before(entry)
        self.state.apply(entry)
        self.after(entry)

    def before(self, entry: AnyEntry) -> None:
        """What is to be done before the state takes an entry."""
        self._cells = len(self.state.cells)
        if isinstance(entry, Allocation):
            self.book()
            self._begun = (entry, len(self.state.nodes))
            self._record, self._changed = (), False
        elif isinstance(entry, Collection):
            self._collecting(entry)
        elif isinstance(entry, Compaction):
            self.sends.settle(self.state)
        elif isinstance(entry, Insertion) or (isinstance(entry, Bypass) and entry.plain):
            if not self._news(entry):
                self.book()
            self.sends.settle(self.state)

    def after(self, entry: AnyEntry) -> None:
        """What is to be done after it."""
        if isinstance(entry, Allocation):
            self._pair(entry)
            self._came(() if entry.offer is None else (self.state.own.offers[-1].cell,))
        elif isinstance(entry, Collection):
            self._collected(entry)
        elif isinstance(entry, Compaction):
            self._forget({entry.upto})
            self._changed, self._record = True, tuple(range(self._cells, len(self.state.cells)))
            self._came(self._record)
        elif isinstance(entry, Insertion):
            self._came(range(self._cells, len(self.state.cells)))
        elif isinstance(entry, Settlement) and entry.usage is not None:
            self.settled.append(entry)
        elif isinstance(entry, Bypass):
            self.bypassed[entry.reason] += 1

    def end(self) -> Carried:
        """All that was carried so far."""
        self.book()
        self.sends.settle(self.state)
        return Carried(
            self.state,
            tuple(self.requests),
            tuple(self.sends.times),
            tuple(self.sends.sends),
            tuple(self.sends.sent_turns),
            tuple(self.answers),
            tuple(self.settled),
            dict(self.bypassed),
            tuple(self.sends.spent),
            self.index,
            frozenset(self.policies),
            self.churning.churn(),
        )

    def book(self) -> None:
        """The request that was begun, as it left."""
        if self._begun is None:
            return
        (entry, first), self._begun = self._begun, None
        read, write = self.charge(entry.model)
        self.sends.count(self.state, entry, read)
        node, tools = self.state.node(entry.head), self.state.toolset(entry.toolset)
        received, sent = add(node.received, tools.tally.items()), self.state.sent(entry.head)
        plain = sent is node.received and not entry.offered  # nothing of it was ever changed: one tally serves both
        sent = received if plain else add(sent, self.state.tools(entry).items())
        cells = [cell for node in self.state.nodes[first:] for cell in node.cells]
        prefix, prefix_sent = self._prefix(entry)  # before what is ours is taken for sent
        ours = [*self._record, *self._unsent(entry)]
        if entry.schemas is not None:
            ours += tools.cells
        if entry.offer is not None:
            ours.append(self.state.own.offers[-1].cell)
        known = self.state.cells
        new = [known[cell] for cell in cells]
        sizes = [cell.sent for cell in new] + [known[cell].sent for cell in ours]
        self._paid_first((*cells, *ours), sizes, write - read)
        self.requests.append(
            Request(
                number=len(self.requests) + 1,
                call=entry.call,
                at=entry.at,
                model=entry.model,
                head=entry.head,
                toolset=entry.toolset,
                continues=entry.continues,
                received={} if entry.again else received,
                sent=sent,
                fresh=sum([cell.tokens for cell in entry.schemas or ()]) + sum([cell.tokens for cell in new]),
                fresh_sent=sum(sizes),
                prefix=0 if entry.again else prefix,
                prefix_sent=prefix_sent,
                offered=entry.offered,
                again=entry.again,
                changed=self._changed,
            )
        )
        self.churning.take(entry, new, self.requests[-1].total_sent, collected=self._changed)

    def _paid_first(self, cells: Iterable[int], sizes: Iterable[int], price: int) -> None:
        """What is sent for the first time is written to the cache and not read."""
        if price:
            self.sends.grow(len(self.state.cells))
            for cell, tokens in zip(cells, sizes, strict=True):
                self.sends.spent[cell] += price * tokens

    def _came(self, ours: Iterable[int]) -> None:
        """Note the new cells, and which of them are ours."""
        self.sends.ours += ours
        number = len(self.requests) + (self._begun is not None)
        self.index.take(self.state.cells[self._cells :], number)

    def _collecting(self, entry: Collection) -> None:
        """What was sent until now was sent as it was: of cells that are edited, note what that is."""
        cells = {edit.cell for edit in entry.edits}
        self._resized = []
        if not self._old(entry):
            return
        if self.sends.bears(self.state, cells):
            self._resized = [(cell, self.state.cells[cell].sent) for cell in sorted(cells)]
        else:
            self.sends.settle(self.state)

    def _collected(self, entry: Collection) -> None:
        self.policies.update(edit.policy for edit in entry.edits)
        if self._resized:
            cells = [cell for cell, _ in self._resized]
            self.sends.change(self.state, cells, [sent - self.state.cells[cell].sent for cell, sent in self._resized])
        old = self._old(entry)
        self._changed = self._changed or bool(old)
        self._forget(old)

    def _news(self, entry: AnyEntry) -> bool:
        """Whether an entry has something leave with the request that was begun."""
        told = isinstance(entry, Insertion) and entry.told >= 0
        return told and self._begun is not None and self._begun[0].call == getattr(entry, "call", None)

    def _unsent(self, entry: Allocation) -> Iterator[int]:
        """What stands of ours where the new part begins and ends, and was not sent yet."""
        for node in {entry.parent, entry.head} if self.state.own.inserted else ():
            behind = self.state.own.behind(node)
            yield from (cell for each in behind[self._behind[node] :] for cell in each.cells)
            self._behind[node] = len(behind)

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
            calls: dict[str, int] = {}
            for cell, made in zip(node.cells, new.cells, strict=True):
                if made.block == _CALL:
                    calls[made.call_id] = cell
                elif made.block == _RESULT and made.call_id in before:
                    self.answers.append((before[made.call_id], cell))
            self._calls.append(calls or before)
