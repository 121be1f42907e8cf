"""What a watcher looks at: figures of all the newest sessions, of long ones too, and no look more than it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxgc.assemble import make_kit
from ctxgc.session import Session
from ctxgc.store import Store, open_store
from ctxgc.tui import watching
from ctxgc.tui.watching import Look, Watcher
from ctxgc.web import listing
from ctxgc.web.frames import Asked, Terms
from tests.lab.build import body, user


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    yield opened
    opened.close()


def filled(store: Store, sessions: int) -> Watcher:
    """A watcher of so many sessions, each of one request."""
    kit = make_kit(store, ())
    for number in range(1, sessions + 1):
        session = Session(number.to_bytes(32, "big"), b"s" * 32, "x", kit)
        session.prepare(body([user(f"hi {number}")], [], "gpt-5"))
        session.flush()
    return Watcher(store, Terms(url="unused"))


def test_a_long_session_has_its_figures(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LONG", 0)
    (row,) = filled(store, 1).snapshot().sessions
    assert row["requests"] is not None


def test_a_list_alone_does_not_wait_for_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LONG", 0)
    (row,) = filled(store, 1)._reader.document(Asked(path="sessions"))["sessions"]
    assert row["requests"] is None


@pytest.mark.parametrize("sessions", [0, 3, 12])
def test_a_snapshot_ends_where_nothing_more_is_computed(
    store: Store, sessions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "NEWEST", 5)
    monkeypatch.setattr(listing, "AT_ONCE", 60)
    watcher, looks = filled(store, sessions), list[Look]()
    look = watcher.look

    def counted(chosen: str = "") -> Look:
        looks.append(look(chosen))
        return looks[-1]

    monkeypatch.setattr(watcher, "look", counted)
    found = watcher.snapshot()
    assert len(found.sessions) == sessions
    assert sum(row["requests"] is not None for row in found.sessions) == min(sessions, 5)
    assert len(looks) <= 2


def test_where_it_goes_on_and_on_it_ends_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "AT_ONCE", -1)
    monkeypatch.setattr(watching, "PATIENCE", 4)
    assert len(filled(store, 2).snapshot().sessions) == 2
