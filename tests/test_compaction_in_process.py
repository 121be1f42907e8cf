"""Compaction without a proxy: a conversation and a wrapped client, their ledgers, and summarisers of any kind."""

from __future__ import annotations

import gc
import json
import os
import re
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ctxgc
from ctxgc import Conversation, open_ledger, open_session
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import Bypass, decode
from ctxgc.errors import LedgerError
from ctxgc.ledger import reads_back
from ctxgc.policies.budget import Budget
from ctxgc.policies.compact import Compact
from ctxgc.store import Store, open_store
from ctxgc.summarise import Ask, Said
from tests.proxy.compactions import DEMAND, FACT, found, story
from tests.session.faults import FaultyStore
from tests.session.scripts import memory, schema
from tests.test_background import HANG, joined, left

SMALL = (Compact(tail=300, record=500, opening=200, saving=400), Budget(target=2000))
"""Policies with which ``story`` has no room after ``OVER`` turns, whatever else is collected."""
ENDLESS = (Compact(tail=300, record=500, opening=200, saving=400, limit=1), Budget(target=2000))
OVER = 19
LAST = 50
REPLY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "well"}, "finish_reason": "stop"}]}
TOOLS = [schema("look")]


def finding(ask: Ask) -> Said:
    return Said(json.dumps(found(ask.messages)), "stop", "found by us", 100, 10)


def raising(ask: Ask) -> Said:
    raise RuntimeError("no model today")


