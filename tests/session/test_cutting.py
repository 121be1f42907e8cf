"""Where a history may be cut: whatever its shape and whatever the tail, the other validator finds nothing wrong."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.session.cutting import cut
from ctxgc.session.drafts import Span
from tests.session import rules
from tests.session.histories import Author
from tests.session.scripts import COMPACT, Dict, agent, body, call, fresh, kit, memory, result, send, system, user

RECORD = agent("[ctxgc:aaaaaaaaaaaaaaaa record of turns 1-9]")


def words(count: int = 30) -> str:
    return "some words " * count


def spans(messages: list[Dict]) -> list[Span]:
    """What may be left out of a history, for every tail that makes a difference: nodes have its messages' numbers."""
    with memory() as store:
        used = kit(store, ())
        session = fresh(used)
        send(session, body(messages))
        session.flush()
        state, head = session.state, max(session.state.heads)
        total = state.tokens(head, -1, sent=True)
        found = [
            cut(state, head, tail, read=lambda node: used.codec.decode(store.blob(node.blob)))
            for tail in range(0, total + 40, 20)
        ]
    return list({span.upto: span for span in found if span}.values())


def judged(messages: list[Dict], gone: list[int], start: int = -1) -> list[str]:
    """What the other validator says of a history without these messages and with a record at the start of the span."""
    stay = (one for at, one in enumerate(messages) if at not in gone)
    sent = [{key: value for key, value in one.items() if key != "ctxgc"} for one in stay]
    at = min(gone) if start < 0 else start
    return rules.broken(body(messages), body([*sent[:at], RECORD, *sent[at:]]), gone)


def turn(number: int, *ids: str, text: str | None = None) -> list[Dict]:
    named = ids or (f"c{number}",)
    return [agent(text, *(call(one) for one in named)), *(result(one, words()) for one in named)]


def turns(count: int, first: int = 1) -> list[Dict]:
    return [message for number in range(first, first + count) for message in turn(number)]


