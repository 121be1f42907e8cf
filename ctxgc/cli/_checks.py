"""The audit beyond the store's own: does every journal fold, and does every request rebuild to the bytes it had?

Rule: whatever goes wrong while looking is a finding about the session it was found in, and the next one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from ctxgc.cli._journals import codec_of, journal
from ctxgc.core.heap import content_digest
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Open
from ctxgc.core.state import State
from ctxgc.errors import CtxgcError
from ctxgc.session.originals import content, disagreements
from ctxgc.store import Finding, Store, StoreError
from ctxgc.wire.codec import Codec

_BLOBS = 4096
"""Messages kept while a session is checked: its requests share most of them."""


class _Blobs:
    """The contents of a store, each read and hashed once."""

    def __init__(self, store: Store) -> None:
        self.blob = lru_cache(maxsize=_BLOBS)(store.blob)


@dataclass(slots=True)
class Check:
    """The check of one session: give its findings one by one; afterwards ``calls`` says how many requests were rebuilt.

    A request is rebuilt when the next one begins: with the edits that were in force when it left.
    """

    store: Store
    key: bytes
    calls: int = 0
    _state: State = field(default_factory=State)
    _pending: tuple[int, Allocation] | None = None

    def findings(self) -> Iterator[Finding]:
        """Everything that does not agree."""
        blobs, seq = cast("Store", _Blobs(self.store)), -1
        try:
            for stored, entry in journal(self.store, self.key):
                seq = stored.seq
                if isinstance(entry, Allocation):
                    yield from self._rebuild(blobs)
                    self._pending = (seq, entry)
                self._state.apply(entry)
                yield from self._fits(seq, entry, blobs)
            yield from self._rebuild(blobs)
        except (CtxgcError, StoreError, ValueError, LookupError) as error:
            yield self._finding("journal", max(seq, 0), f"The journal does not fold: {error or type(error).__name__}")

    def _fits(self, seq: int, entry: AnyEntry, blobs: Store) -> Iterator[Finding]:
        if seq == 0 and not isinstance(entry, Open):
            yield self._finding("journal", seq, "The journal does not begin with an opening.")
        elif isinstance(entry, Collection):
            for edit in entry.edits:
                yield from self._recalls(seq, edit.cell, edit.handle, blobs)

    def _recalls(self, seq: int, cell: int, handle: str, blobs: Store) -> Iterator[Finding]:
        """Whether what was taken out comes back as it was."""
        try:
            text = content(self._state, blobs, self._codec(), cell)
        except StoreError as error:
            yield self._finding("recall", seq, f"The content of handle {handle} cannot be read: {error}", handle)
            return
        if content_digest(text) != self._state.cells[cell].content:
            yield self._finding("recall", seq, f"The content of handle {handle} is not what was taken out.", handle)

    def _rebuild(self, blobs: Store) -> Iterator[Finding]:
        if self._pending is None:
            return
        (seq, entry), self._pending = self._pending, None
        self.calls += 1
        try:
            for found in disagreements(self._state, blobs, self._codec(), entry):
                yield self._finding("rebuild", seq, f"{found[0].upper()}{found[1:]}.", entry.call.hex())
        except StoreError as error:
            yield self._finding("rebuild", seq, f"Call {entry.call.hex()} cannot be rebuilt: {error}", entry.call.hex())

    def _codec(self) -> Codec:
        return codec_of(self._state.opened.codec if self._state.opened else "")

    def _finding(self, kind: str, seq: int, detail: str, ref: str = "") -> Finding:
        return Finding(kind, self.key.hex(), seq, ref, detail)
