"""Closing: what a period covers and carries on, and when it stays open."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxgc.core import journal
from ctxgc.errors import LedgerError
from ctxgc.ledger import Ledger, open_ledger

from .helpers import fact, written


def kinds(ledger: Ledger, start: int = 0) -> list[str]:
    return [entry.kind for entry in ledger._log.store.entries(ledger.key, start)]


def test_a_period_covers_what_was_booked_since_the_last_one(ledger: Ledger):
    fact(ledger, "one")
    first = ledger.close("one done")
    fact(ledger, "two")
    ledger.claim("three?")
    second = ledger.close("two done")
    assert (first.id, first.milestone, first.balance, first.window_from, first.lossy) == (
        "P1", "one done", ("F1",), 0, False,
    )  # fmt: skip
    assert (second.id, second.balance, second.window_from, second.lossy) == (
        "P2", ("F1", "F2"), first.window_to, True,
    )  # fmt: skip
    assert ledger.books.periods == [first.period, second.period]


def test_the_full_list_is_a_voucher(ledger: Ledger):
    for number in range(300):
        fact(ledger, f"fact number {number} of many, in words that take their room")
    closed = ledger.close()
    text = ledger.read(closed.opening_balance_ref) or ""
    assert all(f"number {number} of" in text for number in range(300))
    assert ledger.vault.get(closed.opening_balance_ref).ref == "opening balance of P1"
    opening = closed.opening(500, pins=("Never delete anything.",))
    assert opening.tokens <= 500
    assert "Never delete anything." in opening.text
    assert closed.opening_balance_ref in opening.text
    assert opening == ledger.opening(500, ("Never delete anything.",))
    assert closed.opening(100, count=lambda text: len(text) // 10).tokens <= 100


def test_a_close_with_a_critical_mismatch_is_refused_and_says_which(ledger: Ledger, root: Path):
    for name in ("a.txt", "b.txt"):
        artifact = written(ledger, root, name, "text")
        ledger.post(f"{name} is written", [ledger.verify(artifact, "text")], "critical")
    (root / "b.txt").write_text("texts")
    with pytest.raises(LedgerError, match=r"^the period stays open: F2 is drift \([^\n]*'b.txt'[^\n]*\)$"):
        ledger.close("done")
    assert ledger.books.periods == []
    (stored,) = ledger._log.store.entries(ledger.key, ledger.version - 1)
    entry = journal.decode(stored.body)
    assert list(entry.findings) == ["F2"]  # type: ignore[union-attr]
    (root / "b.txt").write_text("text")
    assert ledger.close("done").balance == ("F1", "F2")


def test_what_is_not_critical_closes_all_the_same(ledger: Ledger, root: Path):
    artifact = written(ledger, root, "a.txt", "text")
    ledger.post("a is written", [ledger.verify(artifact, "text")])
    (root / "a.txt").unlink()
    assert ledger.close().balance == ("F1",)
    assert kinds(ledger) == ["artifact", "fact", "artifact", "period"]


def test_others_may_book_while_a_period_closes(ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch):
    fact(ledger, "one", "critical")
    with open_ledger(url, root=ledger._root) as other:
        late = iter(range(2, 5))
        stored = ledger.vault.store

        def store(**more: str):
            for number in late:  # a fact comes in behind the list each of these times
                kept = stored(**more)
                fact(other, f"number {number}", "critical")
                return kept
            return stored(**more)

        monkeypatch.setattr(ledger.vault, "store", store)
        closed = ledger.close()
    assert closed.balance == ("F1", "F2", "F3", "F4")
    assert "number 4" in (ledger.read(closed.opening_balance_ref) or "")
    assert ledger.version == len(kinds(ledger))


def test_news_are_what_has_changed_since(ledger: Ledger):
    old = fact(ledger, "one")
    since = ledger.version
    new = fact(ledger, "two", supersedes=old.id)
    assert ledger.news(since).superseded == ((old, new),)
    assert ledger.news(since).posted == (new,)
    assert not ledger.news(ledger.version)
