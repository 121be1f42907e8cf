"""What is recalled fits into the model's window; and where the provider refuses it all the same, it is taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ctxgc.core.journal import Allocation, Insertion, Recall, Settlement
from ctxgc.core.state import State, fold
from ctxgc.proxy import chat
from ctxgc.session import recalling
from ctxgc.session.reading import TOOL_NAME
from tests.proxy.bodies import LISTING, SMALL, Dict, agent, calling, result, user
from tests.proxy.recalls import (
    HISTORY,
    completed,
    handle,
    recall,
    replies,
    request,
    said,
    search,
    streamed,
)
from tests.proxy.upstream import DONE, Answer, Call, stream, whole

BOTH = pytest.mark.parametrize("streaming", [False, True])
HERE = recall("HERE")
TWICE = (recall("HERE", 0, "r1"), recall("HERE", 1, "r2", first_line=200))
WINDOW = 8192
"""Tokens of gpt-4, as published: the smallest window of a known model."""
BIG = LISTING * 2
ERROR = b'{"error":{"message":"maximum context length","code":"context_length_exceeded"}}'
REFUSAL = whole(ERROR, 400)


def asked(*messages: Dict, **more: Any) -> bytes:
    return request(*(messages or (user(), calling(), result(text=BIG))), **{"model": "gpt-4", **more})


def done(*, streaming: bool) -> Answer:
    return stream(*streamed(text="done")) if streaming else whole(completed(text="done"))


def recalled(call: Call) -> list[str]:
    """What calls of ours were answered in a request."""
    ids = [each["id"] for message in call.json["messages"] for each in message.get("tool_calls", ()) if _ours(each)]
    return [message["content"] for message in call.json["messages"] if message.get("tool_call_id") in ids]


def _ours(call: Dict) -> bool:
    return bool(call["function"]["name"] == TOOL_NAME)


def sizes(running: Any) -> list[int]:
    """The tokens of every request, as it left."""
    (entries,) = running.journals().values()
    ends = [at for at, entry in enumerate(entries) if isinstance(entry, Settlement)]
    found = []
    for entry, end in zip([entry for entry in entries if isinstance(entry, Allocation)], ends, strict=True):
        found.append(fold(entries[:end]).tokens(entry.head, entry.toolset, sent=True, offered=True))
    return found


# The room for it


@BOTH
async def test_all_recalls_of_a_round_share_one_limit(start, upstream, streaming):
    upstream.answers(replies(*TWICE, streaming=streaming), done(streaming=streaming))
    async with start(**SMALL) as running:
        await running.chat(asked(model="gpt-5", stream=streaming))
        running.check()
    one, other = recalled(upstream.calls[1])
    assert min(len(one), len(other)) > 9_000
    assert len(one) + len(other) <= recalling.LIMIT
    assert "ask for first_line=" in one


async def test_what_one_recall_leaves_is_for_the_others(start, upstream):
    pair = (recall("HERE", 0, "r1", first_line=1, last_line=1), recall("HERE", 1, "r2"))
    upstream.answers(replies(*pair, streaming=False), done(streaming=False))
    async with start(**SMALL) as running:
        await running.chat(asked(model="gpt-5"))
    one, other = recalled(upstream.calls[1])
    assert len(one) < 200
    assert 19_000 < len(one) + len(other) <= recalling.LIMIT


async def test_more_recalls_than_there_is_room_for_are_told_so(start, upstream):
    many = [recall("HERE", at, f"r{at}") for at in range(30)]
    upstream.answers(replies(*many, streaming=False), done(streaming=False))
    async with start(**SMALL) as running:
        await running.chat(asked(model="gpt-5"))
        found = len(running.store.of(Recall))
    texts = recalled(upstream.calls[1])
    given = [text for text in texts if text != recalling.UNFIT]
    assert len(texts) == 30
    assert 19 <= len(given) == found < 30
    assert sum(map(len, given)) <= recalling.LIMIT


@BOTH
async def test_a_recall_never_fills_a_window_that_is_known(start, upstream, streaming):
    """An eighth of it is left to the answer, also where the model goes on recalling."""
    upstream.answers(replies(*TWICE, streaming=streaming))
    async with start(**SMALL) as running:
        await running.chat(asked(stream=streaming))
        running.check()
        found = sizes(running)
    assert len(found) > 3
    assert max(found) <= WINDOW - WINDOW // recalling.RESERVE + 500  # in the last rounds the model is only told
    assert found[1] <= WINDOW - WINDOW // recalling.RESERVE
    first, *_, last = recalled(upstream.calls[-1])
    assert first.startswith("recalled from search(")
    assert last in (recalling.UNFIT, recalling.LIMITED)


async def test_the_check_finds_a_recall_that_knows_no_window(start, upstream, monkeypatch):
    monkeypatch.setattr(recalling._Room, "fitted", lambda self, read: read(recalling.LIMIT))
    upstream.answers(replies(*TWICE, streaming=False), done(streaming=False))
    async with start(**SMALL) as running:
        await running.chat(asked())
        assert sizes(running)[1] > WINDOW


@BOTH
async def test_where_there_is_no_room_the_model_is_told(start, upstream, streaming):
    full = user(LISTING + LISTING[:6_000])
    upstream.answers(replies(HERE, streaming=streaming), done(streaming=streaming))
    async with start(**SMALL) as running:
        got = await running.chat(asked(full, calling(), result(text=BIG), stream=streaming))
        assert running.store.of(Recall) == []
        running.check()
    assert recalled(upstream.calls[1]) == [recalling.UNFIT]
    assert said(got.body, streaming=streaming)[:3] == ("done", [], "stop")


async def test_a_recall_beside_a_call_of_the_clients_is_limited_too(start, upstream):
    upstream.answers(replies(*TWICE, search(2), streaming=False), done(streaming=False))
    async with start(**SMALL) as running:
        await running.chat(asked())
        called = calling("s1", arguments='{"q":2}')
        await running.chat(asked(user(), calling(), result(text=BIG), called, result("s1", "short")))
        running.check()
        assert sizes(running)[1] <= WINDOW - WINDOW // recalling.RESERVE + 100
    assert len(recalled(upstream.calls[1])) == 2


# A round that is refused


@BOTH
@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_round_that_is_refused_goes_out_without_the_content(start, upstream, streaming, status):
    upstream.answers(replies(HERE, streaming=streaming), whole(ERROR, status), done(streaming=streaming))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        await running.chat(request(*HISTORY, agent(), user("and?"), stream=streaming))
        running.check()
        booked = running.store.of(Settlement)
    assert (got.status, got.whole) == (200, True)
    assert said(got.body, streaming=streaming)[:3] == ("done", [], "stop")
    assert [(entry.outcome, entry.status) for entry in booked[:3]] == [("ok", 200), ("error", status), ("ok", 200)]
    _, refused, third, later = upstream.calls
    assert recalled(refused)[0].startswith("recalled from")
    assert recalled(third) == recalled(later) == [recalling.UNFIT]
    assert later.json["messages"][: len(third.json["messages"])] == third.json["messages"]
    assert TOOL_NAME in json.dumps(later.json["tools"])


@BOTH
async def test_the_check_finds_content_that_is_not_taken_back(start, upstream, monkeypatch, streaming):
    monkeypatch.setattr(State, "_withdraw", lambda self, entry: None)
    upstream.answers(replies(HERE, streaming=streaming), REFUSAL, done(streaming=streaming))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
    assert len(recalled(upstream.calls[2])) == 2


def refusing(limit: int, *, streaming: bool) -> Answer:
    """A model that recalls whatever it can, whose provider takes no request of more bytes than ``limit``."""

    async def answer(call: Call) -> None:
        if len(call.body) > limit:
            await REFUSAL(call)
        elif call.json["messages"][-1].get("tool_call_id") == "call_1":
            await replies(*TWICE, streaming=streaming)(call)
        else:
            await done(streaming=streaming)(call)

    return answer


@BOTH
async def test_a_session_whose_recall_was_too_much_goes_on(start, upstream, streaming):
    """What fitted once fits again, and again after a restart, though no window is known."""
    upstream.answers(refusing(8_000, streaming=streaming))
    for _ in range(2):
        async with start(**SMALL) as running:
            for _ in range(2):
                got = await running.chat(asked(model="unheard-of", stream=streaming))
                assert (got.status, got.whole) == (200, True)
            running.check()
    assert recalled(upstream.calls[-1]) == [recalling.UNFIT] * 2


async def test_the_check_finds_a_session_that_is_stuck(start, upstream, monkeypatch):
    monkeypatch.setattr(State, "_withdraw", lambda self, entry: None)
    upstream.answers(refusing(8_000, streaming=False))
    async with start(**SMALL) as running:
        got = [await running.chat(asked(model="unheard-of")) for _ in range(2)]
    assert [one.status for one in got] == [400, 400]


@BOTH
async def test_what_is_refused_in_every_form_leaves_nothing_behind(start, upstream, streaming):
    upstream.answers(
        replies(HERE, streaming=streaming, text="so "), REFUSAL, REFUSAL, REFUSAL, done(streaming=streaming)
    )
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        (entries,) = running.journals().values()
        again = await running.chat(request(stream=streaming))
        running.check()
    async with start(**SMALL) as running:
        await running.chat(request(*HISTORY, agent(), user("and?"), stream=streaming))
        running.check()
    if streaming:  # what was said is said, and no end is made up
        assert not got.whole
        assert said(got.body, streaming=True)[0] == "so "
        assert DONE not in got.body
    else:
        assert (got.status, got.body) == (400, ERROR)
    assert [entry.void for entry in entries if isinstance(entry, Insertion)] == [False, True, False, True]
    assert upstream.calls[3].body == request(stream=streaming)  # as it came, before it is given up
    assert upstream.calls[4].body == upstream.calls[0].body
    assert again.status == 200
    assert recalled(upstream.calls[5]) == []
    assert TOOL_NAME in json.dumps(upstream.calls[5].json["tools"])


async def test_the_check_finds_a_refusal_that_is_not_taken_back(start, upstream, monkeypatch):
    monkeypatch.setattr(chat.Ticket, "taken_back", lambda self: None)
    upstream.answers(replies(HERE, streaming=False), REFUSAL, REFUSAL, REFUSAL, done(streaming=False))
    async with start(**SMALL) as running:
        await running.chat(request())
        await running.chat(request())
    assert recalled(upstream.calls[4]) == [recalling.UNFIT]


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_what_failed_for_another_reason_is_not_taken_back(start, upstream, status):
    upstream.answers(replies(HERE, streaming=False), whole(ERROR, status), done(streaming=False))
    async with start(**SMALL) as running:
        got = await running.chat(request())
        await running.chat(request())
        running.check()
    assert got.status == status
    assert upstream.calls[2].body == upstream.calls[1].body


@pytest.mark.parametrize("audit", ["available", "strict"])
async def test_refusals_are_recorded(start: Callable[..., Any], upstream: Any, audit: str) -> None:
    upstream.answers(replies(HERE, streaming=True), REFUSAL, done(streaming=True))
    async with start(**SMALL, audit=audit) as running:
        await running.chat(request(stream=True))
        running.check()
        assert len(running.store.of(Allocation)) == len(running.store.of(Settlement)) == 3


async def test_a_later_round_is_taken_back_and_earlier_ones_stay(start, upstream):
    async def further(call: Call) -> None:
        await whole(completed(recall(handle(call), 0, "r9", first_line=3, last_line=9)))(call)

    upstream.answers(further, replies(HERE, streaming=False), REFUSAL, done(streaming=False))
    async with start(**SMALL) as running:
        got = await running.chat(request())
        running.check()
    assert got.status == 200
    first, second = recalled(upstream.calls[3])
    assert "lines 3-9 of" in first
    assert second == recalling.UNFIT
