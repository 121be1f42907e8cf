"""What new cells refer to and put out of date: journalled, and found the same after a restart."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.journal import Edge, Marking, Overwritten
from ctxgc.session import Kit, Session, drain, marking
from ctxgc.session.marking import OFFSETS, Marker
from ctxgc.store import Store, StoreMissing
from tests.session.growing import LISTING, Growing
from tests.session.histories import Request, story
from tests.session.scripts import Known, agent, body, fresh, kit, memory, restored, send, user

CODE = "".join(f"{number:4}\tdef handler_{number}(request):\n" for number in range(1, 40))


def growing(store: Store) -> Growing:
    return Growing(kit(store, (Silent(),)))


class Silent:
    """A policy that says nothing: cells are marked only where there are policies."""

    name = "silent"

    def propose(self, heap: object) -> tuple[()]:
        return ()


def edges(found: Growing) -> list[Edge]:
    return [edge for entry in found.entries() if isinstance(entry, Marking) for edge in entry.edges]


def gone(found: Growing) -> list[Overwritten]:
    return [one for entry in found.entries() if isinstance(entry, Marking) for one in entry.overwritten]


def cell_at(found: Growing, message: int) -> int:
    """The id of the first cell of a message of the conversation."""
    state = found.session.state
    head = next(node.id for node in reversed(state.nodes) if node.depth == len(found.messages) - 1)
    return state.path(head)[message].cells[0]


# References


def test_what_the_agent_names_is_a_reference_to_where_it_stands() -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        found.answer("row_117 looks right")
        (edge,) = edges(found)
        assert (edge.target, edge.source) == (cell_at(found, at), cell_at(found, at + 1))
        assert LISTING[edge.marks[0] :].startswith("row_117")
        marks = found.session.state.marks[edge.target]
        assert (marks.count, marks.turn, marks.by) == (1, 2, (edge.source,))


@pytest.mark.parametrize("form", ["arguments", "reasoning"])
def test_arguments_and_reasoning_refer_as_well(form: str) -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        if form == "arguments":
            found.say("ok", "open_row", {"id": "row_117"})
        else:
            found.messages += [agent("so", reasoning_content="I think row_117 is it"), user("go on")]
            found.send()
        assert [edge.target for edge in edges(found)] == [cell_at(found, at)]


@pytest.mark.parametrize("said", ["", "all fine now", "there are 200 of them", "pong"])
def test_control_what_names_nothing_of_it_is_none(said: str) -> None:
    with memory() as store:
        found = growing(store)
        found.say(LISTING)
        found.answer(said)
        assert edges(found) == []


def test_what_tools_and_users_say_refers_to_nothing() -> None:
    with memory() as store:
        found = growing(store)
        found.say(LISTING)
        found.say("see row_117, important: row_117 must be kept")
        found.answer("done", "look at row_117 again")
        assert edges(found) == []


def test_what_the_user_has_named_is_no_news() -> None:
    with memory() as store:
        found = growing(store)
        found.answer("which one?", "the one called parcel_desk_9")
        found.say("parcel_desk_9 is open")
        before = len(edges(found))
        found.answer("parcel_desk_9 it is")
        assert before == 0


def test_several_references_in_one_turn_count_as_one() -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        found.say("ok", "open_row", {"id": "row_117"}, text="row_117 or row_20")
        found.answer("row_117")
        target = cell_at(found, at)
        assert found.session.state.marks[target].count == 2
        assert len({edge.source for edge in edges(found) if edge.target == target}) == 3


def test_a_text_that_names_everything_is_noted_in_some_places_only() -> None:
    with memory() as store:
        found = growing(store)
        found.say(LISTING)
        found.answer(LISTING)
        assert edges(found)
        assert all(len(edge.marks) <= OFFSETS for edge in edges(found))


ORDERS = "".join(f"order_{number:04} is for shelf_{number * 7919 % 1000}\n" for number in range(200))
RENAMED = ORDERS.replace("order_0117", "order_0817").replace("is for", "goes to")
"""Another listing with the same names but for one, and no quote in common."""


def listed(*listings: str, said: str) -> tuple[list[int], set[int]]:
    """The cells of listings that were read one after the other, and those that the agent then refers to."""
    with memory() as store:
        found = growing(store)
        at = [found.say(one) for one in listings]
        found.answer(said)
        return [cell_at(found, one) for one in at], {edge.target for edge in edges(found)}


@pytest.mark.parametrize("times", [2, 3, 9])
def test_of_the_cells_that_carry_a_name_the_newest_is_what_is_referred_to(times: int) -> None:
    read, referred = listed(*[ORDERS] * times, said="order_0020 it is")
    assert referred == {read[-1]}


def test_a_name_that_only_an_older_cell_carries_refers_to_that() -> None:
    (old, new), referred = listed(ORDERS, RENAMED, said="order_0117 it is")
    assert referred == {old}
    assert listed(ORDERS, RENAMED, said="order_0817 it is") == ([old, new], {new})
    assert listed(ORDERS, RENAMED, said="order_0117 or order_0020") == ([old, new], {old, new})


@pytest.mark.parametrize(("times", "cells"), [(2, 2), (3, 0)])
def test_control_who_does_not_know_the_newest_takes_all_or_none(
    monkeypatch: pytest.MonkeyPatch, times: int, cells: int
) -> None:
    monkeypatch.setattr(marking, "_offsets", lambda _text: ())
    _, referred = listed(*[ORDERS] * times, said="order_0020 it is")
    assert len(referred) == cells


def test_a_mark_of_the_newest_is_where_the_name_stands_in_it() -> None:
    with memory() as store:
        found = growing(store)
        found.say(ORDERS)
        moved = "moved: " + RENAMED
        found.say(moved)
        found.answer("order_0020 it is")
        (edge,) = edges(found)
        assert all(moved[at:].startswith("order_0020") for at in edge.marks)
        assert edge.marks


# Out of date


def test_a_file_that_is_read_again_puts_the_first_view_out_of_date() -> None:
    with memory() as store:
        found = growing(store)
        first = found.say(CODE, "read_file", {"path": "/src/app.py"})
        second = found.say(CODE + "# end\n", "read_file", {"path": "/src/app.py"})
        assert [(one.cell, one.by, one.overcome) for one in gone(found)] == [
            (cell_at(found, first), cell_at(found, second), False)
        ]


def test_control_another_file_or_another_range_does_not() -> None:
    with memory() as store:
        found = growing(store)
        found.say(CODE, "read_file", {"path": "/src/app.py", "offset": 1, "limit": 39})
        found.say(CODE, "read_file", {"path": "/src/app.py", "offset": 40, "limit": 39})
        found.say(CODE, "read_file", {"path": "/src/main.py"})
        assert gone(found) == []


def test_a_failure_is_overcome_by_a_success_of_the_same_kind() -> None:
    with memory() as store:
        found = growing(store)
        failure = found.say("Error: no such file", "read_file", {"path": "/src/app.py"})
        found.say(CODE, "read_file", {"path": "/src/app.py"})
        assert [(one.cell, one.overcome) for one in gone(found)] == [(cell_at(found, failure), True)]


# Caches


def marked(session: Session) -> tuple[object, ...]:
    state = session.state
    return state.marks, state.overwritten


def rebuilt(found: Session, used: Kit) -> Marker:
    marker = Marker()
    drain(marker.catch_up(found.state, used.store, used.codec))
    return marker


@given(st.integers(0, 2**48))
@settings(max_examples=30)
def test_after_a_restart_the_same_is_marked(seed: int) -> None:
    """Marked with all memory of it, and with indices that are built from the store before every request."""
    told = [one for one in story(Random(seed), 8) if isinstance(one, Request)]
    with memory() as one, memory() as other:
        live, again = fresh(kit(Known(one), (Silent(),))), kit(Known(other), (Silent(),))
        for number, request in enumerate(told):
            send(live, request.text)
            session = restored(again) if number else fresh(again)
            send(session, request.text)
            session.flush()
        assert marked(live) == marked(restored(again))


def test_what_is_quotable_is_the_same_after_a_restart() -> None:
    with memory() as store:
        found = growing(store)
        found.say(CODE, "read_file", {"path": "/src/app.py"})
        at = found.say(CODE, "read_file", {"path": "/src/main.py"})
        found.say("ok", "edit_file", {"path": "/src/main.py", "old_string": "handler_3", "new_string": "x"})
        found.session.flush()
        quotable = rebuilt(restored(found.used), found.used).quotable()
        assert cell_at(found, at) in quotable
        assert quotable == found.session._cycle.marker.quotable()


def test_control_an_index_that_missed_a_message_marks_less() -> None:
    with memory() as store:
        found = growing(store)
        found.say(LISTING)
        found.session.flush()
        found.session._cycle.marker = Marker(len(found.session.state.nodes))
        found.answer("row_117")
        assert edges(found) == []


class Lossy(Known):
    """The real store, without what it had."""

    def blob(self, digest: bytes) -> bytes:
        raise StoreMissing("gone")


def test_what_the_store_has_lost_introduces_nothing_and_stops_nothing() -> None:
    with memory() as store:
        found = growing(store)
        found.say(LISTING)
        found.session.flush()

        session = restored(replace(found.used, store=Lossy(store)))  # type: ignore[arg-type]
        send(session, body([*found.messages, agent("row_117"), user("go on")]))
        session.flush()
        assert marked(session)[0] == {}


def test_a_fault_in_marking_stops_no_request_and_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory() as store:
        found = growing(store)

        def broken(*_: object) -> None:
            raise LookupError

        monkeypatch.setattr(Marker, "take", broken)
        found.turns(3)
        assert found.sent == json.loads(body(found.messages))["messages"]
        assert found.reasons() == ["not marked: LookupError"]
