"""The list of sessions: a row for each, with figures for the newest ones as far as they have been computed.

Rule: the list is quick, however many sessions there are and however long: figures come a few at a time, and are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, get_args

from ctxgc.core.bookings import AnyBooking
from ctxgc.store import SessionRow, Store, StoreError

if TYPE_CHECKING:
    from ctxgc.web.reader import Held

NEWEST = 50
"""Sessions that figures are computed for without anybody asking."""
AT_ONCE = 0.25
"""Seconds that a list may take to compute figures, if nobody waits; what is left comes while the page waits for
events."""
LONG = 2_000
"""Entries of a session that alone might take longer."""

_SCHEMA = "ctxgc.page.sessions/1"
_BOOKINGS = frozenset(kind.__struct_config__.tag for kind in get_args(AnyBooking))


@dataclass(slots=True)
class _Line:
    """A session's row of the list, and of how many entries it is."""

    entries: int
    row: Mapping[str, Any]


class Listing:
    """What is known of a store's sessions. ``held`` gives one up to its newest entry, and ``waiting`` says whether
    somebody waits: whoever asked for one session is not kept waiting for figures of all."""

    def __init__(self, store: Store, held: Callable[..., Held], waiting: Callable[[], bool]) -> None:
        self._store, self._held, self._waiting = store, held, waiting
        self._lines: dict[bytes, _Line] = {}
        self._kinds: dict[bytes, bool] = {}
        self._keys: frozenset[str] = frozenset()
        self._told: dict[bytes, int] | None = None

    def document(self, live: frozenset[str]) -> dict[str, Any]:
        """The sessions, the newest first; figures that are not computed yet are null."""
        rows = self._rows()
        self._compute([row for row in rows[:NEWEST] if row.entries < LONG])
        found = [self._row(row, live) for row in rows]
        return {"schema": _SCHEMA, "sessions": sorted(found, key=lambda one: one["last"], reverse=True)}

    def grown(self, *, calm: bool) -> dict[str, int]:
        """The sessions that have grown, or whose figures have been computed, since this was asked last; each with its
        entries. The first time, the newest ones: nobody knows what was told of them. Figures are only computed where
        all is ``calm``."""
        rows = self._rows()
        computed = {row.key for row in self._compute(rows[:NEWEST])} if calm else set()
        told, self._told = self._told, {row.key: row.entries for row in rows}
        if told is None:
            return {row.key.hex(): row.entries for row in rows[:NEWEST]}
        return {row.key.hex(): row.entries for row in rows if row.key in computed or told.get(row.key) != row.entries}

    def key(self, session: str) -> bytes | None:
        """The key of the session whose id begins so, if it is only one and eight digits or more are given."""
        wanted = session.lower()
        if wanted in self._keys:
            return bytes.fromhex(wanted)
        if len(wanted) < 8 or not wanted.isascii():
            return None
        found = [row for row in self._rows() if row.key.hex().startswith(wanted)]
        return found[0].key if len(found) == 1 else None

    def _rows(self) -> list[SessionRow]:
        """The sessions, those opened last first."""
        rows = [row for row in reversed(self._store.sessions()) if row.nodes or (row.entries and self._known(row.key))]
        self._keys = frozenset(row.key.hex() for row in rows)
        return rows

    def _known(self, key: bytes) -> bool:
        """Whether a log without messages is a session, and no ledger: its first entry says so."""
        if key not in self._kinds:
            try:
                self._kinds[key] = next(iter(self._store.entries(key))).kind not in _BOOKINGS
            except (StoreError, StopIteration):  # it is one that cannot be read: its own page says why
                return True
        return self._kinds[key]

    def _compute(self, rows: Sequence[SessionRow]) -> list[SessionRow]:
        """Bring rows of the list up to date, for as long as nobody minds; those that were computed."""
        until, done = monotonic() + AT_ONCE, []
        for row in self._due(rows):
            if monotonic() > until or self._waiting():
                break
            known = self._lines.get(row.key)
            try:
                held = self._held(row.key, listed=known is None)  # one that grows is kept: it will grow again
                self._lines[row.key] = _Line(held.entries, held.view.line())
            except Exception:  # it cannot be read: its own page says why
                self._lines[row.key] = _Line(row.entries, known.row if known else {})
            done.append(row)
        return done

    def _due(self, rows: Sequence[SessionRow]) -> Iterator[SessionRow]:
        for row in rows:
            known = self._lines.get(row.key)
            if known is None or known.entries < row.entries:
                yield row

    def _row(self, row: SessionRow, live: frozenset[str]) -> dict[str, Any]:
        known, opened = self._lines.get(row.key), row.opened / 1000
        blank = {
            "id": row.key.hex(), "origin": "", "first": opened, "last": opened, "model": "", "requests": None,
            "received": None, "sent": None, "window": 0, "net": None, "usd": False, "suspects": None,
        }  # fmt: skip
        return {**blank, **(known.row if known else {}), "live": row.key.hex() in live}
