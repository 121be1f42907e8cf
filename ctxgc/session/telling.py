"""What a session is told by its ledger: the opening balance where a window begins, and since then only what is new.

Rule: the ledger is consulted at every turn, and each change is told once, at the end of the next request, where that
costs no cache. A ledger that cannot be read delays and fails nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxgc.core import opening
from ctxgc.core.books import News
from ctxgc.core.state import State
from ctxgc.errors import CtxgcError
from ctxgc.session.errands import AUTHOR
from ctxgc.session.kit import Kit
from ctxgc.store import StoreError

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger

ROOM = 1_500
"""Tokens that a balance, or news, may take."""

Told = tuple[str, int]
"""A text for the model (empty: nothing is to be said), and the position in the ledger's log up to which it goes."""


@dataclass(slots=True)
class Telling:
    """Reads the ledger of one session, if it has one. ``room`` is the tokens that what it tells may take."""

    state: State
    kit: Kit
    key: bytes
    room: int = ROOM
    _ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger | None:
        """The session's ledger; None where it has none."""
        if self._ledger is None and self.kit.ledger is not None:
            self._ledger = self.kit.ledger(self.key)
        return self._ledger

    def balance(self, count: Callable[[str], int], head: int = -1) -> Told:
        """The opening balance, for a record (-1: there is none). Pinned constraints are in the window as they came.

        What the history that ends at ``head`` was told and does not hold any more is said, too. A ledger that cannot be
        read, or for which there is no room, is left out.
        """
        ledger = self.ledger
        if ledger is None:
            return "", -1
        try:
            version = ledger.version  # what is posted between this and the next line is told twice, and not never
            over = self._overturned(ledger, head, count)
            found = ledger.opening(self.room - count(over), count=count)
        except (CtxgcError, StoreError):
            return "", -1
        texts = (found.text if found.facts or found.pointed else "", over)
        text = "\n".join(filter(None, texts))
        return (text, version) if text else ("", -1)

    def listed(self) -> str:
        """All facts that stand, for the whole record: what the balance only names is read back there."""
        try:
            facts = self.ledger.listed() if self.ledger is not None else ""
        except (CtxgcError, StoreError):
            return ""
        return f"facts of the ledger: {facts}" if facts else ""

    def _overturned(self, ledger: Ledger, head: int, count: Callable[[str], int]) -> str:
        told = self.state.told(head)
        news = News(superseded=ledger.news(told).superseded) if told >= 0 else News()
        return opening.news(news, count, self.room // 2) if news else ""

    def news(self, head: int, count: Callable[[str], int]) -> Told:
        """What the next request is to tell, behind the history that ends at ``head``."""
        ledger, told = self.ledger, self.state.told(head)
        if ledger is None or ledger.version <= max(told, 0):
            return "", told
        if told < 0:
            return self.balance(count)
        version = ledger.version
        found = self._worth_telling(ledger, ledger.news(told))
        return (opening.news(found, count, self.room), version) if found else ("", told)

    def _worth_telling(self, ledger: Ledger, news: News) -> News:
        claims = ledger.books.facts
        posted = (fact for fact in news.posted if not fact.of or claims[fact.of].author != AUTHOR)
        return replace(news, posted=tuple(posted))
