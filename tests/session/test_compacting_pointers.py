"""What points into a span that goes, what was recalled in it, and the tokens of what is sent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ctxgc.core.pacer import Tariff
from ctxgc.policies import preset
from ctxgc.policies.dedup import Dedup
from ctxgc.session.originals import disagreements
from tests.session import rules
from tests.session.compacted import QUALITY, TERMS, Long, long
from tests.session.recalls import again, ask
from tests.session.scripts import agent, body, call, memory, result, settle

BIG = "".join(f"thing_{number} is at place_{number * 37}\n" for number in range(30))


def pointing(store: Any, **changes: Any) -> tuple[Long, int]:
    """A conversation in whose tail a result says that it is the same as one in the span; where it stands."""
    talk = long(store, Dedup(min_tokens=16), terms=replace(TERMS, tail=800), **changes)
    talk.say(BIG, arguments={"q": 1})
    while talk.session.state.tokens(talk.head, -1, sent=True) < QUALITY - 600:
        talk.one()
    at = talk.say(BIG, arguments={"q": 1})
    assert "unchanged: same output" in talk.sent[at]["content"]
    return talk, at


def test_a_pointer_whose_target_goes_is_shown_itself_again() -> None:
    with memory() as store:
        talk, at = pointing(store)
        talk.until()
        assert at not in talk.gone
        (shown,) = [one for one in talk.sent if one.get("tool_call_id") == talk.messages[at]["tool_call_id"]]
        assert shown["content"] == BIG
        assert talk.broken == []
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []


def test_a_large_pointer_says_that_its_target_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.session.compacting.LARGE", 100)
    with memory() as store:
        talk, at = pointing(store)
        talk.until()
        assert at not in talk.gone
        (shown,) = [one for one in talk.sent if one.get("tool_call_id") == talk.messages[at]["tool_call_id"]]
        assert "not shown any more" in shown["content"]
        assert talk.session.recall(shown["content"][7:23]) == BIG
        assert talk.broken == []


def test_a_pointer_beside_a_pin_is_shown_itself_again_too() -> None:
    with memory() as store:
        talk = long(store, Dedup(min_tokens=16))
        talk.say(BIG, arguments={"q": 1})
        talk.messages += [agent(None, call("a1", "lookup", '{"q": 1}'), call("a2", "lookup", '{"q": 9}'))]
        talk.messages += [result("a1", BIG), result("a2", "a pin", ctxgc={"pin": True})]
        talk.send()
        assert "unchanged" in talk.sent[5]["content"]
        talk.until()
        (shown,) = [one for one in talk.sent if one.get("tool_call_id") == "a1"]
        assert shown["content"] == BIG
        talk.check()


def test_what_is_new_points_at_nothing_that_is_left_out() -> None:
    with memory() as store:
        talk = long(store, Dedup(min_tokens=16))
        talk.say(BIG, arguments={"q": 1})
        talk.until()
        at = talk.say(BIG, arguments={"q": 1})
        assert talk.sent[-1]["content"] == BIG
        assert talk.session.state.edits.get(talk.session.state.path(talk.head)[at].cells[0]) is None


def test_what_arrives_with_the_compaction_points_at_nothing_that_goes_with_it() -> None:
    with memory() as store:
        talk = long(store, Dedup(min_tokens=16))
        talk.say(BIG, arguments={"q": 1})
        while talk.session.state.tokens(talk.head, -1, sent=True) < QUALITY - 250:
            talk.one()
        talk.messages += [agent("both", call("x1", "lookup", '{"q": 77}'), call("x2", "lookup", '{"q": 1}'))]
        talk.messages += [result("x1", "".join(f"zz_{n} q_{n * 3}\n" for n in range(60))), result("x2", BIG)]
        talk.send()
        assert talk.compactions
        assert talk.sent[-1]["content"] == BIG
        assert talk.broken == []
        talk.check()


# Recalls


def test_what_was_recalled_in_the_tail_stays_and_what_was_in_the_span_goes() -> None:
    with memory() as store:
        talk = long(store, Dedup(min_tokens=16), recall=True, tariff=lambda _: Tariff(least=0))
        talk.say(BIG, arguments={"q": 1})
        talk.say(BIG, arguments={"q": 1})
        handle = talk.sent[-1]["content"][7:23]
        recalled(talk, handle)
        talk.one()
        assert "recalled from" in json.dumps(talk.sent)
        talk.until()
        assert "recalled from" not in json.dumps(talk.sent)
        (made,) = talk.compactions
        recalled(talk, made.handle)
        talk.one()
        assert "cells:" in json.dumps(talk.sent), "the whole record can be recalled as anything can"
        assert rules.unpaired(talk.sent) == set()
        talk.session.flush()
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []
        meter = talk.used.meter("gpt-5")
        blocks = [block for one in talk.sent for block in talk.used.codec.decode(json.dumps(one).encode()).blocks]
        assert talk.session.state.tokens(talk.head, -1, sent=True) == sum(map(meter.measure, blocks))


def recalled(talk: Long, handle: str) -> None:
    """The request is made once more, and the model recalls in its reply."""
    text = body(talk.messages, **talk.fields)
    prepared = talk.session.prepare(text)
    ask(talk.session, prepared, handle)
    settle(talk.session, again(talk.session, text))


# Figures


@pytest.mark.parametrize("offered", [False, True])
def test_the_tokens_that_the_state_has_are_those_of_what_is_sent(offered: bool) -> None:
    with memory() as store:
        talk = long(store, *preset("generational"), Dedup(min_tokens=16), recall=offered)
        meter = talk.used.meter("gpt-5")
        for number in range(60):
            talk.one() if number % 7 else talk.say(BIG, arguments={"q": 1})
            blocks = [block for one in talk.sent for block in talk.used.codec.decode(json.dumps(one).encode()).blocks]
            assert talk.session.state.tokens(talk.head, -1, sent=True) == sum(map(meter.measure, blocks))
        assert len(talk.compactions) > 1
        talk.check()


def test_what_the_journal_says_of_a_compaction_is_what_was_saved() -> None:
    with memory() as store:
        talk = long(store)
        made = talk.until()
        state = talk.session.state
        received, sent = (state.tokens(talk.head, -1, sent=sent) for sent in (False, True))
        assert received - sent == made.before - made.tokens
        assert made.trigger == "quality"
        assert made.tokens <= TERMS.record + 20
