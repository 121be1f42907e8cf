"""The audit beyond the store's own: does every journal fold, and does every request rebuild to the bytes it had?

Rule: whatever goes wrong while looking is a finding about the session it was found in, and the next one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from ctxgc.cli._journals import codec_of, journal
from ctxgc.core.bookings import AnyBooking
from ctxgc.core.collector import Edit
from ctxgc.core.heap import content_digest
from ctxgc.core.journal import AnyEntry, Collection, Open, kind
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


def check_session(store: Store, key: bytes) -> Iterator[Finding]:
    """Everything about one session that does not agree: its journal, its handles, its requests."""
    state, entries, blobs = State(), list[AnyEntry](), cast("Store", _Blobs(store))
    try:
        for stored, entry in journal(store, key):
            state.apply(entry)
            entries.append(entry)
            for detail in _unfit(stored.seq, entry, state, blobs):
                yield Finding("journal", key.hex(), stored.seq, "", detail)
        for detail in disagreements(entries, blobs, _codec(state)):
            yield Finding("rebuild", key.hex(), None, "", f"{detail[0].upper()}{detail[1:]}.")
    except (CtxgcError, StoreError, ValueError, LookupError) as error:
        detail = f"The journal does not fold: {error or type(error).__name__}"
        yield Finding("journal", key.hex(), len(entries), "", detail)


def _unfit(seq: int, entry: AnyEntry, state: State, blobs: Store) -> Iterator[str]:
    if seq == 0 and not isinstance(entry, Open):
        yield "The journal does not begin with an opening."
    elif isinstance(entry, AnyBooking):
        yield f"A {kind(entry)} belongs into a ledger and not into the journal of a session."
    elif isinstance(entry, Collection):
        for edit in entry.edits:
            yield from _lost(edit, state, blobs)


def _lost(edit: Edit, state: State, blobs: Store) -> Iterator[str]:
    """Whether what was taken out comes back as it was."""
    try:
        text = content(state, blobs, _codec(state), edit.cell)
    except StoreError as error:
        yield f"The content of handle {edit.handle} cannot be read: {error}."
        return
    if content_digest(text) != state.cells[edit.cell].content:
        yield f"The content of handle {edit.handle} is not what was taken out."


def _codec(state: State) -> Codec:
    return codec_of(state.opened.codec if state.opened else "")
