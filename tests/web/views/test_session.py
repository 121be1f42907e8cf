"""The view of a session: the same documents however it was fed, whole requests only, figures as counted naively."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.journal import Allocation, Bypass, Pin, Settlement
from ctxgc.core.pacer import Tariff
from ctxgc.web.views import SessionView
from tests.web.views import shapes
from tests.web.views.journals import READ, WRITE, came, journals, left, moments, price, tariff, view_of, without

NAMES = ("empty", "collected", "compacted", "wild1", "wild2", "winding")


def documents(view: SessionView) -> bytes:
    return msgspec.json.encode([view.summary(), view.cells(), view.line()])


def columns(name: str) -> Any:
    return view_of(journals()[name]).cells()["columns"]


@pytest.mark.parametrize("name", NAMES)
def test_documents_have_the_shape_that_the_page_knows(name: str) -> None:
    view = view_of(journals()[name])
    summary, cells = shapes.typed(view.summary(), shapes.Summary), shapes.typed(view.cells(), shapes.Cells)
    assert shapes.typed(view.line(), shapes.Line).requests == summary.turns.count == cells.requests
    lengths = {len(column) for column in msgspec.structs.asdict(cells.columns).values()}
    assert lengths == {len(view.state.cells)}
    turns = msgspec.structs.asdict(summary.turns)
    stacks = [*turns.pop("received").values(), *turns.pop("sent").values()]
    assert {len(column) for column in (*stacks, *turns.values()) if isinstance(column, list)} <= {turns["count"]}
    assert list(summary.turns.received) == list(summary.turns.sent) == summary.families


def test_a_document_of_another_shape_is_noticed() -> None:
    whole = view_of(journals()["collected"]).summary()
    with pytest.raises(msgspec.ValidationError):
        shapes.typed({**whole, "entries": "many"}, shapes.Summary)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(NAMES), st.sets(st.integers(0, 400), max_size=6), st.integers(0, 400))
def test_documents_are_the_same_however_the_journal_was_fed(name: str, asked: set[int], upto: int) -> None:
    entries = journals()[name][: upto or None]
    view = view_of(())
    for at, entry in enumerate(entries):
        if at in asked:
            documents(view)
        view.take(entry)
    assert documents(view) == documents(view_of(entries))


def test_a_view_that_holds_nothing_back_is_noticed() -> None:
    """The control: asked in the middle of a request, it books that without what was collected for it."""
    entries, view = journals()["collected"], view_of(())
    for entry in entries:
        view.take(entry)
        view.end()
        documents(view)
    assert documents(view) != documents(view_of(entries))


def test_a_request_that_is_open_is_not_shown_until_it_ends() -> None:
    entries = journals()["collected"]
    last = max(at for at, entry in enumerate(entries) if isinstance(entry, Allocation))
    ended = next(at for at in range(last, len(entries)) if isinstance(entries[at], Settlement))
    before = view_of(entries[:last])
    shown = view_of(entries[:ended])
    assert shown.summary()["turns"] == before.summary()["turns"]
    assert shown.cells() == before.cells()
    assert view_of(entries[: ended + 1]).summary()["turns"] != before.summary()["turns"]
    shown.end()
    turns = shapes.typed(shown.summary(), shapes.Summary).turns
    assert (turns.count, turns.outcome[-1]) == (len(moments(entries)), "open")


@pytest.mark.parametrize("name", NAMES)
def test_what_was_carried_is_what_is_counted_request_by_request(name: str) -> None:
    entries = journals()[name]
    times, turns, cost = Counter[int](), Counter[int](), Counter[int]()
    seen = set[int]()
    for one in moments(entries):
        times.update(came(one))
        for cell, tokens in left(one).items():
            turns[cell] += tokens
            cost[cell] += round(10 * (READ if cell in seen else WRITE)) * tokens
            seen.add(cell)
    found = columns(name)
    ids = found["id"]
    assert found["token_turns"] == [times[cell] * found["tokens"][cell] for cell in ids]
    assert found["sent_turns"] == [turns[cell] for cell in ids]
    assert found["cost"] == [cost[cell] / 10 for cell in ids]


def test_a_journal_that_lost_a_collection_is_counted_differently() -> None:
    entries = journals()["collected"]
    assert view_of(without(entries)).cells()["columns"] != columns("collected")


def test_costs_are_those_of_each_requests_model() -> None:
    """Half of the requests go to a model at twice the price."""
    entries = journals()["wild1"]
    models = {one.entry.model for one in moments(entries)}
    assert len(models) == 2
    dear = {name: 1 + at for at, name in enumerate(sorted(models))}
    view = view_of(entries, tariffs=lambda model: dearer(tariff(model), dear.get(model, 1)))
    cost, seen = Counter[int](), set[int]()
    for one in moments(entries):
        for cell, tokens in left(one).items():
            cost[cell] += round(10 * (READ if cell in seen else WRITE)) * tokens * dear[one.entry.model]
            seen.add(cell)
    found: Any = view.cells()["columns"]
    assert found["cost"] == [cost[cell] / 10 for cell in found["id"]]


def dearer(one: Tariff, times: int) -> Tariff:
    return replace(one, read=one.read * times, write=one.write * times)


@pytest.mark.parametrize("name", NAMES)
def test_requests_are_what_came_and_what_left(name: str) -> None:
    entries = journals()[name]
    turns = shapes.typed(view_of(entries).summary(), shapes.Summary).turns
    cells = view_of(entries).state.cells
    assert turns.sent_total == [sum(left(one).values()) for one in moments(entries)]
    assert turns.received_total == [sum(cells[cell].tokens for cell in came(one)) for one in moments(entries)]
    assert turns.received_total == [sum(column) for column in zip(*turns.received.values(), strict=True)]
    assert turns.sent_total == [sum(column) for column in zip(*turns.sent.values(), strict=True)]
    paces = [one.entry.pace for one in moments(entries)]
    assert turns.net == [pace.untouched - pace.paid for pace in paces if pace is not None]


def test_the_last_time_is_that_of_a_request_or_its_end() -> None:
    entries = list(journals()["collected"])
    view = view_of(entries)
    newest = max(one.at for one in entries if isinstance(one, Allocation | Settlement))
    assert view.summary()["last"] == view.line()["last"] == newest
    view.take(Pin(at=newest + 500, cell=1, pinned=True))
    assert view.summary()["last"] == view.line()["last"] == newest
    view.take(Bypass(at=newest + 900, call=b"z", reason="not JSON"))
    assert view.summary()["last"] == newest + 900


def test_how_a_request_ended_is_what_its_settlement_says() -> None:
    entries = journals()["collected"]
    turns = shapes.typed(view_of(entries).summary(), shapes.Summary).turns
    ends = {entry.call: entry for entry in entries if isinstance(entry, Settlement)}
    usages = [ends[one.entry.call].usage for one in moments(entries)]
    assert turns.reported == [usage.input if usage else None for usage in usages]
    assert turns.cached == [usage.cached if usage else None for usage in usages]
    assert turns.outcome == ["ok"] * len(usages)


def test_prices_and_tariffs_are_asked_once_for_a_model() -> None:
    asked = Counter[str]()

    def counted(model: str) -> Any:
        asked[model] += 1
        return price(model)

    view_of(journals()["wild1"], prices=counted).summary()
    assert set(asked.values()) == {1}


def test_the_list_of_sessions_says_what_the_session_says() -> None:
    view = view_of(journals()["collected"])
    line, summary = shapes.typed(view.line(), shapes.Line), shapes.typed(view.summary(), shapes.Summary)
    assert (line.sent, line.received) == (summary.turns.sent_total[-1], summary.turns.received_total[-1])
    assert (line.net, line.window, line.suspects) == (summary.turns.net[-1], 40_000, len(summary.suspects))
