"""What came against what was sent: nothing of either is lost in the comparison, and both are what was booked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.state import fold
from ctxgc.lab.differences import compare, difference
from ctxgc.lab.moments import moment
from ctxgc.session.originals import received, sent
from tests.lab.collected import entries
from tests.session.scripts import (
    KEY,
    LONG,
    PRETTY,
    agent,
    body,
    call,
    drive,
    exchange,
    history,
    kit,
    marked,
    memory,
    result,
    system,
    user,
)

TEXTS = st.lists(st.sampled_from(("a", "b", "", "}", "c\r")), max_size=12).map("\n".join)
FIRST = [system(), user(), *exchange(1, LONG)]
SECOND = [*FIRST, *exchange(2, PRETTY)]


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_off_their_comparison(before: str, after: str) -> None:
    lines = list(compare(before, after))
    assert "\n".join(line.text for line in lines if line.sign != "+") == before
    assert "\n".join(line.text for line in lines if line.sign != "-") == after


@given(st.lists(st.text("ab", max_size=2), max_size=20), st.data())
def test_what_was_only_left_out_of_is_never_put_in(lines: list[str], data: st.DataObject) -> None:
    kept = [line for line in lines if data.draw(st.booleans())]
    found = list(compare("\n".join(lines), "\n".join(kept)))
    assert [line for line in found if line.sign == "+" and kept] == []


def test_a_long_text_takes_time_by_its_length() -> None:
    text = "same\n" * 200_000  # the control: comparing each pair of lines would be 4 * 10^10 steps
    assert sum(line.sign == " " for line in compare(text, text)) == 200_001


def test_the_changes_are_those_between_what_came_and_what_left() -> None:
    with memory() as store:
        used = kit(store)
        drive([body(FIRST), body(SECOND)], used)
        at = moment(entries(store, KEY), 2)
        found, state = difference(at, store, used.codec), fold((*at.before, *at.own))
        came, left = (history(form(state, store, used.codec, at.entry)) for form in (received, sent))
        changed = [number for number, pair in enumerate(zip(came, left, strict=True), 1) if pair[0] != pair[1]]
        assert [change.message for change in found.changes] == changed == [4, 6]
        for change in found.changes:
            texts = [json.loads(side[change.message - 1])["content"] for side in (came, left)]
            signs = [("+", texts[0]), ("-", texts[1])]
            for sign, text in signs:
                assert "\n".join(line.text for line in change.lines if line.sign != sign) == text
            assert change.sent < change.tokens
            assert change.edit is not None
            assert change.role == "tool"
        assert found.messages == len(came) == 6
        assert found.received - found.sent == sum(change.tokens - change.sent for change in found.changes)


def test_control_nothing_is_changed_where_nothing_was() -> None:
    with memory() as store:
        used = kit(store, ())
        drive([body(FIRST), body(SECOND)], used)
        assert difference(moment(entries(store, KEY), -1), store, used.codec).changes == ()


def test_a_message_that_came_in_another_form_is_compared_in_that() -> None:
    with memory() as store:
        used = kit(store)
        messages = [*FIRST[:-1], marked(FIRST[-1])]
        drive([body(FIRST), body(messages)], used)
        (change,) = difference(moment(entries(store, KEY), -1), store, used.codec).changes
        assert change.message == 4
        assert any(line.sign == "-" for line in change.lines)


@pytest.mark.parametrize("policies", [(), None])
def test_fields_that_are_for_ctxgc_alone_are_said_to_be_taken_out(policies: tuple[()] | None) -> None:
    with memory() as store:
        used = kit(store) if policies is None else kit(store, policies)
        own = result("c9", "short", ctxgc={"tag": "notes"})
        drive([body([*FIRST[:2], agent(None, call("c9")), own])], used)
        (change,) = difference(moment(entries(store, KEY), 1), store, used.codec).changes
        assert (change.message, change.edit, change.lines) == (4, None, ())
