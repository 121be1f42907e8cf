"""The fifth check: overturned facts are out of every balance, still there, and come back when they are restored."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ctxgc.core.bookings import Period
from ctxgc.examples.play import Played
from ctxgc.examples.superseding import Superseding, returns, superseding, wrong
from ctxgc.examples.tampering import copied
from ctxgc.ledger import Ledger, Vault, open_ledger
from ctxgc.ledger.log import booking
from tests.examples.conftest import Playing

FOUND = Superseding(overturned=2, kept=2, restored=1, wrong=0, tried=1, returned=1)


def copy_of(played: Played, folder: Path) -> tuple[Ledger, Path]:
    copied(played.store, played.ledger().key, folder / "books.db")
    files = Path(shutil.copytree(played.root, folder / "files"))
    return open_ledger(f"sqlite:///{folder / 'books.db'}", played.name, root=files), files


def test_what_was_overturned_is_out_kept_and_can_come_back(five: Played, tmp_path: Path) -> None:
    found = superseding(five, tmp_path)
    assert found == Superseding(overturned=2, kept=2, restored=1, wrong=0, tried=1, returned=1)
    assert found.ok


def test_the_task_itself_is_left_as_it_was(five: Played, tmp_path: Path) -> None:
    before = five.ledger().version, (five.root / "settings.json").read_bytes()
    superseding(five, tmp_path)
    assert (five.ledger().version, (five.root / "settings.json").read_bytes()) == before


def test_before_anything_is_restored_the_first_fact_comes_back(playing: Playing, tmp_path: Path) -> None:
    found = superseding(playing(3), tmp_path)
    assert (found.overturned, found.restored, found.tried, found.returned) == (1, 0, 1, 1)
    assert found.ok


def test_control_a_task_that_overturns_nothing_shows_nothing(playing: Playing, tmp_path: Path) -> None:
    assert not superseding(playing(2), tmp_path).ok


def test_control_a_balance_with_an_overturned_fact_in_it(five: Played) -> None:
    entries = [booking(stored.body) for stored in five.store.entries(five.ledger().key)]
    assert wrong(entries) == 0
    at, third = [(at, entry) for at, entry in enumerate(entries) if isinstance(entry, Period)][2]
    forged = msgspec.structs.replace(third, balance=("F1", *third.balance))
    assert wrong([*entries[:at], forged, *entries[at + 1 :]]) == 1
    short = msgspec.structs.replace(third, balance=third.balance[1:])
    assert wrong([*entries[:at], short, *entries[at + 1 :]]) == 1


def test_control_a_fact_without_its_file_does_not_come_back(
    playing: Playing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, files = copy_of(playing(3), tmp_path)
    with ledger:
        now = (files / "settings.json").read_bytes()
        monkeypatch.setattr(Vault, "read", lambda vault, handle: now)  # not what stood there before
        assert not returns(ledger, "F1", files)


def test_control_a_restoration_that_restores_nothing(
    playing: Playing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, files = copy_of(playing(3), tmp_path)
    with ledger:
        before = (files / "settings.json").read_bytes()
        monkeypatch.setattr(
            Ledger, "restore", lambda ledger, name, reason: (files / "settings.json").write_bytes(before)
        )
        assert not returns(ledger, "F1", files)


@pytest.mark.parametrize("figures", [{"kept": 1}, {"wrong": 1}, {"returned": 0}, {"overturned": 0, "kept": 0}], ids=str)
def test_each_figure_can_fail(figures: dict[str, int]) -> None:
    assert FOUND.ok
    assert not replace(FOUND, **figures).ok
