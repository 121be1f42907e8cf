"""Compaction in a session: what stays, what is sent in place of what went, and that all of it can be read back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ctxgc.core.heap import content_digest
from ctxgc.policies import preset
from ctxgc.session.reading import TOOL_NAME
from tests.session import rules
from tests.session.compacted import TERMS, dumped, long, row
from tests.session.scripts import agent, call, memory, result, system, user, values

# What stays


def test_a_span_gives_way_to_one_record_behind_the_task() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        sent = talk.sent
        assert sent[:2] == talk.messages[:2]
        assert sent[2]["role"] == "assistant"
        assert rules.says_so(sent[2]["content"])
        assert sent[3:] == talk.messages[-len(sent[3:]) :]
        assert talk.broken == []
        assert talk.reasons() == []
        talk.check()


def test_pins_rules_and_the_users_first_and_last_words_stay_to_the_byte() -> None:
    with memory() as store:
        opening = [system("be brief"), {"role": "developer", "content": "v1"}, user("the task")]
        talk = long(store, opening=opening)
        talk.rows(2)
        talk.answer("ok", "Never push to main, and always use port 5433.")
        talk.messages += [agent(None, call("p1"), call("p2"))]
        talk.messages += [result("p1", row(900), ctxgc={"pin": True}), result("p2", "beside it")]
        talk.one()
        talk.messages += [agent("noted"), system("read-only from now on"), user("thanks, go on with part two")]
        talk.until()
        assert talk.broken == []
        assert not set(talk.gone) & {
            at for at, one in enumerate(talk.messages) if one["role"] in ("system", "developer")
        }
        kept = dumped(talk.sent)
        for words in (
            "be brief",
            "v1",
            "the task",
            "Never push to main",
            "row_900",
            "beside it",
            "read-only",
            "part two",
        ):
            assert any(words in one for one in kept), words
        talk.check()


def test_only_what_the_user_has_answered_may_go() -> None:
    with memory() as store:
        talk = long(store)
        talk.rows(3)
        talk.answer("all rows read", "now the second part")
        talk.rows(3)
        talk.answer("done with it", "now the third part")
        talk.until()
        assert "- closed" in talk.record
        assert "second part" in talk.record
        assert any(one == user("now the third part") for one in talk.sent), "it is still being answered"
        assert talk.broken == []


@pytest.mark.parametrize("offered", [False, True])
def test_a_record_is_a_recall_where_the_agent_speaks_next_and_its_words_elsewhere(offered: bool) -> None:
    with memory() as store:
        talk = long(store, recall=offered)
        talk.until()
        role = "tool" if offered else "assistant"
        at = next(at for at, one in enumerate(talk.sent) if rules.says_so(one.get("content")))
        assert talk.sent[at]["role"] == role
        if offered:
            (asked,) = talk.sent[at - 1]["tool_calls"]
            assert asked["function"]["name"] == TOOL_NAME
            assert asked["id"] == talk.sent[at]["tool_call_id"]
            handle = json.loads(asked["function"]["arguments"])["handle"]
            assert talk.session.recall(handle).startswith("record of turns")
        assert talk.sent[at + 1]["role"] == "assistant"


def test_where_the_user_speaks_next_a_record_is_never_a_result() -> None:
    with memory() as store:
        talk = long(store, recall=True, terms=replace(TERMS, tail=0))
        for number in range(40):
            talk.one()
            talk.answer(f"that was {number}", f"and now {number}")
            if talk.compactions:
                break
        at = next(at for at, one in enumerate(talk.sent) if rules.says_so(one.get("content")))
        assert (talk.sent[at]["role"], talk.sent[at + 1]["role"]) == ("assistant", "user")
        assert talk.broken == []


def test_reasoning_models_see_reasoning_with_the_record_too() -> None:
    with memory() as store:
        talk = long(store)
        for number in range(60):
            talk.messages += [agent("so", call(f"r{number}"), reasoning_content="I think")]
            talk.messages += [result(f"r{number}", row(number))]
            talk.send()
        at = next(at for at, one in enumerate(talk.sent) if rules.says_so(one.get("content")))
        assert talk.sent[at]["reasoning_content"] == " "
        assert talk.broken == []


# Between compactions, after them, and beside them


def test_between_compactions_what_was_sent_is_sent_again_byte_for_byte() -> None:
    with memory() as store:
        talk = long(store)
        talk.until(3)
        made = {entry.call for entry in talk.compactions}
        calls = [prepared.call for prepared in talk.prepared]
        changed = 0
        for before, after, call_id in zip(talk.prepared, talk.prepared[1:], calls[1:], strict=False):
            old, new = (dumped(values(one.body)) for one in (before, after))
            changed += new[: len(old)] != old
            assert new[: len(old)] == old or call_id in made
        assert changed == 3


def test_a_restart_at_any_request_changes_no_byte() -> None:
    with memory() as one, memory() as other:
        live, again = (long(store, *preset("generational")) for store in (one, other))
        for _ in range(50):
            live.one()
            again.restart()
            again.one()
            assert again.prepared[-1].body == live.prepared[-1].body
        assert len(live.compactions) > 1


def test_a_retry_is_sent_as_it_was() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        first = talk.prepared[-1].body
        talk.send()
        assert talk.prepared[-1].body == first
        talk.restart()
        talk.send()
        assert talk.prepared[-1].body == first
        talk.check()


def test_a_branch_behind_the_span_has_the_record_and_one_inside_it_has_everything() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        end, whole, record = talk.gone[-1] + 1, list(talk.messages), talk.record
        talk.branch(end + 2, agent("done"), user("do it otherwise"))
        assert talk.record == record
        assert talk.broken == []
        talk.branch(end - 4, agent("done"), user("do it otherwise"))
        assert talk.gone == []
        assert talk.sent == talk.messages
        assert talk.broken == []
        talk.messages = whole
        talk.one()
        assert talk.record == record, "and the first one is what it was"
        assert talk.broken == []
        assert talk.reasons() == []
        talk.check()


def test_a_branch_that_leaves_right_behind_the_span_is_compacted_and_valid() -> None:
    with memory() as store:
        talk = long(store, terms=replace(TERMS, tail=1000))
        talk.rows(4)
        talk.answer("done", "part two, which is asked within the span")
        while not talk.compactions:
            if talk.turn == 20:
                talk.answer("done", "part three, which is not")
            talk.one()
        end = talk.gone[-1] + 1
        talk.branch(end, agent("otherwise", call("x")), result("x", "other"))
        assert talk.broken == []
        assert talk.reasons() == [], "it did not have to go as it came"
        assert "part two" in json.dumps(talk.sent)
        talk.check()


def test_a_second_compaction_is_made_from_the_originals_of_both_spans() -> None:
    with memory() as store:
        talk = long(store)
        first = talk.until(1)
        gone, old = set(talk.gone), talk.record
        second = talk.until(2)
        assert gone <= set(talk.gone), "nothing of the first span comes back"
        whole = talk.session.recall(second.handle)
        cells = [cell for at in talk.gone for cell in talk.session.state.path(talk.head)[at].cells]
        assert all(f"- c{cell} [" in whole for cell in cells), "and nothing falls between two passes"
        assert not [text for text in (whole, talk.record) if old in text or first.handle in text]
        assert [one for one in talk.sent if rules.says_so(one.get("content"))] == [talk.sent[2]]
        assert talk.session.recall(first.handle), "the first record can still be read"
        talk.check()


def test_messages_that_stayed_for_once_go_with_the_next_span() -> None:
    """What was not answered when the first span ended, but is by now, is in the second record."""
    with memory() as store:
        talk = long(store)
        talk.rows(2)
        talk.answer("done", "part two")
        first = talk.until(1)
        assert first.kept == (7,)
        talk.answer("done with part two", "part three")
        second = talk.until(2)
        assert 7 not in second.kept
        assert "part two" in talk.session.recall(second.handle)
        assert talk.broken == []


def test_every_handle_reads_back_exactly() -> None:
    with memory() as store:
        talk = long(store)
        talk.messages += [agent(None, call("e1"), call("e2")), result("e1", ""), result("e2", "\ud800 lone")]
        talk.messages += [
            agent("seen"),
            user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}]),
        ]
        talk.until(2)
        state = talk.session.state
        for entry in talk.compactions:
            assert len(entry.handles) > 10 or entry is not talk.compactions[0]
            for handle, cell in entry.handles.items():
                assert content_digest(talk.session.recall(handle)) == state.cells[cell].content
        gone = {cell for at in talk.gone for cell in state.path(talk.head)[at].cells}
        known = {state.cells[cell].content for cell in state.by_handle.values()}
        assert {state.cells[cell].content for cell in gone} <= known, "nothing is gone that no handle leads to"
        talk.check()
