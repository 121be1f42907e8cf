"""What it costs the cache that a session goes plain: what had been sent in another form is sent as it came.

Rule: a provider's cache holds prefixes. Up to the first message that had been sent in another form, it is read as
before; all that was sent behind that is sent anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, Collection, Insertion
from ctxgc.core.state import State

EARLIER = b""
"""The call of what a session had changed before it was first looked at."""


@dataclass(slots=True)
class _Changed:
    """By node, the call with which it was first sent in another form, or something of ours behind it."""

    nodes: dict[int, bytes] = field(default_factory=dict)
    behind: dict[int, bytes] = field(default_factory=dict)


class Undone:
    """Remembers where the histories of sessions in memory stopped to be sent as they came."""

    __slots__ = ("_changed",)

    def __init__(self) -> None:
        self._changed: WeakKeyDictionary[State, _Changed] = WeakKeyDictionary()

    def known(self, state: State) -> _Changed:
        """Take note of a session as it stands, before anything more of it is changed."""
        found = self._changed.get(state)
        if found is None:
            edited = {state.owners[cell] for cell in state.edits}
            made = {node.compacted.after for node in state.nodes if node.compacted}
            found = _Changed(dict.fromkeys(edited, EARLIER), dict.fromkeys(made.union(state.own.inserted), EARLIER))
            self._changed[state] = found
        return found

    def changed(self, state: State, entry: Collection | Compaction | Insertion) -> None:
        """Take what ``state`` has just applied."""
        found = self.known(state)
        if isinstance(entry, Collection):
            for edit in entry.edits:
                found.nodes.setdefault(state.owners[edit.cell], entry.call)
        else:
            found.behind.setdefault(entry.after if isinstance(entry, Compaction) else entry.head, entry.call)

    def cost(self, state: State, entry: Allocation) -> int:
        """The tokens that the request of ``entry`` sends anew because ``state`` has just gone plain.

        Of its known part, as it came: that which had been sent in another form by an earlier request. Where the tool
        list was another one, that is all, since it heads what is cached. Where the cache was cold, it is nothing.
        """
        if entry.pace is not None and entry.pace.cold:
            return 0
        total = sum(state.node(entry.parent).received.values())
        if entry.offered and entry.parent >= 0 and entry.offer is None:
            return total + (sum(state.toolset(entry.toolset).tally.values()) if entry.schemas is None else 0)
        return total - sum(state.node(self._same(state, entry)).received.values())

    def _same(self, state: State, entry: Allocation) -> int:
        """The last message of a request's known part up to which all had been sent as it came."""
        found = self.known(state)
        for node in state.path(entry.parent):
            if found.nodes.get(node.id, entry.call) != entry.call:
                return node.parent
            if found.behind.get(node.id, entry.call) != entry.call:
                return node.id
        return entry.parent
