"""The judge sees what is hidden, charged, broken and lost: each is done to it on purpose."""

import pytest

from ctxgc.errors import UnknownHandle
from ctxgc.lab.judge import Judge, Judged, Survival

from .build import agent, body, call, result, system, user
from .recordings import FILLER, HISTORY, LONG, SECRET, case

STUB = "[ctxgc:abcdefghijklmnop lines 2-800 of 803 not shown]"
CUT = result("1", f"first\n{STUB}\nlast")
TIMES = (None, None, 1000.0, None, 1020.0, None, 1040.0, None, 1060.0)


def judge(sent, recall=lambda handle: LONG, **more) -> Judged:
    """Judge a session: ``sent`` says what is sent for the messages that were received."""
    made = case(times=more.pop("times", TIMES), **more)
    by_turn = {}
    for need in made.needs:
        by_turn.setdefault(need.turn, []).append(need)
    judge = Judge(made.segment, by_turn, made.fit, made.counts)
    for number, turn in enumerate(made.segment.turns):
        came = HISTORY[: turn.received]
        judge.take(number, body(came), body(sent(came)))
    return judge.end(recall)


def cut(came: list[dict]) -> list[dict]:
    """A long result is cut when it first comes."""
    return [CUT if message == HISTORY[3] else message for message in came]


def cut_later(came: list[dict]) -> list[dict]:
    """... or when it has been sent twice."""
    return cut(came) if len(came) > 6 else came


def test_what_is_sent_as_it_came_shows_everything():
    found = judge(lambda came: came)
    assert found.survival == Survival(needed=1, visible=1, named=1)
    assert (found.turns, found.rewrites, found.invalid) == (4, 0, ())
    assert found.read > found.written > 0


def test_a_hidden_line_is_seen_to_be_missing():
    found = judge(cut)
    assert found.survival == Survival(needed=1, visible=0, named=0, recallable=1)
    assert found.survival.survived == 0
    assert set(found.by_tag) == {"tool_result:search"}
    assert set(found.by_use) == {"arguments"}


def test_a_line_kept_in_a_cut_result_is_visible():
    kept = result("1", f"first\n{STUB}\n{SECRET}\n{STUB}\nlast")
    assert judge(lambda came: [kept if m == HISTORY[3] else m for m in came]).survival.visible == 1


def test_a_term_that_is_left_without_its_line_is_named():
    kept = result("1", f"first\n{STUB}\nsee settings/server_port.toml")
    found = judge(lambda came: [kept if m == HISTORY[3] else m for m in came]).survival
    assert (found.visible, found.named) == (0, 1)


def gone(handle: str) -> str:
    raise UnknownHandle(handle)


@pytest.mark.parametrize("recall", [gone, lambda handle: FILLER, lambda handle: ""])
def test_a_handle_that_gives_something_else_does_not_make_a_line_recallable(recall):
    assert judge(cut, recall).survival.recallable == 0


def test_a_request_without_a_handle_has_nothing_to_recall():
    bare = result("1", "first\nlast")
    asked = []
    found = judge(lambda came: [bare if m == HISTORY[3] else m for m in came], asked.append)
    assert (found.survival.recallable, asked) == (0, [])


def test_a_change_before_the_first_sending_costs_nothing():
    never, found = judge(lambda came: came), judge(cut)
    assert found.rewrites == found.rewritten == 0
    assert found.written < never.written
    assert found.read < never.read


def test_a_rewritten_prefix_is_charged():
    found, early = judge(cut_later), judge(cut)
    assert (found.rewrites, early.rewrites) == (1, 0)
    assert found.rewritten > 0
    assert found.written > early.written


def test_a_cold_gap_is_charged():
    slow = (*TIMES[:4], 1330.0, None, 1350.0, None, 1370.0)
    within = (*TIMES[:4], 1290.0, None, 1310.0, None, 1330.0)
    warm, cold = judge(lambda came: came, times=within), judge(lambda came: came, times=slow)
    assert warm == judge(lambda came: came)
    assert cold.written > warm.written
    assert cold.tokens == warm.tokens


@pytest.mark.parametrize(
    "spoil",
    [
        lambda came: [m for m in came if m.get("tool_call_id") != "1"],
        lambda came: [{**m, "content": ""} if m["role"] == "tool" else m for m in came],
        lambda came: [{**m, "content": "changed"} if m == HISTORY[5] else m for m in came],
        lambda came: [system("other"), *came[1:]],
        lambda came: [*came, user("more")],
        lambda came: came[:1],
    ],
    ids=["half a transaction", "empty text", "user text", "system prompt", "added", "no user"],
)
def test_an_invalid_request_is_counted(spoil):
    assert judge(spoil).invalid


def test_a_request_is_invalid_once_for_what_was_wrong_with_it_already():
    """A turn that only adds to what was sent is judged by what it adds."""
    spoilt = judge(lambda came: [{**m, "content": ""} if m == HISTORY[3] else m for m in came])
    assert len(spoilt.invalid) == 1


def test_what_came_invalid_is_not_held_against_what_is_sent():
    broken = [user("go"), call("read", "1"), agent("no answer"), user("x"), call("read", "2"), result("2", LONG)]
    made = case(broken)
    judge = Judge(made.segment, {}, made.fit, made.counts)
    for number, turn in enumerate(made.segment.turns):
        came = broken[: turn.received]
        judge.take(number, body(came), body([{**m, "content": "cut"} if m["role"] == "tool" else m for m in came]))
    assert judge.end(lambda _: "").invalid == ()


def test_a_body_that_is_no_request_is_invalid_and_shows_nothing():
    made = case()
    judge = Judge(made.segment, {0: made.needs}, made.fit, made.counts)
    judge.take(0, body(HISTORY[:2]), b"{}")
    found = judge.end(lambda _: "")
    assert found.invalid
    assert found.survival.visible == 0
