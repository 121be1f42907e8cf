"""A short run of the campaign: every changed byte is named, nothing is found where none was, and picks agree."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import books


@pytest.fixture
def built(tmp_path: Path) -> Path:
    path = tmp_path / "books.db"
    books.build(f"sqlite:///{path}", 50, random.Random(3))
    return path


def test_every_changed_byte_is_named_and_every_pick_agrees():
    found = books.measure(vouchers=50, tampers=25, count=60, seed=2)
    assert (found["missed"], found["control"], found["disagreeing"]) == (0, 0, 0)
    named = found["named"]
    assert sum(sum(by.values()) for by in named.values()) == 25  # type: ignore[attr-defined]
    assert all(by.keys() <= {"both", "reconcile", "verify"} for by in named.values())  # type: ignore[attr-defined]


def test_control_a_change_somewhere_else_is_not_taken_for_this_one(built: Path):
    dice = random.Random(4)
    tamper = None
    while tamper is None:
        tamper = books.change(built, dice)
    assert books.look(built, tamper) != (False, False)
    assert books.look(built, books.Tamper(tamper.table, "0" * 64)) == (False, False)
