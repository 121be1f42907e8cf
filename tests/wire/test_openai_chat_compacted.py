"""A compacted chat-completions history: what stands for a span, news, and the last look at what is sent without one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.wire import openai_chat_history, openai_chat_rules
from ctxgc.wire.openai_chat_compacted import ALTERED, SYSTEM_LEFT_OUT, news, problems, record
from ctxgc.wire.openai_chat_rules import NO_USER, SYSTEM_ADDED, USER_TOUCHED, valid
from tests.session.scripts import Dict, agent, call, result, system, user
from tests.strategies import texts

HANDLE = "abcdefgh23456777"
TEXT = "[ctxgc:abcdefgh23456777 record of turns 1-9]\n- one"
TOOL = "ctxgc_recall"


def raw(messages: list[Any]) -> list[bytes]:
    return [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]


def read(messages: tuple[bytes, ...]) -> list[Dict]:
    return [json.loads(one) for one in messages]


CAME = [
    system(), user("the task"), agent(None, call("c1")), result("c1", "one"), agent("said"), user("next"),
    agent(None, call("c2"), call("c3")), result("c2", "two"), result("c3", "three"), agent("done"), user("last"),
]  # fmt: skip


SAID = record(TEXT, HANDLE, "", reasoning=False)


def without(*gone: int, at: int = 2, with_: tuple[bytes, ...] = SAID) -> list[bytes]:
    """The history with a record at a place, and without some of its messages."""
    left = [one for number, one in enumerate(raw(CAME)) if number not in gone]
    return [*left[:at], *with_, *left[at:]]


def judged(after: list[bytes], *ours: bytes) -> set[str]:
    return set(problems(raw(CAME), after, ours or SAID))


# What stands for a span


def test_without_a_tool_it_is_what_the_agent_says() -> None:
    assert read(record(TEXT, HANDLE, "", reasoning=False)) == [{"role": "assistant", "content": TEXT}]


def test_with_a_tool_it_is_a_recall_and_its_answer() -> None:
    asked, answer = read(record(TEXT, HANDLE, TOOL, reasoning=False))
    (one,) = asked["tool_calls"]
    assert asked["role"] == "assistant"
    assert one["function"] == {"name": TOOL, "arguments": json.dumps({"handle": HANDLE}, separators=(",", ":"))}
    assert answer == {"role": "tool", "tool_call_id": one["id"], "content": TEXT}
    assert len(one["id"]) == 9, "Mistral takes no other ids"
    assert one["id"].isalnum()


@pytest.mark.parametrize("tool", ["", TOOL])
def test_where_agents_carry_reasoning_it_does_too(tool: str) -> None:
    assert read(record(TEXT, HANDLE, tool, reasoning=True))[0]["reasoning_content"] == " "
    assert "reasoning_content" not in read(record(TEXT, HANDLE, tool, reasoning=False))[0]


@given(texts(60), st.booleans(), st.booleans())
def test_it_is_never_the_users_or_the_systems_and_keeps_every_rule(text: str, tool: bool, reasoning: bool) -> None:
    made = record(text or "x", HANDLE, TOOL if tool else "", reasoning=reasoning)
    assert {one["role"] for one in read(made)} <= {"assistant", "tool"}
    assert read(made)[-1]["content"] == (text or "x")
    assert valid([*raw([user()]), *made, *raw([agent("so"), user()])]) == ()


def test_news_are_told_by_the_user_only_where_there_is_no_tool() -> None:
    assert read(news(TEXT, HANDLE, "", reasoning=False)) == [{"role": "user", "content": TEXT}]
    assert [one["role"] for one in read(news(TEXT, HANDLE, TOOL, reasoning=False))] == ["assistant", "tool"]


# The last look


@pytest.mark.parametrize("tool", ["", TOOL])
def test_whole_turns_may_be_left_out(tool: str) -> None:
    made = record(TEXT, HANDLE, tool, reasoning=False)
    assert judged(without(*range(2, 10), with_=made), *made) == set()
    assert judged(without(2, 3, 4, 5, with_=made), *made) == set()


def test_results_may_have_other_texts_and_reasoning_may_be_blank() -> None:
    came = [*CAME[:2], agent("so", reasoning_content="long"), user("go"), *CAME[6:]]
    after = raw([*CAME[:2], agent("so", reasoning_content=" "), user("go"), *CAME[6:]])
    after[5] = raw([result("c2", "[ctxgc:x]")])[0]
    assert problems(raw(came), after, ()) == ()


def test_the_applications_own_field_may_be_gone() -> None:
    came = [system(), user("t"), result("x", "one", ctxgc={"tag": "notes"}), {**user("go"), "ctxgc": {"tag": "n"}}]
    after = [system(), user("t"), result("x", "one"), user("go")]
    assert problems(raw(came), raw(after), ()) == ()


@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (without(0, *range(2, 10), at=1), SYSTEM_LEFT_OUT),
        (without(1, *range(2, 10), at=1), USER_TOUCHED),
        (without(*range(2, 11)), USER_TOUCHED),
        (without(2), openai_chat_history.ORPHAN),
        (without(3), openai_chat_history.UNANSWERED),
        (without(2, 3, 4, 5, 6), openai_chat_history.ORPHAN),
        (without(2, 3, 8), openai_chat_history.UNANSWERED),
        ([*without(*range(2, 10)), *raw([system("added")])], SYSTEM_ADDED),
        ([*without(*range(2, 10)), *raw([agent("added")])], ALTERED),
        ([*without(2, 3)[:3], *without(2, 3)[:2:-1]], ALTERED),
        (raw([system()]), NO_USER),
    ],
)
def test_each_rule_catches_what_breaks_it(after: list[bytes], fault: str) -> None:
    assert fault in judged(after)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (4, agent("said otherwise")),
        (4, {**agent("said"), "name": "x"}),
        (6, agent(None, call("c2", "other"), call("c3"))),
        (6, agent("so", call("c2"), call("c3"))),
        (7, {**result("c2", "two"), "name": "x"}),
        (5, user("next, and more")),
        (0, system("be long")),
    ],
)
def test_what_was_said_and_called_stays_as_it_came(at: int, message: Dict) -> None:
    after = raw([*CAME[:at], message, *CAME[at + 1 :]])
    assert problems(raw(CAME), after, ())
    assert problems(raw(CAME), raw(CAME), ()) == ()


def test_a_fault_that_was_there_is_no_excuse_for_another() -> None:
    came = [system(), user("t"), result("gone", "an orphan"), *CAME[2:]]
    broken = raw([*came[:3], *came[4:]])
    assert openai_chat_history.ORPHAN in problems(raw(came), broken, ())
    assert problems(raw(came), raw(came), ()) == ()


def test_a_history_that_was_broken_before_may_go_on_as_it_is() -> None:
    came = [
        user("t"),
        agent(None, call("dead")),
        user("still there?"),
        agent("yes"),
        user("go"),
        agent("ok"),
        user("on"),
    ]
    made = record(TEXT, HANDLE, "", reasoning=False)
    after = [*raw(came[:1]), *made, *raw(came[3:])]
    assert problems(raw(came), after, made) == ()


@pytest.mark.parametrize("odd", [b"{", b"[]", b'{"role":"user","role":"user","content":"x"}', b'{"content":"x"}'])
def test_what_cannot_be_read_has_to_stay_as_it_is(odd: bytes) -> None:
    came = [*raw(CAME[:6]), odd, *raw(CAME[6:])]
    assert problems(came, [*raw(CAME[:2]), *SAID, odd, *raw(CAME[9:])], SAID) == ()
    assert ALTERED in problems(came, [*raw(CAME[:2]), *SAID, odd + b" ", *raw(CAME[9:])], SAID)


def test_control_a_validator_that_looks_at_roles_alone_would_miss_what_was_said() -> None:
    """The first form of the rule compared role and calls: words that were put into the agent's mouth passed it."""
    old, new = (openai_chat_history.read(raw([agent(text)])[0]) for text in ("said", "said otherwise"))
    assert (old.role, old.calls, old.answer) == (new.role, new.calls, new.answer)
    assert not openai_chat_rules.same_bytes(old.raw, new.raw)
