"""When nothing is compacted: what refuses or fails, models that cannot take it, and histories that had it too often."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxgc.core.journal import Bypass
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.session import Prepared
from ctxgc.session.originals import disagreements
from ctxgc.wire.openai_chat import OpenAIChat
from tests.session.compacted import QUALITY, TERMS, long, row
from tests.session.growing import FREE
from tests.session.scripts import agent, body, call, memory, restored, result, send, system, user


def test_a_refused_request_gives_everything_back_for_good() -> None:
    with memory() as store:
        talk = long(store)
        made = talk.until()
        talk.session.go_plain(talk.prepared[-1].call, "refused with 400")
        talk.send()
        assert talk.prepared[-1].body == body(talk.messages, **talk.fields)
        assert talk.gone == []
        talk.rows(30)
        assert len(talk.compactions) == 1
        assert talk.sent == talk.messages
        assert talk.session.recall(made.handle), "what it stood for can still be read"
        talk.restart()
        talk.one()
        assert talk.sent == talk.messages
        talk.session.flush()
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []


def test_after_so_many_compactions_a_new_window_is_advised() -> None:
    with memory() as store:
        talk = long(store, terms=replace(TERMS, limit=2))
        talk.until(2)
        assert not any(prepared.new_window_advised for prepared in talk.prepared)
        for _ in range(40):
            talk.one()
        assert len(talk.compactions) == 2
        assert talk.prepared[-1].new_window_advised == talk.record, "without a ledger, with the record that stands"
        talk.restart()
        talk.one()
        assert talk.prepared[-1].new_window_advised
        assert len(talk.compactions) == 2
        talk.branch(3, user("from the beginning"))
        assert talk.prepared[-1].new_window_advised == ""


def test_a_model_that_binds_its_thinking_is_never_compacted() -> None:
    with memory() as store:
        talk = long(store, tariff=lambda _: replace(FREE, binds_thinking=True))
        talk.rows(50)
        assert talk.compactions == []
        assert talk.sent == talk.messages


def test_signed_thinking_that_stays_has_no_record_put_before_it() -> None:
    with memory() as store:
        talk = long(store)
        for number in range(60):
            signed = {"reasoning_content": "hm", "reasoning_details": [{"type": "text", "text": "hm"}]}
            talk.messages += [agent("so", call(f"r{number}"), **signed), result(f"r{number}", row(number))]
            talk.send()
        assert talk.compactions == []
        assert talk.broken == []


@pytest.mark.parametrize("tariff", [FREE, Tariff(least=0), Tariff(least=0, window=3500), Tariff()])
def test_with_a_cache_and_without(tariff: Tariff) -> None:
    with memory() as store:
        talk = long(store, tariff=lambda _: tariff)
        for _ in range(45):
            talk.one()
            assert talk.broken == []
        assert talk.compactions
        assert talk.session.state.tokens(talk.head, -1, sent=True) < QUALITY * 1.3
        talk.check()


def test_a_window_triggers_too() -> None:
    with memory() as store:
        talk = long(store, quality=0, tariff=lambda _: replace(FREE, window=3_000))
        assert talk.until().trigger == "window"


def test_without_terms_nothing_is_compacted() -> None:
    with memory() as store:
        talk = long(store, terms=None)
        talk.rows(45)
        assert talk.compactions == []


def test_what_cannot_get_small_enough_is_not_compacted_again_and_again() -> None:
    """A task that alone is larger than the budget: every request is over it."""
    with memory() as store:
        talk = long(store, opening=[system(), user("the task is long. " * 700)])
        talk.rows(40)
        made = talk.compactions
        assert len(made) < 8
        assert all(entry.before - entry.tokens > 200 for entry in made)
        assert talk.broken == []


def test_a_compaction_that_fails_sends_what_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is raised while one is made: the request goes as before, and the journal says why."""

    def fail(*_: object, **__: object) -> None:
        raise LookupError("on purpose")

    with memory() as store:
        talk = long(store)
        monkeypatch.setattr("ctxgc.session.compacting.deterministic", fail)
        talk.rows(40)
        assert talk.compactions == []
        assert talk.sent == talk.messages
        assert any("LookupError" in reason for reason in talk.reasons())
        assert all(isinstance(one, Prepared) and not one.bypass for one in talk.prepared)


def test_a_compaction_that_the_last_check_refuses_sends_what_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenAIChat, "left_out", staticmethod(lambda *_: ("on purpose",)))
    with memory() as store:
        talk = long(store)
        talk.rows(40)
        assert talk.compactions == []
        assert talk.sent == talk.messages
        assert set(talk.reasons()) == {"validator: on purpose"}
        talk.session.flush()
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []


def test_two_processes_that_go_on_from_one_journal_send_the_same() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        talk.session.flush()
        one, other = (restored(talk.used) for _ in range(2))
        text = body([*talk.messages, agent("done"), user("more")], **talk.fields)
        assert one.prepare(text).body == other.prepare(text).body


def test_a_pacer_without_need_never_compacts() -> None:
    with memory() as store:
        talk = long(store, pacer=Pacer())
        talk.rows(45)
        assert talk.compactions == []
        assert not [one for one in talk.entries() if isinstance(one, Bypass)]


def test_a_helper_call_of_the_same_session_is_no_part_of_it() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        record = talk.record
        helper = body([system("name this conversation"), user("it is about rows")], **talk.fields)
        assert send(talk.session, helper).body == helper
        talk.one()
        assert talk.record == record
