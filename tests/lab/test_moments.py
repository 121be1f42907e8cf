"""Cutting a journal at one of its requests."""

from __future__ import annotations

import pytest

from ctxgc.core.journal import Allocation
from ctxgc.core.state import fold
from ctxgc.errors import InputError
from ctxgc.lab.moments import moment
from tests.lab.build import agent, body, recorded, system, user

FIRST = [system(), user("one")]
SECOND = [*FIRST, agent("done"), user("two")]
OTHER = [*FIRST, agent("otherwise"), user("three")]
_, ENTRIES = recorded([body(FIRST), body(SECOND), body([user("a title")]), body(OTHER), body(SECOND)])


def test_requests_are_counted_from_1_and_from_the_end() -> None:
    allocations = [entry for entry in ENTRIES if isinstance(entry, Allocation)]
    for number, entry in enumerate(allocations, 1):
        found = moment(ENTRIES, number)
        assert (found.number, found.requests, found.entry) == (number, 5, entry)
        assert moment(ENTRIES, number - 6) == found


@pytest.mark.parametrize("turn", [0, 6, -6])
def test_a_request_that_is_not_there_is_said(turn: int) -> None:
    with pytest.raises(InputError, match="the session has 5"):
        moment(ENTRIES, turn)


def test_what_comes_before_and_what_is_its_own_fold_to_the_request_as_it_left() -> None:
    found = moment(ENTRIES, 2)
    assert fold((*found.before, *found.own)).calls == 2
    assert found.own[0] is found.entry
    assert len(fold(found.before).nodes) == 2


def test_a_history_was_planned_when_the_request_that_it_goes_on_from_was_booked() -> None:
    first, last = moment(ENTRIES, 1), moment(ENTRIES, 5)
    assert (first.previous, first.planned) == (None, len(first.before))
    assert last.previous is moment(ENTRIES, 2).entry  # a retry, with a helper call and a branch between
    assert last.planned < len(last.before)
