"""What is told beyond the default, and whose tokens are said."""

from __future__ import annotations

import pytest

from ctxgc.telemetry.otel.names import CAPTURE, ITEMS, OPT_IN
from ctxgc.telemetry.otel.switches import Switches, counted, switches


def test_nothing_is_told_by_default():
    assert switches({}) == Switches()
    assert not switches({}).content


@pytest.mark.parametrize(
    ("word", "on_spans", "on_events"),
    [
        ("NO_CONTENT", False, False),
        ("SPAN_ONLY", True, False),
        ("EVENT_ONLY", False, True),
        ("span_and_event", True, True),
        ("true", False, False),
    ],
)
def test_content_goes_where_the_conventions_word_says_and_a_word_that_is_not_known_captures_nothing(
    word, on_spans, on_events
):
    found = switches({CAPTURE: word})
    assert (found.on_spans, found.on_events) == (on_spans, on_events)
    assert found.content == (on_spans or on_events)


def test_the_newest_names_are_opted_into_by_one_word_of_a_list():
    assert switches({OPT_IN: "http, gen_ai_latest_experimental"}).latest
    assert not switches({OPT_IN: "http"}).latest
    assert switches({ITEMS: "True"}).items


@pytest.mark.parametrize(
    ("mode", "caller", "says"),
    [("always", True, True), ("auto", False, True), ("auto", True, False), ("never", False, False)],
)
def test_tokens_are_said_unless_the_caller_says_them(mode, caller, says):
    assert counted(mode, caller=caller) is says
