"""The judge of requests of which a span was left out: what still shows, what is charged, and what is not valid."""

from __future__ import annotations

import json

import pytest

from ctxgc.errors import UnknownHandle
from ctxgc.lab.comparison import run
from ctxgc.lab.judge import Judge, Judged, Survival
from ctxgc.lab.replay import replay
from ctxgc.lab.visible import instead, listed
from ctxgc.policies.budget import Budget
from ctxgc.policies.compact import Compact

from .build import agent, body, call, result, system, user
from .compacted import compacting, known, row, thought
from .recordings import HISTORY, LONG, SECRET, at_price, case, raw, transcript

FRAME = "[ctxgc:abcdefghijklmnop record of turns 1-1, 3 cells: data]"
WHOLE = "record of turns 1-1, 3 cells\ncells:\n- c3 [bcdefghijklmnopq] turn 1 tool_result, 9 characters: search"
TERM = "settings/server_port.toml"
TIMES = (None, None, 1000.0, None, 1020.0, None, 1040.0, None, 1060.0)
TERMS = (Budget(target=3000), Compact(tail=600, record=800, saving=500))


def said(text: str = FRAME) -> list[dict]:
    return [agent(text)]


def told(text: str = FRAME) -> list[dict]:
    """The record as the answer to a recall."""
    return [call("ctxgc_recall", "abcdefghi", handle="abcdefghijklmnop"), result("abcdefghi", text)]


def recall(handle: str) -> str:
    known = {"abcdefghijklmnop": WHOLE, "bcdefghijklmnopq": LONG}
    if handle not in known:
        raise UnknownHandle(handle)
    return known[handle]


def judge(record: list[dict], gone: range = range(2, 4), since: int = 6, recall=recall) -> Judged:
    """Judge a session whose requests of at least ``since`` messages have a record in the place of the ``gone``."""
    made = case(times=TIMES)
    by_turn = {need.turn: [need] for need in made.needs}
    judge = Judge(made.segment, by_turn, made.fit, made.counts)
    for number, turn in enumerate(made.segment.turns):
        came = HISTORY[: turn.received]
        sent = [*came[: gone.start], *record, *came[gone.stop :]] if len(came) >= since else came
        judge.take(number, body(came), body(sent))
    return judge.end(recall)


@pytest.mark.parametrize("form", [said, told])
def test_a_span_that_is_left_out_is_valid_and_not_visible_but_recalled_through_its_record(form):
    found = judge(form())
    assert found.invalid == ()
    assert found.survival == Survival(needed=1, visible=0, named=0, recallable=1)


@pytest.mark.parametrize("form", [said, told])
def test_a_term_in_the_record_is_named_and_a_line_is_visible_only_where_it_stands(form):
    named, shown = judge(form(f"{FRAME}\n- [h]: {TERM}")), judge(form(f"{FRAME}\n{SECRET}"))
    assert (named.survival.visible, named.survival.named) == (0, 1)
    assert (shown.survival.visible, shown.survival.named) == (1, 1)


def test_control_what_an_agent_says_itself_is_no_record():
    assert judge(said(SECRET)).survival.visible == 0
    assert judge(said(SECRET)).invalid  # nor may it stand for anything


def test_a_record_whose_cells_cannot_be_read_gives_nothing_back():
    def fails(handle: str) -> str:
        return recall(handle) if handle == "abcdefghijklmnop" else ""

    assert judge(said(), recall=fails).survival.recallable == 0


def test_what_lists_handles_and_is_no_record_is_not_gone_through():
    def forged(handle: str) -> str:
        return {"abcdefghijklmnop": f"x {WHOLE}"}.get(handle) or recall(handle)

    assert judge(said(), recall=forged).survival.recallable == 0


def test_a_compaction_is_a_rewrite_and_what_stands_before_it_stays_cached():
    never, found = judge([], gone=range(0), since=99), judge(said(), since=8)
    assert (never.rewrites, found.rewrites) == (0, 1)
    assert found.rewritten > 0  # what stands behind the span
    assert found.read > 0
    assert found.tokens < never.tokens


@pytest.mark.parametrize(
    "spoil",
    [
        lambda sent: [m for m in sent if m.get("tool_call_id") != "2"],
        lambda sent: [{**m, "content": "other"} if m == HISTORY[5] else m for m in sent],
        lambda sent: [system("other"), *sent[1:]],
        lambda sent: [*sent, user("more")],
        lambda sent: [m for m in sent if m["role"] != "user"],
    ],
    ids=["half a transaction", "user text", "system prompt", "added", "no user"],
)
@pytest.mark.parametrize("first", [True, False], ids=["with the record", "later"])
def test_what_is_wrong_beside_a_record_is_still_seen(spoil, first):
    made = case(times=TIMES)
    judge = Judge(made.segment, {}, made.fit, made.counts)
    for number, turn in enumerate(made.segment.turns):
        came = HISTORY[: turn.received]
        sent = [*came[:2], *said(), *came[4:]] if len(came) >= 6 else came
        last = len(came) == len(HISTORY) - 1
        judge.take(number, body(came), body(spoil(sent) if last or (first and len(came) >= 6) else sent))
    assert judge.end(recall).invalid


def test_only_what_did_not_come_stands_in_the_place_of_messages():
    came, record = raw(HISTORY), raw(said())
    assert instead(came, (*came[:2], *record, *came[4:])) == record
    assert instead(came, (*came[:2], *raw(told()), *came[4:])) == raw(told())
    assert instead((*came, *record), (*came, *record)) == ()
    assert instead(came, came) == ()


def test_handles_are_listed_once_each():
    assert listed(f"{WHOLE} [bcdefghijklmnopq] [short] bcdefghijklmnopr") == ("bcdefghijklmnopq",)


# Through the session itself


def long() -> list[dict]:
    """A conversation that is compacted, in which the agent comes back to old results."""
    messages = [system(), user("do it in parts")]
    for number in range(60):
        asked = {**call("lookup", f"c{number}", n=number), "content": thought(number)}
        messages += [asked, result(f"c{number}", f"{row(number)}and marker_{number}_file.py\n")]
        if number % 10 == 9:
            messages += [agent(f"as marker_{number - 25}_file.py says"), user(f"go on {number}")]
    return messages


@pytest.mark.parametrize("prices", ["9", "none"])
def test_a_replay_that_compacts_is_valid_and_everything_is_recalled(prices):
    made = case(long())
    found, never = (run(made, "x", policies, at_price(prices)) for policies in (TERMS, ()))
    assert found.compactions == found.collections["major"] >= 1
    assert (found.judged.invalid, found.bypasses) == ((), 0)
    assert found.judged.rewrites == found.compactions
    survival = found.judged.survival
    assert survival.needed == survival.visible + survival.recallable > survival.visible
    assert found.judged.tokens < never.judged.tokens
    assert (never.compactions, never.judged.rewrites) == (0, 0)


def test_a_replay_that_compacts_is_the_same_every_time():
    once, again = (run(case(long()), "x", TERMS, at_price("9")) for _ in range(2))
    assert once.judged == again.judged


def test_what_was_estimated_is_what_was_sent_also_with_a_compaction():
    with known() as store:
        found = replay(transcript(long()), compacting(store, TERMS, recall=False, ledger=None))
    estimated = [entry.estimated for entry in found.entries if type(entry).__name__ == "Settlement"]
    assert 0 not in estimated
    assert json.dumps(estimated) != json.dumps(sorted(estimated))  # it falls where a span goes
