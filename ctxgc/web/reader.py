"""Reads a store for the page: a path of the API in, JSON out. Runs in a process or thread of its own.

Rule: it writes nothing. What it knows of a session grows with its journal: nothing is read twice as long as it is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from ctxgc.assemble import ledgers, prices
from ctxgc.core.journal import AnyEntry, decode
from ctxgc.errors import CtxgcError
from ctxgc.store import Store, StoreError
from ctxgc.tokens.tariffs import tariffs
from ctxgc.web.frames import GROWN, Answer, Asked, Terms, encoded, refusal
from ctxgc.web.listing import Listing
from ctxgc.web.views import (
    SessionView,
    books_document,
    diff_document,
    reconcile_document,
    trace_document,
)
from ctxgc.web.views.replies import listen

if TYPE_CHECKING:
    from ctxgc.core.pacer import Tariff
    from ctxgc.ledger import Ledger
    from ctxgc.tokens import Price

VIEWS = 16
"""Sessions that are kept ready; the one looked at least recently makes room."""
MOST = 200_000
"""Entries of the sessions that are kept ready, together: what memory they take."""
LARGE = 64 * 1024
"""Bytes of a document above which it may be compressed."""

_LEVEL = 1


class _Missing(Exception):
    """What is not there, on one line."""


class _Unclear(Exception):
    """What is wrong with a question, on one line."""


@dataclass(slots=True)
class Held:
    """A session that is kept ready: its view, and how many entries it has been given."""

    view: SessionView
    entries: int = 0


class Reader:
    """See the module. ``waiting`` says whether another question is there already. Not thread-safe."""

    def __init__(self, store: Store, terms: Terms, waiting: Callable[[], bool] = lambda: False) -> None:
        self._store, self._terms = store, terms
        self._price: Callable[[str], Price | None] = prices()
        self._tariffs: Callable[[str], Tariff] = tariffs(self._price)
        self._views: OrderedDict[bytes, Held] = OrderedDict()
        self._journal: tuple[bytes, list[AnyEntry]] = (b"", [])
        self._ledgers: Callable[[bytes], Ledger] | None = None
        self._listing = Listing(store, self.held, waiting)

    def answer(self, asked: Asked) -> Answer:
        """The answer to a question. Never raises."""
        try:
            body = encoded(self.document(asked))
        except _Missing as error:
            return refusal(404, str(error), "ctxgc_missing")
        except _Unclear as error:
            return refusal(400, str(error))
        except (StoreError, CtxgcError) as error:
            return refusal(503, str(error), "ctxgc_store")
        except msgspec.MsgspecError as error:
            return refusal(503, f"an entry of the journal cannot be read by this version ({error})", "ctxgc_store")
        except Exception as error:  # one page is not shown, and the others are
            return refusal(500, f"this cannot be shown: {type(error).__name__}", "ctxgc_fault")
        if asked.gzip and len(body) > LARGE:
            import gzip

            return Answer(200, gzip.compress(body, _LEVEL), gzip=True)
        return Answer(200, body)

    def document(self, asked: Asked) -> dict[str, Any]:
        """The document at a path."""
        match asked.path.split("/"):
            case [path] if path == GROWN:
                return {"sessions": self._listing.grown(calm="calm" in asked.query)}
            case ["sessions"]:
                return self._listing.document(frozenset(asked.live))
            case ["sessions", session]:
                return self._summary(self._key(session), asked)
            case ["sessions", session, "cells"]:
                return self.held(self._key(session)).view.cells()
            case ["sessions", session, "cells", number]:
                return self._cell(self._key(session), _number(number, "a cell"))
            case ["sessions", session, "diff"]:
                return self._diff(self._key(session), asked.query)
            case ["sessions", session, "books", *rest]:
                return self._books(self._key(session), rest)
        raise _Missing("there is no such document")

    def held(self, key: bytes, *, listed: bool = False) -> Held:
        """A session up to its newest entry, kept ready for the next question about it; one that was only to be
        ``listed`` takes no other's place."""
        held = self._views.pop(key, None) or Held(SessionView(key, self._price, self._tariffs, self._terms.pacer))
        known = held.entries
        for stored in self._store.entries(key, held.entries):
            held.view.take(decode(stored.body))
            held.entries += 1
        if held.entries > known:
            listen(held.view, self._store)
        if listed and len(self._views) >= VIEWS:
            return held
        self._views[key] = held
        while len(self._views) > VIEWS or (len(self._views) > 1 and self._entries_held() > MOST):
            self._views.popitem(last=False)
        return held

    def _entries_held(self) -> int:
        return sum(held.entries for held in self._views.values())

    def _summary(self, key: bytes, asked: Asked) -> dict[str, Any]:
        live = key.hex() in asked.live
        acts = dict.fromkeys(("pin", "recall", "milestone"), live and asked.acts)
        return {**self.held(key).view.summary(), "live": live, "actions": acts}

    def _cell(self, key: bytes, number: int) -> dict[str, Any]:
        try:
            return self.held(key).view.cell(number, self._store)
        except LookupError:
            raise _Missing(f"the session has no cell {number}") from None

    def _diff(self, key: bytes, query: Mapping[str, str]) -> dict[str, Any]:
        turn = _number(query.get("turn", ""), "a turn")
        against = _number(query["against"], "a turn") if "against" in query else None
        try:
            return diff_document(self._entries(key), turn, against, self._store, key=key)
        except LookupError:
            raise _Missing(f"the session has no such turn as {turn if against is None else (turn, against)}") from None

    def _books(self, key: bytes, rest: list[str]) -> dict[str, Any]:
        self._ledgers = self._ledgers or ledgers(self._store, self._terms.ledger)  # few ask for books
        ledger = self._ledgers(key)
        match rest:
            case []:
                return books_document(ledger, key)
            case ["reconcile"]:
                return reconcile_document(ledger)
            case ["trace", fact] if fact in ledger.books.facts:
                return trace_document(ledger, fact)
        raise _Missing("the ledger has no such fact")

    def _key(self, session: str) -> bytes:
        key = self._listing.key(session)
        if key is None:
            raise _Missing("the store has no session of that id")
        return key

    def _entries(self, key: bytes) -> list[AnyEntry]:
        """A session's journal; that of the session asked about last is kept."""
        known, entries = self._journal
        if known != key:
            self._journal = known, entries = key, []
        entries += (decode(stored.body) for stored in self._store.entries(key, len(entries)))
        return entries


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _Unclear(f"{what} is named by its number")
    return int(text)
