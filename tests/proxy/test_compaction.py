"""Conversations that are compacted on their way: a model asked beside them, and nobody kept waiting for it."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from ctxgc.core.compaction import Summary
from ctxgc.core.journal import Allocation, Bypass, Recall
from ctxgc.ledger import open_ledger, quotes
from ctxgc.summarise import Ask, Said
from tests.proxy.bodies import Dict
from tests.proxy.client import KEY
from tests.proxy.compactions import (
    DEMAND,
    FACT,
    LAST,
    OFF,
    OVER,
    SMALL,
    TERMS,
    Held,
    Model,
    compactions,
    grow,
    record,
    stands,
    story,
    summarising,
    texts,
    turn,
)
from tests.proxy.recalls import completed, made, recall
from tests.proxy.upstream import HANG, Call, whole


def only_record(messages: list[Dict]) -> str:
    """The record in what was sent; there must be one and no more."""
    (found,) = [text for text in texts(messages) if " record of turns " in text]
    return found


def handle(text: str) -> str:
    """The handle with which a text of ours begins."""
    found = re.match(r"\[ctxgc:([a-z2-7]{16}) ", text)
    assert found
    return found[1]


# With the session's own model, through litellm in its child process


async def test_the_sessions_own_model_writes_its_part_of_the_record(start, upstream, tmp_path):
    model = Model(upstream)
    async with start(**SMALL) as running:
        await grow(running, 1, OVER)
        (summary,) = await running.store.until(Summary)
        assert not compactions(running)
        await grow(running, OVER + 1, OVER + 3)
        made = compactions(running)
        running.check()
    assert summary.outcome == "taken"
    assert [len(made), made[0].by] == [1, summary.model]
    (question,) = model.questions
    assert "response_format" in question.json
    assert question.target == "/v1/chat/completions"
    assert question.header("authorization") == KEY[1].encode()
    shown = only_record(model.sent)
    assert re.search(rf"F1 \[[a-z2-7]{{16}}\]: The {FACT}", shown)
    assert any(DEMAND in text for text in texts(model.sent))
    assert not stands(tmp_path, KEY[1].split()[1])
    assert stands(tmp_path, FACT)  # the search finds what is there


@pytest.mark.parametrize(
    ("said", "status"),
    [(record, 500), (lambda _question: completed(text="I don't see any events."), 200)],
    ids=["it fails", "it apologises"],
)
async def test_where_the_model_fails_the_record_holds_what_code_can_tell(start, upstream, said, status):
    model = Model(upstream, said, status)
    async with start(**SMALL) as running:
        await grow(running, 1, OVER)
        (summary,) = await running.store.until(Summary)
        await grow(running, OVER + 1, OVER + 2)
        (made,) = compactions(running)
        running.check()
    assert summary.outcome.startswith("refused: ")
    assert KEY[1].split()[1] not in summary.outcome
    assert made.by == ""
    shown = only_record(model.sent)
    assert "tools_used_with_outcomes:" in shown
    assert "facts:" not in shown


# Waiting for nobody


async def test_requests_do_not_wait_for_a_summariser_that_hangs(start, upstream, monkeypatch):
    model, held = Model(upstream), Held()
    summarising(monkeypatch, held)
    async with start(**SMALL) as running:
        await grow(running, 1, OVER)
        await held.is_asked()
        answer = await grow(running, OVER + 1, OVER + 1)
        assert answer.whole
        assert not held.released.is_set()
        assert len(model.sent) == len(story(OVER + 1))  # it is sent as it was before, for now
        await grow(running, OVER + 2, LAST)
        (made, *_) = compactions(running)  # and where there is no more room, without an answer
        assert made.by == ""
        running.check()
        held.released.set()
        await running.store.until(Summary)
        assert not running.store.of(Bypass)
    assert any(DEMAND in text for text in texts(model.sent))


async def test_a_proxy_ends_while_a_summariser_hangs(start, upstream, monkeypatch):
    Model(upstream)
    held = Held()
    summarising(monkeypatch, held)
    async with asyncio.timeout(HANG):
        async with start(**SMALL) as running:
            await grow(running, 1, OVER)
            await held.is_asked()
    held.released.set()


async def test_what_an_asker_raises_stays_with_the_record(start, upstream, monkeypatch):
    def raising(ask: Ask) -> Said:
        raise RuntimeError(ask.api_key)

    Model(upstream)
    summarising(monkeypatch, raising)
    async with start(**SMALL) as running:
        await grow(running, 1, OVER)
        (summary,) = await running.store.until(Summary)
        await grow(running, OVER + 1, OVER + 3)
        assert len(compactions(running)) == 1
        assert not running.store.of(Bypass)
    assert summary.outcome == "refused: no answer: RuntimeError"


async def test_nobody_is_asked_where_the_summariser_is_off(start, upstream):
    model = Model(upstream)
    async with start(**OFF) as running:
        await grow(running, 1, LAST)
        assert len(compactions(running)) > 1
        assert not running.store.of(Summary)
        running.check()
    assert not model.questions
    assert only_record(model.sent)


# What is sent afterwards


async def test_after_a_restart_the_same_bytes_are_sent(start, upstream):
    model = Model(upstream)
    async with start(**OFF) as running:
        await grow(running, 1, OVER + 2)
        assert compactions(running)
    before = model.raw
    async with start(**OFF) as running:
        await grow(running, OVER + 2, OVER + 2)
        assert model.raw == before
        await grow(running, OVER + 3, OVER + 3)
        running.check()
    end = before.rindex(b"]", 0, before.rindex(b'"tools"'))
    assert model.raw.startswith(before[:end])


async def test_a_refused_record_is_taken_back(start, upstream):
    model = Model(upstream)
    async with start(**OFF) as running:
        await grow(running, 1, OVER)

        async def refusing(call: Call) -> None:
            refused = b" record of turns " in call.body
            await (whole(b'{"error":{"message":"no"}}', 400) if refused else whole())(call)
            model.requests.append(call)

        upstream.answers(refusing)
        await grow(running, OVER + 1, OVER + 4)
        running.check()
    assert len(model.sent) == len(story(OVER + 4))


async def test_the_model_reads_the_record_and_what_it_stands_for(start, upstream):
    model = Model(upstream)
    async with start(**OFF, recall=True) as running:
        await grow(running, 1, OVER + 1)
        shown = only_record(model.sent)
        model.replies = [completed(recall(handle(shown)))]
        await grow(running, OVER + 2, OVER + 2)
        whole_record = texts(model.sent)[-1]
        assert "recalled from" in whole_record
        listed = re.search(r"\[([a-z2-7]{16})\] turn \d+ tool_result, .*look\({\"table\":2}\)", whole_record)
        assert listed
        model.replies = [completed(recall(listed[1], search="5120"))]
        await grow(running, OVER + 3, OVER + 3)
        assert FACT in texts(model.sent)[-1]
        assert [one.found for one in running.store.of(Recall)] == [True, True]
        running.check()


async def test_the_model_reads_lines_of_a_voucher(start, upstream):
    model = Model(upstream)
    async with start(**OFF, ledger="team") as running:
        ledger = open_ledger(running.store.inner, "team")
        voucher = ledger.vault.store(ref="report.txt", content="".join(f"row {n}\n" for n in range(900)))
        ledger.post("There is a row 7", [ledger.verify(voucher, quotes("row 7\n"))])
        await grow(running, 1, 2)
        told = next(text for text in texts(model.sent) if voucher.id in text)
        assert f"F1: There is a row 7 [{voucher.id} lines 8-8]" in told
        model.replies = [completed(recall(voucher.id, first_line=8, last_line=9))]
        await grow(running, 3, 3)
        answer = texts(model.sent)[-1]
        assert "row 7\nrow 8\n" in answer
        assert "row 6" not in answer
        assert "row 9\n" not in answer
        running.check()


async def test_an_unknown_handle_is_answered_as_one(start, upstream):
    model = Model(upstream)
    async with start(**OFF, ledger="team") as running:
        model.replies = [completed(made(0, "ctxgc_recall", json.dumps({"handle": "a" * 16}), "r1"))]
        await grow(running, 1, 1)
        assert "no content of this conversation has that handle" in texts(model.sent)[-1]


# When a history was compacted as often as may be


async def test_a_new_window_is_advised_where_the_limit_is_reached(start, upstream):
    Model(upstream)
    async with start(**{**OFF, "policies": ({**TERMS, "limit": 1},)}) as running:
        headers = {}
        for number in range(1, LAST + 1):
            headers[number] = (await running.chat(turn(number))).header("x-ctxgc-new-window")
        assert len(compactions(running)) == 1
        (key,) = [
            key.hex()
            for key, entries in running.journals().items()
            if any(isinstance(one, Allocation) for one in entries)
        ]
    first = next(number for number in headers if headers[number])
    assert first > OVER + 1
    assert {headers[number] for number in range(first, LAST + 1)} == {key}


async def test_no_new_window_is_advised_before(start, upstream):
    Model(upstream)
    async with start(**OFF) as running:
        for number in range(1, LAST + 1):
            assert (await running.chat(turn(number))).header("x-ctxgc-new-window") is None
