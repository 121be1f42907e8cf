"""What a model says of a span, asked beside the conversation: never waited for, and what it says badly is left."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ctxgc.core.block import Kind
from ctxgc.core.compaction import Summary
from ctxgc.session.errands import NO_KEY, Access, Closing, Writing, undone
from ctxgc.session.kit import Summariser
from ctxgc.summarise import Said
from tests.session.asked import BAD, Answer, Scripted, asked, cell_of, fails, says
from tests.session.compacted import QUALITY, TERMS, books, long, post
from tests.session.scripts import memory


def test_it_is_asked_about_the_span_beside_the_conversation() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        assert model.asked == [], "nothing is asked on a request's way"
        kinds = {one.kind for one in writing.job.originals}
        assert {Kind.TEXT, Kind.TOOL_RESULT} <= kinds
        assert all(row not in json.dumps(talk.messages[:2]) for row in (one.text for one in writing.job.originals))
        assert not talk.session.idle
        talk.session.ran(writing.run())
        talk.session.admit()
        assert model.asked


def test_no_answer_is_waited_for_and_what_was_sent_is_sent_until_it_is_urgent() -> None:
    with memory() as store:
        talk, model, _ = asked(store)
        sent = talk.sent
        for _ in range(200):
            talk.one()
            if talk.compactions:
                break
            assert talk.sent[: len(sent)] == sent
        assert talk.session.state.tokens(talk.head, -1, sent=False) > 1.25 * QUALITY
        assert talk.session.state.tokens(talk.head, -1, sent=False) < 1.25 * QUALITY + 300
        assert model.asked == []
        assert talk.compactions[0].by == ""
        assert talk.broken == []


def test_one_question_at_a_time() -> None:
    with memory() as store:
        talk, _, _ = asked(store)
        talk.rows(4)
        assert talk.compactions == []
        assert talk.session.errands() == []


def test_what_it_says_is_in_the_record_of_the_next_request() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        cell = cell_of(writing, "row_3 ").cell
        model.answer = says(
            decisions_made=[("the shelves are read in order", cell, "")], open_items=[("read shelf 99", cell, "")]
        )
        ran = writing.run()
        assert [one.outcome for one in ran.summaries] == ["taken"]
        talk.session.ran(ran)
        talk.one()
        (made,) = talk.compactions
        assert made.by == "small"
        assert "- claim [" in talk.record
        assert "the shelves are read in order" in talk.record
        assert "read shelf 99" in talk.record
        assert "read shelf 99" in talk.session.recall(made.handle)
        assert talk.broken == []
        talk.check()


@pytest.mark.parametrize("way", [*BAD, "it raises"])
def test_whatever_it_answers_badly_leaves_the_record_that_code_makes(way: str) -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        model.answer = BAD.get(way, fails)
        ran = writing.run()
        assert len(model.asked) == 2, "it is asked once more, and then no more"
        assert [one.outcome.partition(":")[0] for one in ran.summaries] == ["refused"]
        talk.session.ran(ran)
        talk.one()
        (made,) = talk.compactions
        assert made.by == ""
        assert "claim [" not in talk.record
        assert "calls, none failed" in talk.record
        for words in ("Error", "apolog", "events", "So far"):
            assert words not in talk.record
        assert talk.broken == []
        assert talk.reasons() == []


def test_control_a_bad_answer_that_was_taken_would_be_seen() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        model.answer = says(decisions_made=[("Error: rate limit exceeded", cell_of(writing, "row_3 ").cell, "")])
        talk.session.ran(writing.run())
        talk.one()
        assert "claim [" in talk.record
        assert "Error" in talk.record


# Over several spans


def test_the_second_time_only_what_is_new_is_asked_about_and_nothing_said_is_lost() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        cell = cell_of(writing, "row_3 ").cell
        model.answer = says(decisions_made=[("shelves in order", cell, "")], open_items=[("read shelf 99", cell, "")])
        talk.session.ran(writing.run())
        talk.one()
        assert len(talk.compactions) == 1
        while not (errands := [one for one in talk.session.errands() if isinstance(one, Writing)]):
            talk.one()
        (second,) = errands
        first = {one.cell for one in writing.job.originals}
        assert not first & {one.cell for one in second.job.originals}
        assert [text for _, text in second.job.still_open] == ["read shelf 99"]
        number = second.job.still_open[0][0]
        model.answer = lambda _: Said(json.dumps({"facts": [], "resolved": [number]}), "stop", "small")
        talk.session.ran(second.run())
        talk.until(2)
        assert "shelves in order" in talk.record, "from what was said then, not from the record"
        assert "read shelf 99" not in talk.record
        talk.check()


def test_what_was_said_is_known_after_a_restart() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        model.answer = says(decisions_made=[("shelves in order", cell_of(writing, "row_3 ").cell, "")])
        talk.session.ran(writing.run())
        talk.restart()
        talk.one()
        assert "shelves in order" in talk.record
        assert [one for one in talk.entries() if isinstance(one, Summary)]


def spans_asked(store: Any, answers: Callable[[int, Writing], Answer], spans: int) -> list[int]:
    """For which of so many spans a model is asked, if it answers like this."""
    model, clock = Scripted(), itertools.count(1)
    summariser = Summariser(model, "small", 32_000)
    talk = long(store, summariser=summariser, terms=replace(TERMS, limit=20), clock=lambda: float(next(clock)))
    found: list[int] = []
    for made in range(1, spans + 1):
        while len(talk.compactions) < made:
            talk.one()
            for errand in talk.session.errands():
                assert isinstance(errand, Writing)
                found.append(made)
                model.answer = answers(made, errand)
                talk.session.ran(errand.run())
    return found


def test_after_three_refusals_it_is_left_alone_for_three_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.session.questions.SHARE", 1000)
    with memory() as store:
        assert spans_asked(store, lambda _made, _writing: BAD["nothing"], 7) == [1, 2, 3, 7]


def test_it_is_tried_again_even_if_it_once_said_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.session.questions.SHARE", 1000)

    def answers(made: int, writing: Writing) -> Answer:
        item = ("shelves in order", writing.job.originals[0].cell, "")
        return says(decisions_made=[item]) if made == 1 else BAD["nothing"]

    with memory() as store:
        assert spans_asked(store, answers, 8) == [1, 2, 3, 4, 8]


def test_a_short_span_is_not_worth_asking_about() -> None:
    with memory() as store:
        model = Scripted()
        talk = long(store, summariser=Summariser(model, "small", 32_000), quality=800)
        talk.until()
        assert talk.session.errands() == []


def test_a_small_window_gets_the_span_in_pieces() -> None:
    with memory() as store:
        writing = asked(store)[2]
        ran = replace(writing, job=replace(writing.job, window=1_600)).run()
        assert len(ran.summaries) > 1
        assert [one.upto for one in ran.summaries] == sorted(one.upto for one in ran.summaries)
        assert ran.summaries[-1].upto == writing.job.upto


def test_the_sessions_own_model_is_asked_where_the_session_is() -> None:
    with memory() as store:
        model = Scripted()
        talk = long(store, summariser=Summariser(model))
        while not (errands := talk.session.errands()):
            talk.one()
        errands[0].run(Access("http://localhost:1/v1", "key"))
        assert model.asked[0].model == "openai/gpt-5"
        assert (model.asked[0].api_base, model.asked[0].api_key) == ("http://localhost:1/v1", "key")
        assert "key" not in repr(model.asked[0])
        assert "'key'" not in repr(Access("", "key"))


def test_who_brings_no_key_is_not_served_with_that_of_the_environment() -> None:
    with memory() as store:
        _, model, writing = asked(store)
        own = replace(writing, own=True)
        own.run(Access("http://localhost:1/v1"))
        assert model.asked[-1].api_key == NO_KEY
        own.run()
        assert model.asked[-1].api_key == "", "in process the environment is the application's own"


def test_an_errand_that_is_lost_holds_nothing_up() -> None:
    with memory() as store:
        talk, _, writing = asked(store)
        talk.session.ran(undone(writing, "the thread is gone"))
        talk.one()
        talk.one()
        assert talk.compactions


# Closing


def test_a_compaction_closes_the_period_once_if_anything_was_booked_in_it() -> None:
    with memory() as store:
        ledger = books(store)
        talk = long(store, ledger=lambda _key: ledger)
        post(ledger, "the port is 5433")
        talk.until()
        closings = talk.session.errands()
        assert [type(one) for one in closings] == [Closing]
        for one in closings:
            talk.session.ran(one.run())
        assert len(ledger.books.periods) == 1
        talk.rows(2)
        assert talk.session.errands() == []
        talk.until(2)
        for one in talk.session.errands():
            talk.session.ran(one.run())
        assert len(ledger.books.periods) == 1, "nothing was booked since"
