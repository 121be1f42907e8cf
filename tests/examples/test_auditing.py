"""The third check: facts of balances lead to bytes whose hashes are those that were booked, or are found not to."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ctxgc.core.bookings import Artifact, Evidence
from ctxgc.examples.auditing import agrees, disagreeing
from ctxgc.examples.checks import Audited, audited
from ctxgc.examples.play import Played
from ctxgc.ledger import Ledger, Vault, open_ledger
from tests.examples.conftest import Playing
from tests.ledger.helpers import flip


def test_random_facts_of_random_balances_agree(five: Played) -> None:
    assert audited(five, 200) == Audited(200, 0)
    assert audited(five, 200).ok


def test_overturned_facts_can_be_followed_too(five: Played) -> None:
    ledger = five.ledger()
    assert all(agrees(ledger, name) for name in ledger.books.facts)


def test_control_a_voucher_that_was_changed(playing: Playing, tmp_path: Path) -> None:
    path = tmp_path / "books.db"
    played = playing(3, url=f"sqlite:///{path}")
    names = list(played.ledger().books.facts)
    played.store.close()
    flip(path, "blob", "data", "id = (SELECT min(id) FROM blob)")
    with open_ledger(f"sqlite:///{path}", played.name, root=played.root) as ledger:
        assert [name for name in names if not agrees(ledger, name)] != []
        assert not Audited(200, disagreeing(ledger, 200, random.Random(1))).ok


def test_control_a_ledger_that_says_of_itself_that_all_is_well(five: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    def well(evidence: Evidence, artifact: Artifact, content: bytes) -> str:
        return ""

    monkeypatch.setattr("ctxgc.ledger.trace.disagreement", well)
    monkeypatch.setattr(Vault, "read", lambda vault, handle: b"something else")
    assert disagreeing(five.ledger(), 20, random.Random(1)) == 20


def test_nothing_agrees_where_there_is_no_balance(playing: Playing) -> None:
    empty: Ledger = open_ledger(playing(1).store, "another one")
    assert disagreeing(empty, 10, random.Random(1)) == 10
    assert not Audited(0, 0).ok
