"""What the page does to a session that runs: through the token, with the session's lock, into its journal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ctxgc.core.compaction import Milestone
from ctxgc.core.journal import Collection, Pin, Recall
from ctxgc.session import Session
from tests.proxy.bodies import LISTING, calling, result, user
from tests.proxy.client import KEY
from tests.proxy.harness import Running
from tests.web.pages import SESSION, Visitor, talked

CELL = 2
"""The cell of the tool's result in what ``talked`` says: behind the user's message and the call."""


@pytest.fixture
async def visitor(observing: Running) -> Visitor:
    return Visitor.of(observing)


def entries(running: Running, kind: type[Any]) -> list[Any]:
    return [entry for found in running.journals().values() for entry in found if isinstance(entry, kind)]


async def cell_of(running: Running, session: str, tag: str) -> int:
    """The first cell of that tag, as the journal has it."""
    (state,) = running.check()
    return next(cell.id for cell in state.cells if cell.tag.startswith(tag))


async def test_a_cell_is_pinned_and_let_go_of(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    cell = await cell_of(observing, session, "tool_result")
    for pinned, said in ((True, "is pinned"), (False, "is let go of")):
        answer = await visitor.act(f"sessions/{session}/pin", {"cell": cell, "pinned": pinned})
        assert answer.status == 200
        assert json.loads(answer.body) == {"schema": "ctxgc.page.done/1", "said": f"cell {cell} {said}"}
        shown = await visitor.document(f"sessions/{session}/cells")
        assert shown["columns"]["pinned"][cell] == pinned
    assert [(one.cell, one.pinned) for one in entries(observing, Pin)] == [(cell, True), (cell, False)]
    observing.check()


async def test_what_is_so_by_now_is_said_and_not_booked(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    cell = await cell_of(observing, session, "tool_result")
    answer = await visitor.act(f"sessions/{session}/pin", {"cell": cell, "pinned": False})
    assert json.loads(answer.body)["said"] == f"cell {cell} was let go of before"
    assert entries(observing, Pin) == []


async def test_what_cannot_be_pinned_is_refused_with_the_reason(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    answer = await visitor.act(f"sessions/{session}/pin", {"cell": 999, "pinned": True})
    assert (answer.status, answer.error["message"]) == (409, "the session has no cell 999")


async def test_what_came_shortened_is_pinned_as_it_is_sent(eden: Running) -> None:
    session = await talked(eden)
    cell = await cell_of(eden, session, "tool_result")
    assert entries(eden, Collection)
    answer = await Visitor.of(eden).act(f"sessions/{session}/pin", {"cell": cell, "pinned": True})
    assert json.loads(answer.body)["said"] == f"cell {cell} is pinned, as it is sent now: shortened"


async def test_collected_content_is_given_back_exactly_and_nothing_is_booked(eden: Running) -> None:
    session = await talked(eden)
    (made,) = entries(eden, Collection)
    handle = made.edits[0].handle
    answer = await Visitor.of(eden).act(f"sessions/{session}/recall", {"handle": handle})
    assert json.loads(answer.body) == {"schema": "ctxgc.page.recalled/1", "handle": handle, "text": LISTING}
    assert (await Visitor.of(eden).act(f"sessions/{session}/recall", {"handle": "a" * 16})).status == 404
    await asyncio.to_thread(eden.store.inner.flush)
    assert entries(eden, Recall) == []
    shown = await Visitor.of(eden).document(f"sessions/{session}")
    assert next(tile["value"] for tile in shown["tiles"] if tile["id"] == "recalled") == 0


async def test_a_recall_as_a_host_makes_it_would_be_noticed(eden: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: to a host it is a use of what was collected."""
    session, recall = await talked(eden), Session.recall
    monkeypatch.setattr(Session, "recall", lambda self, handle, by: recall(self, handle, by=by or "host"))
    (made,) = entries(eden, Collection)
    await Visitor.of(eden).act(f"sessions/{session}/recall", {"handle": made.edits[0].handle})
    await asyncio.to_thread(eden.store.inner.flush)
    assert [(one.by, one.found) for one in entries(eden, Recall)] == [("host", True)]


async def test_an_unknown_handle_is_not_found(eden: Running) -> None:
    session = await talked(eden)
    answer = await Visitor.of(eden).act(f"sessions/{session}/recall", {"handle": "a" * 16})
    assert answer.status == 404


async def test_what_no_utf8_holds_is_given_back_too(eden: Running) -> None:
    text = "\\ud800 " + LISTING
    session = await talked(eden, user(), calling(), {**result(), "content": text})
    edits = [edit for made in entries(eden, Collection) for edit in made.edits]
    answer = await Visitor.of(eden).act(f"sessions/{session}/recall", {"handle": edits[0].handle})
    assert json.loads(answer.body)["text"] == text


async def test_a_milestone_is_noted(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    answer = await visitor.act(f"sessions/{session}/milestone", {"name": "report written"})
    assert json.loads(answer.body)["said"] == "report written: noted as done"
    (reached,) = await observing.store.until(Milestone)
    assert reached.name == "report written"


@pytest.mark.parametrize(
    ("name", "body"),
    [("pin", {"cell": CELL, "pinned": True}), ("recall", {"handle": "a" * 16}), ("milestone", {"name": "x"})],
)
async def test_a_session_that_is_not_in_memory_is_not_acted_on(
    start: Any, observing: Running, name: str, body: Any
) -> None:
    session = await talked(observing)
    visitor = Visitor.of(observing)
    for wanted in ("0" * 64, session[:8], "%2e%2e"):
        answer = await visitor.act(f"sessions/{wanted}/{name}", body)
        assert answer.status in (404, 409)
    assert "in memory" in (await visitor.act(f"sessions/{'0' * 64}/{name}", body)).error["message"]


async def test_a_session_whose_journal_has_lost_an_entry_is_not(
    observing: Running, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await talked(observing)
    with monkeypatch.context() as patch:
        patch.setattr(Session, "broken", property(lambda _session: True))
        answer = await visitor.act(f"sessions/{session}/pin", {"cell": CELL, "pinned": True})
        assert answer.status == 409
        assert "say it again" in answer.error["message"]
    assert (await visitor.act(f"sessions/{session}/pin", {"cell": CELL, "pinned": True})).status == 200


async def test_a_session_that_has_ended_says_that_nothing_can_be_done(start: Any) -> None:
    async with start() as running:
        session = await talked(running)
    async with start() as running:
        shown = await Visitor.of(running).document(f"sessions/{session}")
        assert shown["live"] is False
        assert shown["actions"] == {"pin": False, "recall": False, "milestone": False}


async def test_a_pin_waits_for_a_request_that_is_being_decided(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    many = [observing.chat(_grown(number), (KEY, SESSION)) for number in range(1, 9)]
    acts = [visitor.act(f"sessions/{session}/pin", {"cell": CELL, "pinned": bool(at % 2)}) for at in range(8)]
    answers = await asyncio.gather(*many, *acts)
    assert {answer.status for answer in answers} == {200}
    await asyncio.to_thread(observing.store.inner.flush)
    observing.check()


def _grown(number: int) -> bytes:
    from tests.proxy.recalls import request

    return request(user(), calling(), result(), *(user(f"and {at}") for at in range(number)))
