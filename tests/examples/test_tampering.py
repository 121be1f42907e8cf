"""The fourth check: each changed byte is named, and nothing is where nothing was changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxgc.examples import tampering as campaigns
from ctxgc.examples.checks import changed
from ctxgc.examples.play import Played
from ctxgc.examples.tampering import Tamper, Tampering, change, copied, look, tampering
from ctxgc.ledger import Report, open_ledger
from ctxgc.store import Finding, open_store
from ctxgc.store.sqlite import SqliteStore

FOUND = Tampering(tampers=10, void=1, named={"blob": {"both": 4}, "entry": {"verify": 6}}, untouched=0)


@pytest.fixture
def copy(five: Played, tmp_path: Path) -> Path:
    path = tmp_path / "books.db"
    copied(five.store, five.ledger().key, path)
    return path


def test_a_copy_is_the_whole_ledger_and_verifies(five: Played, copy: Path) -> None:
    with open_ledger(f"sqlite:///{copy}", five.name, root=five.root) as ledger:
        assert ledger.version == five.ledger().version
        assert ledger.books.balance() == five.ledger().books.balance()
        assert ledger.reconcile(record=False).ok
    store = open_store(f"sqlite:///{copy}", read_only=True)
    assert list(store.verify()) == []
    store.close()


def test_each_changed_byte_is_named_and_the_untouched_copy_is_not(five: Played, tmp_path: Path) -> None:
    found = changed(five, 30, tmp_path)
    assert (found.tampers, found.missed, found.untouched) == (30, 0, 0)
    assert sum(sum(by.values()) for by in found.named.values()) == 30
    assert found.ok


def test_control_when_nobody_looks_all_are_missed(five: Played, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(store: SqliteStore) -> Iterator[Finding]:
        yield from ()

    monkeypatch.setattr(SqliteStore, "verify", blind)
    monkeypatch.setattr("ctxgc.ledger.Ledger.reconcile", lambda ledger, record: Report(()))
    found = tampering(copy, 10, random.Random(1), five.name, five.root)
    assert found.missed == 10
    assert not found.ok


def test_control_whoever_finds_something_everywhere_is_not_right(
    five: Played, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "untouched", lambda *_: 1)
    assert not tampering(copy, 2, random.Random(1), five.name, five.root).ok


def test_control_a_finding_about_something_else_does_not_count(five: Played, copy: Path) -> None:
    tamper = change(copy, random.Random(1))
    assert tamper is not None
    assert look(copy, tamper, five.name, five.root) != (False, False)
    assert look(copy, Tamper(tamper.table, "0" * 64), five.name, five.root) == (False, False)


def test_each_figure_can_fail() -> None:
    assert FOUND.ok
    assert not replace(FOUND, untouched=1).ok
    assert not replace(FOUND, named={"blob": {"nobody": 1}}).ok
    assert not replace(FOUND, tampers=0).ok
