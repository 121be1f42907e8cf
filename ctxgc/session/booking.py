"""Booking: what happened becomes entries, taken into the state and into the journal together.

Rule: entries are made before anything is changed, so that making them may fail or be left; then they are taken all at
once, and what could not be taken whole is never built on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from msgspec import structs

from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Open
from ctxgc.core.state import State
from ctxgc.session.admission import Booked, Pending, admission
from ctxgc.session.eden import clean
from ctxgc.session.journalling import Journal
from ctxgc.session.kit import Kit
from ctxgc.store import Node, Record, Stub

Line = tuple[AnyEntry, Record]
"""An entry, and the record of it for the store."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A request that went on as it came, and is to be booked as that."""

    call: bytes
    at: float
    reason: str
    text: bytes = b""


class Books:
    """A session's state and journal, which only change together."""

    def __init__(self, key: bytes, scope: bytes, origin: str, kit: Kit, state: State) -> None:
        self.scope, self.origin, self.kit, self.state = scope, origin, kit, state
        self.journal = Journal(kit.store, key, kit.clock, lambda gap: kit.observe(self.state, gap), kit.new_id)

    def lines(self, pending: Pending | Unread) -> Generator[None, None, list[Line]]:
        """What the journal is to say of a request, in slices. Nothing is changed by it."""
        opening = [] if self.state.opened else [self.line(self._open(pending.at))]
        if isinstance(pending, Unread):
            return [*opening, self._unread(pending)]
        booked = yield from admission(pending, self.state, self.kit.codec, self.kit.timer)
        lines = [*opening, self._allocation(booked), *self._collections(booked), *self._compaction(booked)]
        return [*lines, self.line(booked.news)] if booked.news else lines

    def line(
        self, entry: AnyEntry, blobs: Sequence[bytes] = (), nodes: Sequence[Node] = (), stubs: Sequence[Stub] = ()
    ) -> Line:
        """An entry with its record. Raises where it cannot be encoded."""
        return entry, self.journal.record(entry, blobs, nodes, stubs)

    def write(self, *lines: Line) -> Future[None]:
        """Take entries into the state and into the journal. Done when they are on disk."""
        for entry, _ in lines:
            self._apply(entry)
            try:
                self.kit.observe(self.state, entry)
            except Exception:  # a reader's fault must not come between state and journal
                pass
        return self.journal.write(*(record for _, record in lines), call=getattr(lines[-1][0], "call", b""))

    def _open(self, at: float) -> Open:
        return Open(at=at, scope=self.scope, origin=self.origin, codec=self.kit.codec.name)

    def _allocation(self, booked: Booked) -> Line:
        first = len(self.state.nodes)
        nodes = tuple(
            Node(first + at, node.parent, node.chain, node.message, node.blob)
            for at, node in enumerate(booked.allocation.nodes)
        )
        return self.line(booked.allocation, booked.blobs, nodes)

    def _collections(self, booked: Booked) -> list[Line]:
        lines, known = [], set(self.state.by_handle)
        for collection in booked.collections:
            edits = {edit.handle: edit.cell for edit in collection.edits}  # one content, one handle
            stubs = tuple(Stub(handle, cell) for handle, cell in edits.items() if handle not in known)
            known.update(edits)
            lines.append(self.line(collection, stubs=stubs))
        return lines

    def _compaction(self, booked: Booked) -> list[Line]:
        """A span that was compacted, with the handles by which what was in it, and the record, are read back."""
        made = booked.compaction
        if made is None:
            return []
        known = {*self.state.by_handle, *(edit.handle for one in booked.collections for edit in one.edits)}
        handles = {handle: cell for handle, cell in made.handles.items() if handle not in known}
        made = structs.replace(made, handles=handles)
        first = len(self.state.cells) + _cells(booked.allocation)
        stubs = {**handles, **({} if made.handle in known else {made.handle: first})}
        return [self.line(made, stubs=tuple(Stub(handle, cell) for handle, cell in stubs.items()))]

    def _unread(self, pending: Unread) -> Line:
        text, reason = pending.text, clean(pending.reason)
        digest = hashlib.sha256(text).digest() if text else b""
        entry = Bypass(at=pending.at, call=pending.call, reason=reason, received=digest, size=len(text))
        return self.line(entry, (text,) if text else ())

    def _apply(self, entry: AnyEntry) -> None:
        try:
            self.state.apply(entry)
        except Exception:  # raised again
            self.journal.broken = True  # what was taken in part, and is not written, must not be built on
            raise


def _cells(entry: Allocation) -> int:
    """How many cells an allocation adds."""
    own = len(entry.schemas or ()) + (entry.offer is not None)
    return own + sum(len(node.cells) for node in entry.nodes)
