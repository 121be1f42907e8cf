"""What is seen of each call in the journal, as its entries come: kept until it is settled; others compute with it.

Rule: the work for an entry does not follow the length of the history; values only are kept, so that what happens to the
session afterwards does not change what was seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Insertion, Recall, Recovery, Settlement
from ctxgc.core.nodes import Tally
from ctxgc.core.state import State

from .messages import Messages

LIMIT = 10_000
"""Calls kept that were not settled; the oldest is let go first."""

Sent = tuple[Tally, Tally]
"""The tokens per tag that leave: of the history, and of the tools."""


@dataclass(frozen=True, slots=True)
class Change:
    """A collection or a compaction, and what left before and after it."""

    entry: Collection | Compaction
    before: Sent
    after: Sent
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recall, with the tag and the tokens of the cell it found (empty and 0: none)."""

    entry: Recall
    tag: str = ""
    tokens: int = 0


@dataclass(slots=True)
class Call:
    """One call: its entries so far, and what it carries. ``number`` counts the session's requests, from 1."""

    id: bytes
    key: str = ""
    entry: Allocation | None = None
    number: int = 0
    received: Sent = ({}, {})
    sent: Sent = ({}, {})
    messages: tuple[int, int] = (0, 0)
    changes: list[Change] = field(default_factory=list)
    bypasses: list[Bypass] = field(default_factory=list)
    recalls: list[Recalled] = field(default_factory=list)
    settlement: Settlement | None = None
    settled: int = 0
    """When it was settled, in Unix nanoseconds."""
    around: object = None
    """In process: what was the current context of tracing when the request was booked."""


class Seen:
    """The calls under way, by id. Not thread-safe."""

    def __init__(self) -> None:
        self._calls: dict[bytes, Call] = {}
        self._keys: WeakKeyDictionary[State, str] = WeakKeyDictionary()
        self._messages = Messages()

    def take(self, state: State, entry: AnyEntry) -> Call | None:
        """Take an entry that ``state`` has just applied; the call that it is part of, if it is of one."""
        match entry:
            case Allocation():
                return self._allocated(state, entry)
            case Collection() | Compaction():
                return self._changed(state, entry)
            case Insertion() if entry.told >= 0:
                return self._look_again(state, self._calls.get(entry.call))
            case Bypass():
                return self._passed(state, entry)
            case Recall() if entry.call in self._calls:
                call = self._calls[entry.call]
                call.recalls.append(recalled(state, entry))
                return call
            case Insertion(void=True):
                self._messages.forget(state)
            case Recovery():
                self._calls.pop(entry.call, None)
        return None

    def settled(self, entry: Settlement, at: int) -> Call:
        """Take the end of a call, which was noted at that moment (Unix nanoseconds)."""
        call = self.of(entry.call)
        call.settlement, call.settled = entry, at
        return call

    def of(self, call: bytes, key: str = "") -> Call:
        """The call of that id, which is known from now on; ``key`` is its session's, where that is known."""
        found = self._calls.get(call)
        if found is None:
            found = self._calls[call] = Call(call)
            if len(self._calls) > LIMIT:
                del self._calls[next(iter(self._calls))]
        found.key = found.key or key
        return found

    def end(self, call: bytes) -> Call | None:
        """What was seen of a call, which is now forgotten."""
        return self._calls.pop(call, None)

    def key(self, state: State) -> str:
        """The key of a session, as far as it is known: in process, and where an id is sent, its scope is its key."""
        return self._keys.get(state) or (state.opened.scope.hex() if state.opened else "")

    def _allocated(self, state: State, entry: Allocation) -> Call:
        call, head = self.of(entry.call), state.node(entry.head)
        if call.key:
            self._keys[state] = call.key
        call.key = call.key or self.key(state)
        call.entry, call.number = entry, state.calls
        if not entry.again:  # nobody sent what we send once more
            call.received = (head.received, state.toolset(entry.toolset).tally)
        self._look(state, call, entry)
        return call

    def _changed(self, state: State, entry: Collection | Compaction) -> Call | None:
        call = self._calls.get(entry.call)
        if call is None:
            return None
        before = call.sent
        if isinstance(entry, Compaction):
            self._messages.forget(state)
        self._look_again(state, call)
        cells = [edit.cell for edit in entry.edits] if isinstance(entry, Collection) else []
        call.changes.append(Change(entry, before, call.sent, tuple(state.cells[cell].tag for cell in cells)))
        return call

    def _passed(self, state: State, entry: Bypass) -> Call:
        call = self.of(entry.call)
        call.key = call.key or self.key(state)
        call.bypasses.append(entry)
        if entry.plain:
            self._messages.forget(state)
            self._look_again(state, call)
        return call

    def _look_again(self, state: State, call: Call | None) -> Call | None:
        if call is not None and call.entry is not None:
            self._look(state, call, call.entry)
        return call

    def _look(self, state: State, call: Call, entry: Allocation) -> None:
        """Note what the request carries by the state as it is now."""
        call.sent = (state.sent(entry.head), state.tools(entry))
        came = 0 if entry.again else state.node(entry.head).depth + 1
        call.messages = (came, self._messages.sent(state, entry.head))


def recalled(state: State, entry: Recall) -> Recalled:
    """A recall with what it found."""
    if not entry.found or entry.cell < 0:
        return Recalled(entry)
    cell = state.cells[entry.cell]
    return Recalled(entry, cell.tag, cell.tokens)
