"""Leak suspects of sessions that go on: each is told once, at the first look that finds it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ctxgc.core.journal import Allocation, AnyEntry, Recovery, Settlement
from ctxgc.core.state import State
from ctxgc.lab.profile import profile
from ctxgc.session import drain
from ctxgc.telemetry.looking import Looks, looking
from tests.lab.collected import bodies, collecting_kit, entries, run
from tests.session.scripts import memory

from .helpers import Session


@pytest.fixture(scope="module")
def log() -> list[AnyEntry]:
    with memory() as store:
        run(collecting_kit(store, ()), bodies(41))
        return entries(store)


def until(log: Sequence[AnyEntry], ends: int) -> Sequence[AnyEntry]:
    """The journal up to the end of so many requests."""
    ended = [at for at, entry in enumerate(log) if isinstance(entry, Settlement | Recovery)]
    return log[: ended[ends - 1] + 1]


def told(found: Sequence[object]) -> set[tuple[str, str]]:
    return {(one.rule, one.subject) for one in found}  # type: ignore[attr-defined]


def test_a_look_finds_what_a_profile_of_the_journal_so_far_shows_and_no_look_found_before(log: list[AnyEntry]):
    shown = {look: told(profile(until(log, look)).suspects) for look in (10, 20, 40)}
    found = {look: told(drain(looking(log, look))) for look in (10, 20, 40)}
    assert found[10] == shown[10] != set()
    assert found[20] == shown[20] - shown[10]
    assert found[40] == shown[40] - shown[20] - shown[10]
    assert shown[20] & shown[10]  # the control: without the memory of earlier looks they would be told twice


def test_what_is_found_does_not_depend_on_when_it_is_looked_for(log: list[AnyEntry]):
    for look in (10, 20):
        assert drain(looking(log, look)) == drain(looking(until(log, look), look))


def test_a_journal_that_has_not_come_so_far_says_nothing(log: list[AnyEntry]):
    assert drain(looking(until(log, 19), 20)) == ()
    assert drain(looking([], 10)) == ()


def test_looking_is_done_an_entry_at_a_time(log: list[AnyEntry]):
    steps, count = looking(log, 10), 0
    for _ in steps:
        count += 1
    assert count == len(until(log, 10)) - 1


def grown(*ends: int) -> list[int]:
    """The looks that are due after so many ended requests each."""
    looks, session = Looks(), Session()
    due = []
    for end in ends:
        while session.state.calls < end:
            session.settle(session.ask([("user_turn", 1)]))
        due.append(looks.due(session.state))
    return due


def test_looks_are_due_at_ten_twenty_forty_and_so_on_once_each():
    assert [end for end, look in enumerate(grown(*range(1, 170)), 1) if look] == [10, 20, 40, 80, 160]
    assert grown(9, 13, 13, 25, 39, 40) == [0, 10, 0, 20, 0, 40]


def test_a_session_that_was_looked_at_and_comes_back_is_not_looked_at_for_the_same():
    looks, session = Looks(), Session()
    for _ in range(20):
        session.settle(session.ask([("user_turn", 1)]))
    looks.met(session.state)
    call = session.ask([("user_turn", 1)])
    assert looks.due(session.state) == 0
    session.settle(call)
    assert looks.due(session.state) == 0
    while session.state.calls < 40:
        session.settle(session.ask([("user_turn", 1)]))
    assert looks.due(session.state) == 40


def test_control_a_session_that_nobody_met_before_it_went_on_may_be_looked_at_again():
    looks, session = Looks(), Session()
    for _ in range(20):
        session.settle(session.ask([("user_turn", 1)]))
    session.ask([("user_turn", 1)])
    assert looks.due(session.state) == 20


def test_a_session_that_comes_back_before_a_look_is_looked_at_then():
    session = Session()
    for end in range(1, 21):
        looks = Looks()
        looks.met(session.state)
        session.settle(session.ask([("user_turn", 1)]))
        assert looks.due(session.state) == (end if end in (10, 20) else 0)


def test_a_session_that_comes_back_begins_with_the_next_look():
    assert grown(11, 19, 20) == [0, 0, 20]
    assert grown(40, 41) == [40, 0]


def test_a_request_under_way_has_not_ended():
    looks, session = Looks(), Session()
    calls = [session.ask([("user_turn", 1)]) for _ in range(10)]
    assert looks.due(session.state) == 0
    for call in calls:
        session.settle(call)
    assert looks.due(session.state) == 10


def test_the_work_is_in_proportion_to_the_requests_made(log: list[AnyEntry]):
    """Each request is walked at most four times, whenever a session ends."""
    looks, state, walked = Looks(), State(), 0
    for entry in log:
        state.apply(entry)
        if isinstance(entry, Settlement) and (look := looks.due(state)):
            walked += look
    assert walked == 70 <= 4 * sum(isinstance(entry, Allocation) for entry in log)
