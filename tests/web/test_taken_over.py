"""What the page does to a session that is not, or no longer, the one in memory: nothing, and it says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from ctxgc.session import Session
from ctxgc.store import Record
from ctxgc.store.errors import StoreRefused
from ctxgc.web import actions
from ctxgc.web.actions import Actions, Refused
from tests.session.growing import LISTING, Growing
from tests.session.scripts import KEY, fresh, kit, memory, restored


class Held:
    """The sessions in memory: one that may be let go and restored while somebody waits for it."""

    def __init__(self, session: Session) -> None:
        self.session, self.lock = session, asyncio.Lock()

    def __iter__(self) -> Any:
        return iter((self.session,))


@pytest.fixture
async def held() -> AsyncIterator[Held]:
    with memory() as store:
        found = Growing(kit(store, ()))
        found.say(LISTING)
        found.session.flush()
        yield Held(found.session)


async def _none(session: Session, name: str) -> str:
    return ""


def acting(held: Held) -> Actions:
    sessions: Any = held
    return Actions(sessions, lambda session: held.lock if session is held.session else asyncio.Lock(), _none)


class Refusing:
    """A store that another process has written into meanwhile."""

    def append(self, records: Sequence[Record]) -> Future[None]:
        future: Future[None] = Future()
        future.set_exception(StoreRefused("the log has gone on"))
        return future


async def test_a_pin_that_the_store_refuses_is_not_said_to_be_done(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held.session._books.journal, "_store", Refusing())
    with pytest.raises(Refused, match="say it again") as refused:
        await acting(held).pin(KEY.hex(), cell_of(held), True)
    assert refused.value.status == 409


async def test_one_that_is_late_is(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "PATIENCE", 0)
    monkeypatch.setattr(held.session._books.journal, "_send", lambda: None)
    with pytest.raises(Refused, match="not on disk yet") as refused:
        await acting(held).pin(KEY.hex(), cell_of(held), True)
    assert refused.value.status == 503


def cell_of(held: Held) -> int:
    """The newest cell."""
    return len(held.session.state.cells) - 1


async def test_who_waits_for_a_session_acts_on_the_one_that_is_in_memory_then(held: Held) -> None:
    acts, before = acting(held), held.session
    cell = cell_of(held)
    async with held.lock:
        waiting = asyncio.ensure_future(acts.pin(KEY.hex(), cell, True))
        await asyncio.sleep(0)
        held.session = restored(before.kit)  # it was let go, and its agent went on
    assert await waiting == f"cell {cell} is pinned"
    assert held.session.state.cells[cell].pinned
    assert not before.state.cells[cell].pinned


async def test_one_that_has_gone_meanwhile_is_not_acted_on(held: Held) -> None:
    acts, before, cell = acting(held), held.session, cell_of(held)
    async with held.lock:
        waiting = asyncio.ensure_future(acts.pin(KEY.hex(), cell, True))
        await asyncio.sleep(0)
        held.session = fresh(before.kit, b"o" * 32)
    with pytest.raises(Refused, match="not in memory"):
        await waiting
    assert not before.state.cells[cell].pinned