class Held:
    """A summariser that answers when it is let go."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def __call__(self, ask: Ask) -> Said:
        self.asked.set()
        self.released.wait(HANG)
        return finding(ask)


@pytest.fixture
def store() -> Iterator[Store]:
    with memory() as opened:
        yield opened


@pytest.fixture(autouse=True)
def threads_end() -> Iterator[None]:
    """No test may leave a thread behind."""
    yield
    joined()
    assert not left()


def say(conversation: Conversation, first: int, last: int) -> list[Any]:
    """Go on from ``first`` to ``last`` turns; what is sent then."""
    for turns in range(first, last + 1):
        sent = conversation.prepare(story(turns), tools=TOOLS)
        conversation.settle(REPLY)
    return sent


def entries(store: Any, key: str, kind: type[Any]) -> list[Any]:
    return [one for one in (decode(each.body) for each in store.entries(bytes.fromhex(key))) if isinstance(one, kind)]


def journal(conversation: Conversation, store: Any, kind: type[Any]) -> list[Any]:
    conversation._session.flush()
    return entries(store, conversation.id, kind)


def text_of(messages: list[Any]) -> str:
    return "\n".join(str(message.get("content")) for message in messages)


def post(ledger: Any, statement: str, **more: Any) -> None:
    voucher = ledger.vault.store(ref=statement, content=statement)
    ledger.post(statement, [ledger.verify(voucher, statement)], **more)


# A conversation


def test_a_callable_has_its_part_in_the_record_and_the_ledger_gets_what_is_borne_out(store: Store) -> None:
    with open_session(store=store, policies=SMALL, ledger="main", summariser=finding) as conversation:
        say(conversation, 1, OVER)
        conversation._background.wait(HANG)
        sent = say(conversation, OVER + 1, OVER + 2)
        (made,) = journal(conversation, store, Compaction)
        assert made.by == "found by us"
        assert f"The {FACT}" in text_of(sent)
        assert DEMAND in text_of([one for one in sent if one["role"] == "user"])
        assert conversation.ledger is not None
        conversation._background.wait(HANG)
        assert [fact.statement for fact in conversation.ledger.books.current()] == [f"The {FACT}"]
        assert len(conversation.ledger.books.periods) == 1  # nobody named a milestone: the compaction closes it


def test_without_a_summariser_a_record_holds_what_code_can_tell(store: Store) -> None:
    with open_session(store=store, policies=SMALL) as conversation:
        sent = say(conversation, 1, LAST)
        made = journal(conversation, store, Compaction)
        assert len(made) > 1
        assert {one.by for one in made} == {""}
        assert not journal(conversation, store, Summary)
        assert len(sent) < len(story(LAST))


def test_the_record_and_what_it_stands_for_are_read_back(store: Store) -> None:
    with open_session(store=store, policies=SMALL) as conversation:
        say(conversation, 1, LAST)
        made = journal(conversation, store, Compaction)[-1]
        assert "cells:" in conversation.recall(made.handle)
        assert conversation.recall(made.handle, lines=(1, 1)).startswith("record of turns 1-")
        listed = re.search(r"\[([a-z2-7]{16})\] turn 4 tool_result", conversation.recall(made.handle))
        assert listed
        assert FACT in conversation.recall(listed[1])


def test_a_summariser_that_raises_fails_nothing(store: Store) -> None:
    with open_session(store=store, policies=SMALL, summariser=raising) as conversation:
        say(conversation, 1, OVER)
        conversation._background.wait(HANG)
        say(conversation, OVER + 1, LAST)
        conversation._background.wait(HANG)
        assert {one.outcome for one in journal(conversation, store, Summary)} == {"refused: no answer: RuntimeError"}
        assert {one.by for one in journal(conversation, store, Compaction)} == {""}
        assert not journal(conversation, store, Bypass)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_even_one_that_wants_to_end_the_program_does_not(store: Store, error: type[BaseException]) -> None:
    def ending(ask: Ask) -> Said:
        raise error

    with open_session(store=store, policies=SMALL, summariser=ending) as conversation:
        say(conversation, 1, OVER)
        conversation._background.wait(HANG)
        assert say(conversation, OVER + 1, LAST)
        assert journal(conversation, store, Compaction)


def test_a_call_does_not_wait_for_a_summariser_that_hangs(store: Store) -> None:
    held = Held()
    with open_session(store=store, policies=SMALL, summariser=held) as conversation:
        say(conversation, 1, OVER)
        assert held.asked.wait(HANG)
        sent = say(conversation, OVER + 1, OVER + 1)
        assert len(sent) == len(story(OVER + 1))
        say(conversation, OVER + 2, LAST)
        assert journal(conversation, store, Compaction)
        assert not held.released.is_set()
        held.released.set()


def test_closing_waits_for_an_answer_that_comes_and_books_it(store: Store) -> None:
    held = Held()
    conversation = open_session(store=store, policies=SMALL, summariser=held)
    say(conversation, 1, OVER)
    assert held.asked.wait(HANG)
    held.released.set()
    conversation.close()
    assert len(entries(store, conversation.id, Summary)) == 1


def test_closing_does_not_wait_for_ever_and_what_comes_later_is_not_booked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    conversation = open_session(store=store, policies=SMALL, summariser=held)
    say(conversation, 1, OVER)
    assert held.asked.wait(HANG)
    monkeypatch.setattr(conversation._background, "wait", lambda: None)
    conversation.close()
    before = len(list(store.entries(bytes.fromhex(conversation.id))))
    held.released.set()
    joined()
    store.flush()
    assert len(list(store.entries(bytes.fromhex(conversation.id)))) == before


def test_a_store_that_was_closed_meanwhile_harms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, url = Held(), f"sqlite:///{tmp_path / 'audit.db'}"
    conversation = open_session("one", store=url, policies=SMALL, ledger="main", summariser=held)
    say(conversation, 1, OVER)
    assert held.asked.wait(HANG)
    monkeypatch.setattr(conversation._background, "wait", lambda: None)
    conversation.close()
    held.released.set()
    joined()
    reopened = open_store(url, read_only=True)
    assert list(reopened.verify()) == []
    reopened.close()


def test_a_conversation_that_is_let_go_is_not_kept_alive_by_an_errand(store: Store) -> None:
    held = Held()
    conversation = open_session(store=store, policies=SMALL, summariser=held)
    say(conversation, 1, OVER)
    assert held.asked.wait(HANG)
    gone = weakref.ref(conversation)
    del conversation
    gc.collect()
    assert gone() is None
    held.released.set()


def test_a_conversation_goes_on_compacted_after_it_was_closed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'audit.db'}"
    with open_session("one", store=url, policies=SMALL) as conversation:
        before = say(conversation, 1, OVER + 3)
        assert len(before) < len(story(OVER + 3))
    with open_session("one", store=url, policies=SMALL) as conversation:
        assert conversation.prepare(story(OVER + 3), tools=TOOLS) == before
        assert conversation.prepare(story(OVER + 4), tools=TOOLS)[: len(before)] == before


def test_where_a_store_fails_nothing_else_does() -> None:
    with memory() as inner:
        faulty = FaultyStore(inner)
        conversation = open_session(store=faulty, policies=SMALL, summariser=finding)  # type: ignore[arg-type]
        say(conversation, 1, 3)
        faulty.error = ctxgc.CtxgcError("the disk is full")
        sent = say(conversation, 4, LAST)
        assert sent
        conversation._background.wait(HANG)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_end(store: Store) -> None:
    """Its threads are gone with the fork: what it says goes through, and it does not hang."""
    held = Held()
    with open_session(store=store, policies=SMALL, summariser=held) as conversation:
        say(conversation, 1, OVER)
        assert held.asked.wait(HANG)
        child = os.fork()
        if child == 0:
            os._exit(0 if conversation.prepare(story(OVER + 1), tools=TOOLS) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        held.released.set()


# Milestones and windows


def test_a_milestone_closes_the_period_and_lets_what_led_there_be_compacted(store: Store) -> None:
    policies = (Compact(tail=300, record=500, opening=200, saving=100),)
    with open_session(store=store, policies=policies, ledger="main") as conversation:
        say(conversation, 1, 12)
        assert conversation.ledger is not None
        post(conversation.ledger, "orders_9 has 71 rows")
        period = conversation.milestone("tables read")
        assert period is not None
        assert (period.milestone, period.balance) == ("tables read", ("F1",))
        assert [one.name for one in journal(conversation, store, Milestone)] == ["tables read"]
        say(conversation, 13, 60)
        assert {one.trigger for one in journal(conversation, store, Compaction)} <= {"milestone"}


def test_a_milestone_without_a_ledger_is_noted(store: Store) -> None:
    with open_session(store=store, policies=SMALL) as conversation:
        say(conversation, 1, 2)
        assert conversation.milestone("one") is None
        assert len(journal(conversation, store, Milestone)) == 1


def test_a_milestone_is_refused_where_a_critical_fact_has_drifted(store: Store, tmp_path: Path) -> None:
    live = tmp_path / "live.txt"
    live.write_text("one")
    with open_session(store=store, policies=SMALL, ledger="main") as conversation:
        say(conversation, 1, 2)
        ledger = conversation.ledger
        assert ledger is not None
        voucher = ledger.vault.store(ref=str(live), content="one")
        ledger.post("It is one", [ledger.verify(voucher, reads_back())], criticality="critical")
        live.write_text("two")
        with pytest.raises(LedgerError, match="F1"):
            conversation.milestone("done")
        assert not journal(conversation, store, Milestone)
        assert not ledger.books.periods


def test_a_new_window_is_advised_with_what_stands_in_the_ledger(store: Store) -> None:
    with open_session(store=store, policies=ENDLESS, ledger="main") as conversation:
        assert conversation.ledger is not None
        post(conversation.ledger, "orders_9 has 71 rows")
        say(conversation, 1, OVER + 2)
        assert conversation.new_window_advised == ""
        say(conversation, OVER + 3, LAST)
        assert "F1: orders_9 has 71 rows" in conversation.new_window_advised
        assert len(journal(conversation, store, Compaction)) == 1


def test_news_are_told_once_and_overturned_facts_too(store: Store) -> None:
    with open_session(store=store, policies=SMALL, ledger="main") as conversation:
        ledger = conversation.ledger
        assert ledger is not None
        say(conversation, 1, 2)
        post(ledger, "orders_9 has 71 rows")
        sent = say(conversation, 3, 4)
        assert text_of(sent).count("F1: orders_9 has 71 rows") == 1
        post(ledger, "orders_9 has 72 rows", supersedes="F1")
        sent = say(conversation, 5, 6)
        assert text_of(sent).count("F1 no longer holds, F2 does") == 1
        assert "F1 no longer holds" not in text_of(say(conversation, 7, 7)[-2:])


def test_an_open_ledger_is_taken_as_well_as_a_name(store: Store) -> None:
    with open_ledger(store, "team") as ledger:
        post(ledger, "orders_9 has 71 rows")
        with open_session(store=store, policies=SMALL, ledger=ledger) as conversation:
            assert conversation.ledger is ledger
            assert "orders_9 has 71 rows" in text_of(say(conversation, 1, 1))
        assert ledger.version > 0  # it is not closed with the conversation
