"""Tasks that the scripted model has played, in stores in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxgc.examples.chat import Model
from ctxgc.examples.play import Plan, Played, play
from ctxgc.examples.scripted import reply
from ctxgc.store import open_store

Playing = Callable[..., Played]


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[Playing]:
    """Play so many sub-tasks, in the ways that `play` can be given."""
    opened = []

    def played(tasks: int, model: Model = reply, url: str = "sqlite://", **ways: object) -> Played:
        root = tmp_path / f"files-{len(opened)}"
        root.mkdir()
        opened.append(open_store(url))
        return play(Plan(tasks), model, opened[-1], root, **ways)  # type: ignore[arg-type]

    yield played
    for store in opened:
        store.close()


@pytest.fixture
def five(playing: Playing) -> Played:
    """One round: what is overturned in it is restored."""
    return playing(5)