BEGUN = [system(), user("the task")]
SHAPES = {
    "plain": [*BEGUN, *turns(6)],
    "answered": [*BEGUN, *turns(3), agent("done"), user("and now?"), *turns(3, 10), agent("done"), user("more")],
    "parallel calls": [*BEGUN, *turn(1, "p1", "p2", "p3"), *turns(2, 2), *turn(9, "q1", "q2"), *turns(2, 20)],
    "a batch answered in part": [
        *BEGUN, *turns(2), agent(None, call("x1"), call("x2")), result("x1", words()), user("next"), *turns(3, 9),
    ],
    "a call that is never answered": [*BEGUN, agent(None, call("dead")), user("still there?"), *turns(6)],
    "a call that waits": [
        *BEGUN, agent(None, call("confirm")), user("meanwhile?"), agent("it is X"), user("go on"), *turns(4),
        agent("so"), result("confirm", "yes"), user("and?"), *turns(3, 20),
    ],
    "a late result right behind": [
        *BEGUN, *turns(2), agent(None, call("z")), user("wait"), result("z", words()), *turns(3, 9), user("so?"),
    ],
    "ids used again": [
        *BEGUN, *turn(1, "f:0"), *turn(2, "f:0"), user("2"), *turn(3, "f:0"), *turn(4, "f:0"), user("3"),
    ],
    "a result twice": [*BEGUN, *turn(1, "z"), result("z", "the real one"), *turns(4, 2)],
    "orphans": [*BEGUN, *turns(2), result("gone", words()), *turns(3, 9), result("gone2", words()), user("so?")],
    "no content": [
        *BEGUN, agent(None, call("e")), result("e", ""), agent(""), user(""), *turns(3), agent([]), user([]),
        *turns(2, 9),
    ],
    "rules in the middle": [
        *BEGUN, *turns(2), system("read-only from now on"), user("go"), *turns(2, 9), agent("ok"),
        {"role": "developer", "content": "rules v2 replace v1"}, user("on"), *turns(2, 20),
    ],
    "old functions": [
        *BEGUN, *turns(1), {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": words()}, *turns(3, 9),
    ],
    "the agent greets": [system(), agent("Hello, what shall I do?"), user("the task"), *turns(6)],
    "tools only, to the end": [user("t"), *turns(12)],
    "pins": [
        *BEGUN, *turns(2), agent(None, call("a"), call("b")), result("a", words(), ctxgc={"pin": True}), result("b"),
        *turns(4, 9),
    ],
    "a pinned result that came late": [
        *BEGUN, *turns(1), agent(None, call("a")), user("wait"), agent("yes"),
        result("a", words(), ctxgc={"pin": True}), *turns(4, 9),
    ],
    "constraints": [*BEGUN, *turns(2), agent("ok"), user("Never push to main."), *turns(2, 9), agent("ok"), user("on"),
                    *turns(3, 20)],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_no_cut_breaks_a_rule(shape: str) -> None:
    found = spans(SHAPES[shape])
    assert found, "it is never cut at all"
    for span in found:
        assert judged(SHAPES[shape], list(span.dropped), span.following) == []


@given(st.integers(0, 2**48))
@settings(max_examples=60)
def test_no_cut_breaks_a_rule_in_conversations_of_any_shape(seed: int) -> None:
    author = Author(Random(seed), COMPACT)
    author.begin()
    for _ in range(10):
        author.turn()
    for span in spans(author.messages):
        assert judged(author.messages, list(span.dropped), span.following) == []


def test_a_history_of_which_nothing_may_go_is_not_cut() -> None:
    assert spans([system(), user("the task")]) == []
    assert spans([*BEGUN, *turn(1)]) == []
    assert spans([*BEGUN, agent(None, call("a"), call("b")), result("a", words(900)), result("b", words(900))]) == []
    assert spans([agent("hello"), *turns(3)]) == []


def test_the_tail_is_never_less_than_asked_for() -> None:
    with memory() as store:
        session = fresh(kit(store, ()))
        send(session, body(SHAPES["plain"]))
        state, head = session.state, max(session.state.heads)
        for tail in (0, 100, 250):
            span = cut(state, head, tail, read=never)
            assert span is not None
            behind = [node for node in state.path(head) if node.id > span.upto]
            tokens = sum(state.cells[cell].tokens for node in behind for cell in node.cells)
            assert tokens >= tail
            assert tokens < tail + 120, "more stays than has to: turns are about 80 tokens"
            gone = sum(state.cells[cell].tokens for number in span.dropped for cell in state.node(number).cells)
            assert span.before == gone
            assert span.behind == state.tokens(head, -1, sent=True) - sum(state.sent(span.after).values())


def test_up_to_a_milestone_and_no_further() -> None:
    with memory() as store:
        session = fresh(kit(store, ()))
        send(session, body(SHAPES["plain"]))
        span = cut(session.state, max(session.state.heads), 0, 6, read=never)
        assert span is not None
        assert span.upto == 5, "node 6 is in the middle of a turn"


def test_what_the_user_said_last_stays_until_it_is_answered() -> None:
    kept = {span.upto: span.kept for span in spans(SHAPES["answered"])}
    assert kept[8] == (), "the agent has answered, and the user speaks next"
    assert kept[11] == (9,), "the agent was at work on what was asked in message 9"


def test_what_the_user_broke_off_stays() -> None:
    messages = [*BEGUN, *turns(2), agent("ok"), user("read all of it"), *turn(8), user("no, wait"), *turns(3, 20)]
    kept = {span.upto: span.kept for span in spans(messages)}
    assert kept[9] == (7,), "nobody has answered it"


def test_a_cut_waits_for_a_late_result() -> None:
    messages = SHAPES["a call that waits"]
    late = next(at for at, one in enumerate(messages) if one.get("tool_call_id") == "confirm")
    ends = [span.upto for span in spans(messages)]
    assert all(not 2 <= end < late for end in ends)
    never_answered = [one for one in messages if one.get("tool_call_id") != "confirm"]
    assert any(2 <= span.upto < late for span in spans(never_answered)), "nor does what never comes hold anything up"


def test_only_results_that_stand_apart_are_read() -> None:
    with memory() as store:
        session = fresh(kit(store, ()))
        send(session, body(SHAPES["parallel calls"]))
        assert cut(session.state, max(session.state.heads), 0, read=never) is not None


def never(node: object) -> object:
    raise AssertionError(f"{node} was read")


# Negative controls: cutters with a defect, which the other validator must see.


@pytest.mark.parametrize(
    ("shape", "gone", "fault"),
    [
        ("plain", [2], "a call and its result were parted"),
        ("plain", [2, 3, 4], "what was left out does not end with a turn"),
        ("plain", [3, 4, 5], "what was left out does not begin with a turn"),
        ("parallel calls", [2, 3], "a call and its result were parted"),
        ("a call that waits", [2, 3, 4, 5], "a call and its result were parted"),
        ("rules in the middle", [2, 3, 4, 5, 6], "a message of the system was left out"),
        ("plain", [1, 2, 3], "the first or the last message of the user was left out"),
        ("answered", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
         "the first or the last message of the user was left out"),
        ("pins", [2, 3, 4, 5, 6, 7, 8], "what the application pinned was left out"),
        ("a pinned result that came late", [4, 5, 6], "a call and its result were parted"),
    ],
)  # fmt: skip
def test_control_the_other_validator_sees_a_wrong_cut(shape: str, gone: list[int], fault: str) -> None:
    assert fault in judged(SHAPES[shape], gone)


def test_control_cutting_anywhere_breaks_rules_in_conversations_of_any_shape() -> None:
    broken = 0
    for seed in range(20):
        author = Author(Random(seed), COMPACT)
        author.begin()
        for _ in range(10):
            author.turn()
        start = next(at for at, one in enumerate(author.messages) if one["role"] == "assistant")
        broken += bool(judged(author.messages, list(range(start, len(author.messages) * 2 // 3))))
    assert broken > 10


def test_no_users_message_comes_right_behind_a_result_that_stays() -> None:
    pinned = turn(1)
    pinned[-1] = {**pinned[-1], "ctxgc": {"pin": True}}
    messages = [*BEGUN, *pinned, *turns(2, 2), agent("done"), user("and now?"), *turns(2, 10)]
    for span in spans(messages):
        shown = [one for at, one in enumerate(messages) if at not in span.dropped]
        pairs = list(pairwise(shown))
        assert not any(one["role"] in ("tool", "user") and two["role"] == "user" for one, two in pairs)


def test_control_without_what_is_between_one_would() -> None:
    messages = [*BEGUN, *turn(1), agent("done"), user("and now?")]
    shown = [*messages[:4], messages[5]]
    assert (shown[-2]["role"], shown[-1]["role"]) == ("tool", "user")
