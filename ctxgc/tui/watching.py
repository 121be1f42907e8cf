"""What is looked at: the sessions of a store and one of them in full, read anew only where the store has grown.

Rule: looking never raises; what cannot be read is said instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxgc.errors import CtxgcError
from ctxgc.store import Store, StoreError
from ctxgc.web.frames import GROWN, Asked, Terms
from ctxgc.web.reader import Reader

PATIENCE = 40
"""Looks until a snapshot is shown as it is, whatever is still to be computed of the list."""

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see: a row for each session (see the document ``ctxgc.page.sessions/1``), the one that is looked
    into (``ctxgc.page.session/1``; None: there is none), and what went wrong (empty: nothing)."""

    sessions: Sequence[Document] = ()
    session: Document | None = None
    error: str = ""


class Watcher:
    """Looks into a store. Not thread-safe: one look after the other."""

    def __init__(self, store: Store, terms: Terms) -> None:
        self._reader = Reader(store, terms)
        self._known: dict[str, Document] = {}
        self._last = Look()

    def look(self, chosen: str = "") -> Look:
        """The sessions, and the one whose id is ``chosen``, else the one active last."""
        try:
            self._last = self._look(chosen)
        except (StoreError, CtxgcError) as error:
            self._last = Look(self._last.sessions, self._last.session, str(error))
        except Exception as error:  # a session that cannot be shown leaves the others to look at
            self._last = Look(self._last.sessions, None, f"this cannot be shown: {type(error).__name__}")
        return self._last

    def snapshot(self, chosen: str = "") -> Look:
        """A look with the figures of all sessions that the list computes them for, or most of them."""
        unknown = -1
        for _ in range(PATIENCE):
            look, before = self.look(chosen), unknown
            unknown = sum(row["requests"] is None for row in look.sessions)
            if look.error or unknown in (0, before):
                break
        return self._last

    def _look(self, chosen: str) -> Look:
        # Nobody waits for a look, so that long sessions, too, have their figures computed.
        for grown in self._reader.document(Asked(path=GROWN, query={"calm": ""}))["sessions"]:
            self._known.pop(grown, None)
        rows: Sequence[Document] = self._reader.document(Asked(path="sessions"))["sessions"]
        wanted = chosen if any(row["id"] == chosen for row in rows) else rows[0]["id"] if rows else ""
        return Look(rows, self._session(wanted) if wanted else None)

    def _session(self, wanted: str) -> Document:
        if wanted not in self._known:
            self._known.clear()
            self._known[wanted] = self._reader.document(Asked(path=f"sessions/{wanted}"))
        return self._known[wanted]
