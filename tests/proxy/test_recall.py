"""The model's recalls, answered in between: the client sees one answer, and the model what it asked for."""

from __future__ import annotations

import asyncio
import gzip
import json
from itertools import pairwise
from typing import Any

import openai
import pytest

from ctxgc.core import stub
from ctxgc.core.journal import Allocation, Insertion, Recall, Settlement
from ctxgc.proxy.rounds import ROUNDS
from ctxgc.session import recalling
from ctxgc.session.reading import TOOL_NAME
from tests.proxy.bodies import LISTING, SMALL, agent, body, calling, result, user
from tests.proxy.client import KEY
from tests.proxy.client import request as raw_request
from tests.proxy.recalls import (
    HISTORY,
    NAME,
    SEARCH,
    completed,
    delta,
    deltas,
    handle,
    made,
    recall,
    replies,
    request,
    said,
    search,
    streamed,
)
from tests.proxy.upstream import DONE, EVENTS, completion, event, finish, head, pieces, stream, whole

BOTH = pytest.mark.parametrize("streaming", [False, True])
HERE = recall("HERE")


def names(call: Any) -> list[str]:
    return [tool["function"]["name"] for tool in call.json["tools"]]


def answers(streaming: bool, text: str = "done") -> Any:
    return stream(*streamed(text=text)) if streaming else whole(completed(text=text))


# Who is offered it


@pytest.mark.parametrize("order", ["before", "behind"])
async def test_a_history_offers_the_tool_from_its_first_request_to_its_last(start, upstream, order):
    def write(*messages, **more):
        text = json.loads(request(*messages, **more))
        keys = ["tools", "model", "messages"] if order == "before" else ["model", "messages", "tools"]
        return json.dumps({key: text[key] for key in keys}).encode()

    async with start(**SMALL) as running:
        await running.chat(write(user()))
        await running.chat(write(*HISTORY))
        await running.chat(write(*HISTORY))
        running.check()
    assert [names(call) for call in upstream.calls] == [["search", TOOL_NAME]] * 3
    start_of = [call.body.partition(b'"messages"')[0] for call in upstream.calls]
    assert len(set(start_of)) == 1


async def test_only_the_tool_is_put_in_and_nothing_else_changes(start, upstream):
    sent = request(user(), temperature=1e0, tools=[SEARCH], seed=12345678901234567890)
    async with start(**SMALL) as running:
        await running.chat(sent)
    tool = upstream.calls[0].json["tools"][1]
    spliced = b"," + json.dumps(tool, ensure_ascii=False, separators=(",", ":")).encode()
    assert upstream.calls[0].body.replace(spliced, b"") == sent


@pytest.mark.parametrize(
    "more",
    [
        {"tools": []},
        {"tools": None},
        {"tools": [SEARCH, {"type": "function", "function": {"name": TOOL_NAME}}]},
        {"tool_choice": "none"},
        {"n": 2},
    ],
    ids=["no tools", "null", "one of that name", "no choice", "several answers"],
)
async def test_a_history_that_has_no_use_for_it_is_never_offered_it(start, upstream, more):
    async with start(**SMALL) as running:
        first, later = request(user(), **more), request(*HISTORY)
        await running.chat(first)
        await running.chat(later)
        assert running.check()[0].own.offers == []
    assert upstream.calls[0].body == first
    assert names(upstream.calls[1]) == ["search"]


@pytest.mark.parametrize("settings", [{"policy": "observe"}, {**SMALL, "recall": False}])
async def test_it_is_offered_only_where_something_can_be_collected_and_it_is_wanted(start, upstream, settings):
    async with start(**settings) as running:
        await running.chat(request(user()))
    assert names(upstream.calls[0]) == ["search"]


async def test_a_forced_choice_is_no_hindrance(start, upstream):
    async with start(**SMALL) as running:
        await running.chat(request(tool_choice={"type": "function", "function": {"name": "search"}}))
    assert names(upstream.calls[0]) == ["search", TOOL_NAME]


async def test_a_helper_call_of_the_session_is_not_offered_it(start, upstream):
    headers = (KEY, ("x-ctxgc-session", "one-session"))
    async with start(**SMALL) as running:
        await running.chat(request(user()), headers)
        await running.chat(request({"role": "system", "content": "name this"}, user("what?")), headers)
        await running.chat(request(*HISTORY), headers)
        running.check()
    assert [len(names(call)) for call in upstream.calls] == [2, 1, 2]


async def test_a_last_request_without_tools_stays_without(start, upstream):
    async with start(**SMALL) as running:
        await running.chat(request())
        await running.chat(body(*HISTORY, agent(), user("sum it up")))
        running.check()
    assert "tools" not in upstream.calls[1].json
    assert len(upstream.calls) == 2


async def test_a_restart_decides_the_same(start, upstream):
    async with start(**SMALL) as running:
        await running.chat(request(user()))
    async with start(**{**SMALL, "recall": False}) as running:
        await running.chat(request(*HISTORY))
        running.check()
    assert [names(call) for call in upstream.calls] == [["search", TOOL_NAME]] * 2


@BOTH
async def test_a_tool_of_that_name_that_the_client_brings_later_is_the_clients(start, upstream, streaming):
    own = {"type": "function", "function": {"name": TOOL_NAME, "parameters": {}}}
    upstream.answers(answers(streaming), replies(HERE, streaming=streaming, text="one"), answers(streaming))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
        got = await running.chat(request(*HISTORY, agent(), user("and?"), tools=[SEARCH, own], stream=streaming))
        await running.chat(request(*HISTORY, agent(), user("so?"), stream=streaming))
        running.check()
    text, calls, ending, _ = said(got.body, streaming=streaming)
    assert (text, len(calls), ending) == ("one", 1, "tool_calls")
    assert NAME in got.body
    assert [names(call) for call in upstream.calls] == [["search", TOOL_NAME]] * 3


@BOTH
async def test_a_call_of_ours_in_a_request_without_tools_is_nobodys(start, upstream, streaming):
    """The control: there it cannot be the client's."""
    upstream.answers(answers(streaming), replies(HERE, streaming=streaming, text="one"))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
        got = await running.chat(body(*HISTORY, agent(), user("sum it up"), stream=streaming))
    assert said(got.body, streaming=streaming)[:3] == ("one", [], "stop")
    assert len(upstream.calls) == 2


# One recall


@BOTH
async def test_a_recall_is_answered_and_the_client_gets_the_answer_to_it(start, upstream, streaming):
    upstream.answers(replies(HERE, streaming=streaming), answers(streaming, "the|answer"))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        (state,) = running.check()
        entries = next(iter(running.journals().values()))
    assert (got.whole, got.status) == (True, 200)
    assert NAME not in got.body
    text, calls, ending, _ = said(got.body, streaming=streaming)
    assert (text.replace("|", ""), calls, ending) == ("theanswer", [], "stop")
    first, second = upstream.calls
    made, answer = second.json["messages"][3:]
    assert made["tool_calls"][0]["function"]["name"] == TOOL_NAME
    assert made["content"] is None
    assert answer["tool_call_id"] == "r1"
    assert answer["content"].startswith("recalled from search(")
    assert LISTING[:10_000] in answer["content"]
    assert second.body.startswith(first.body[: first.body.rindex(b"]")][:200])
    assert [entry.by for entry in entries if isinstance(entry, Recall)] == ["model"]
    assert sum(isinstance(entry, Settlement) for entry in entries) == 2
    assert [entry.again for entry in entries if isinstance(entry, Allocation)] == [False, True]
    assert sum(state.resurrected.values()) == 1


@BOTH
async def test_what_was_sent_stays_a_prefix_of_what_is_sent(start, upstream, streaming):
    """Through rounds, later requests and a restart: the provider's cache keeps what it has."""
    upstream.answers(replies(HERE, streaming=streaming), answers(streaming))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
        await running.chat(request(*HISTORY, agent(), user("and?"), stream=streaming))
    async with start(**SMALL) as running:
        await running.chat(request(*HISTORY, agent(), user("and?"), agent("so"), user("well"), stream=streaming))
        running.check()
    histories = [call.body.partition(b'"messages": ')[2].rpartition(b'], "tools"')[0] for call in upstream.calls]
    assert all(histories)
    assert all(later.startswith(earlier) for earlier, later in pairwise(histories))
    roles = [message["role"] for message in upstream.calls[-1].json["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant", "user", "assistant", "user"]


@BOTH
async def test_the_check_finds_a_recall_that_reaches_the_client(start, upstream, monkeypatch, streaming):
    upstream.answers(replies(HERE, search(1), streaming=streaming))
    monkeypatch.setattr("ctxgc.wire.openai_chat_taking.Taking.take_out", lambda self, placed: 0)
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
    assert NAME in got.body


async def test_without_the_insertion_the_prefix_would_be_lost(start, upstream, monkeypatch):
    """The check above finds a session that forgets what was recalled."""
    upstream.answers(replies(HERE, streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request())
        for entries in running.journals().values():
            assert any(isinstance(entry, Insertion) for entry in entries)
        monkeypatch.setattr("ctxgc.core.own.Own.behind", lambda self, node, child=-1: ())
        await running.chat(request(*HISTORY, agent(), user("and?")))
    assert [message["role"] for message in upstream.calls[2].json["messages"]][3:] == ["assistant", "user"]


@BOTH
async def test_the_same_request_again_carries_what_was_recalled(start, upstream, streaming):
    upstream.answers(replies(HERE, streaming=streaming), answers(streaming))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
        await running.chat(request(stream=streaming))
        running.check()
    assert upstream.calls[2].body == upstream.calls[1].body


async def test_a_branch_that_was_sent_without_it_goes_on_without_it(start, upstream):
    upstream.answers(answers(False), answers(False), replies(HERE, streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request())
        await running.chat(request(*HISTORY, agent("one"), user("and?")))
        await running.chat(request())  # once more, and now the model recalls
        await running.chat(request(*HISTORY, agent("one"), user("and?"), agent("two"), user("so?")))
        await running.chat(request(*HISTORY, agent("other"), user("hm")))
        running.check()
    assert len(upstream.calls[4].json["messages"]) == 7
    assert len(upstream.calls[5].json["messages"]) == 7


@BOTH
async def test_the_usage_is_that_of_all_rounds(start, upstream, streaming):
    async def first(call):
        await (
            stream(*streamed(recall(handle(call)), counted=True))
            if streaming
            else whole(completed(recall(handle(call))))
        )(call)

    upstream.answers(first, stream(*streamed(text="a", counted=True)) if streaming else answers(False))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        booked = await running.store.until(Settlement, 2)
    assert said(got.body, streaming=streaming)[3] == {"prompt_tokens": 22, "completion_tokens": 6, "total_tokens": 28}
    assert [entry.usage.input for entry in booked] == [11, 11]
    assert got.body.count(b'"usage"') == 1


@BOTH
async def test_what_the_model_said_before_is_not_lost(start, upstream, streaming):
    upstream.answers(replies(HERE, streaming=streaming, text="Let me look. "), answers(streaming, "Found it."))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
    assert said(got.body, streaming=streaming)[0] == "Let me look. Found it."
    assert upstream.calls[1].json["messages"][3]["content"] == "Let me look. "


async def test_reasoning_and_signatures_go_back_with_the_call(start, upstream):
    signed = {**HERE, "extra_content": {"google": {"thought_signature": "abc"}}}

    async def first(call):
        shown = json.loads(json.dumps(signed).replace("HERE", handle(call)))
        await whole(completed(shown, reasoning_content="hm"))(call)

    upstream.answers(first, answers(False))
    async with start(**SMALL) as running:
        await running.chat(request())
    made = upstream.calls[1].json["messages"][3]
    assert made["reasoning_content"] == "hm"
    assert made["tool_calls"][0]["extra_content"] == signed["extra_content"]


# Beside the client's own calls


@BOTH
@pytest.mark.parametrize("first", ["recall", "search"])
async def test_a_call_of_the_clients_beside_it_goes_to_the_client(start, upstream, streaming, first):
    pair = (HERE, search(1)) if first == "recall" else (search(), recall("HERE", 1))
    upstream.answers(replies(*pair, streaming=streaming), answers(streaming))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        _, calls, ending, _ = said(got.body, streaming=streaming)
        assert (len(calls), calls[0]["id"], ending) == (1, "s1", "tool_calls")
        assert NAME not in got.body
        assert len(upstream.calls) == 1
        called = calling("s1", arguments='{"q":2}')
        await running.chat(request(*HISTORY, called, result("s1", "short"), stream=streaming))
        running.check()
    sent = upstream.calls[1].json["messages"]
    assert [message["role"] for message in sent[3:]] == ["assistant", "tool", "assistant", "tool"]
    assert [call["id"] for message in sent[3:] for call in message.get("tool_calls", ())] == ["r1", "s1"]
    assert sent[4]["content"].startswith("recalled from")


@BOTH
async def test_several_recalls_at_once_are_each_answered(start, upstream, streaming):
    two = (recall("HERE", 0, "r1", first_line=1, last_line=2), recall("HERE", 1, "r2", search="line 77 "))
    upstream.answers(replies(*two, streaming=streaming), answers(streaming))
    async with start(**SMALL) as running:
        await running.chat(request(stream=streaming))
        assert [entry.found for entry in running.store.of(Recall)] == [True, True]
        running.check()
    one, other = upstream.calls[1].json["messages"][4:]
    assert [one["tool_call_id"], other["tool_call_id"]] == ["r1", "r2"]
    assert "lines 1-2 of 400" in one["content"]
    assert "line 77 of a long listing" in other["content"]
    assert "line 90 of" not in other["content"]


# Streams, cut anywhere


@pytest.mark.parametrize("size", [1, 13, 100_000])
async def test_a_stream_is_read_however_it_is_cut(start, upstream, size):
    async def first(call):
        await stream(*pieces(b"".join(streamed(recall(handle(call)), text="h\xe9 \U0001f600")), size))(call)

    upstream.answers(first, stream(*pieces(b"".join(streamed(text="so")), size)))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert NAME not in got.body
    assert said(got.body, streaming=True)[:3] == ("h\xe9 \U0001f600so", [], "stop")
    assert got.body.endswith(DONE)


@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_a_stream_without_a_recall_goes_through_byte_for_byte(start, upstream, size):
    odd = b'data: {"choices":[{"index":0,"delta":{"content":"\\u00e9 \\ud800"},"x":1e3}]}\r\n\r\n: ping\r\n\r\n'
    data = odd + b"event: x\n" + b"".join(streamed(search(), text="hi|there", counted=True))
    upstream.answers(stream(*pieces(data, size)))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert got.body == data


async def test_what_a_stream_says_arrives_while_it_comes(start, upstream):
    """F41: nothing is buffered but what may be a recall."""
    free = asyncio.Event()

    async def slow(call):
        await call.write(head(200, EVENTS))
        await call.chunk(event("first"))
        await free.wait()
        await call.chunk(event("second") + finish() + DONE)
        await call.chunk(b"")

    upstream.answers(slow)
    async with start(**SMALL) as running, running.client() as client:
        await client.send(raw_request(request(stream=True), [KEY]))
        await client.head()
        assert await client.exactly(len(event("first"))) == event("first")
        free.set()
        assert (await client.rest()).body == event("second") + finish() + DONE


async def test_deltas_without_a_name_wait_until_it_is_known(start, upstream):
    async def first(call):
        arguments = json.dumps({"handle": handle(call)})
        nameless = delta(tool_calls=[{"index": 0, "id": "r1", "type": "function", "function": {"arguments": ""}}])
        parts = [nameless, event("between"), delta(tool_calls=[{"index": 0, "function": {"name": "ctxgc_"}}])]
        parts += [delta(tool_calls=[{"index": 0, "function": {"name": "recall"}}])]
        parts += [delta(tool_calls=[{"index": 0, "function": {"arguments": arguments}}])]
        await stream(*parts, finish("tool_calls"), DONE)(call)

    upstream.answers(first, stream(*streamed(text=" so")))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert b"ctxgc_" not in got.body
    assert said(got.body, streaming=True)[:3] == ("between so", [], "stop")
    assert len(upstream.calls) == 2


async def test_a_tool_of_a_name_alike_is_the_clients(start, upstream):
    other = made(0, "ctxgc_reca", "{}", "s1")
    upstream.answers(stream(*streamed(other)))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert got.body == b"".join(streamed(other))


async def test_calls_of_one_chunk_are_told_apart(start, upstream):
    async def first(call):
        both = [recall(handle(call), 0), search(1)]
        await stream(delta(role="assistant", content=None, tool_calls=both), finish("tool_calls"), DONE)(call)

    upstream.answers(first)
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert NAME not in got.body
    assert [call["id"] for call in said(got.body, streaming=True)[1]] == ["s1"]


async def test_a_stream_in_which_the_call_comes_with_its_finish(start, upstream):
    async def first(call):
        chunk = {"index": 0, "delta": {"tool_calls": [recall(handle(call))]}, "finish_reason": "tool_calls"}
        await stream(event(choices=[chunk]), DONE)(call)

    upstream.answers(first, stream(*streamed(text="so")))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert said(got.body, streaming=True)[:3] == ("so", [], "stop")


# What goes wrong


@BOTH
@pytest.mark.parametrize(
    ("arguments", "told"),
    [('{"handle": "aaaaaaaaaaaaaaaa"}', recalling.UNKNOWN), ("not json", "not JSON"), ('{"handle": 7}', "handle must")],
)
async def test_a_handle_that_is_none_is_answered_with_what_to_do(start, upstream, streaming, arguments, told):
    wrong = made(0, TOOL_NAME, arguments, "r1")
    upstream.answers(replies(wrong, streaming=streaming), answers(streaming))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        assert [entry.found for entry in running.store.of(Recall)] == [False]
    assert got.status == 200
    text = upstream.calls[1].json["messages"][4]["content"]
    assert told in text
    assert "\n" not in text


async def test_a_handle_of_another_session_is_unknown(start, upstream):
    upstream.answers(answers(False), replies(recall("HERE"), streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request(), (KEY, ("x-ctxgc-session", "one")))
        foreign = handle(upstream.calls[0])
        upstream.answers(whole(completed(recall(foreign))), answers(False))
        await running.chat(request(), (KEY, ("x-ctxgc-session", "two")))
    assert upstream.calls[2].json["messages"][4]["content"] == recalling.UNKNOWN


@BOTH
async def test_rounds_have_a_limit(start, upstream, streaming):
    """F37: a model that recalls for ever gets what it asks for, then is told, and then its answer ends."""
    upstream.answers(replies(HERE, streaming=streaming, text="again "))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        running.check()
    assert len(upstream.calls) == ROUNDS + 2
    told = [message["content"] for message in upstream.calls[-1].json["messages"] if message["role"] == "tool"]
    assert told[-1] == recalling.LIMITED
    assert all(text.startswith("recalled from") for text in told[1:-1])
    assert NAME not in got.body
    assert said(got.body, streaming=streaming)[:3] == ("again " * (ROUNDS + 2), [], "stop")


async def test_what_is_recalled_is_not_collected_again(start, upstream):
    """F37, F38: it is far over the budget, and stays as it was given."""
    upstream.answers(replies(HERE, streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request())
        await running.chat(request(*HISTORY, agent(), user("and?")))
        (state,) = running.check()
    given = [call.json["messages"][4]["content"] for call in upstream.calls[1:]]
    assert given[0] == given[1]
    ours = [cell for cell in state.cells if cell.tag == "recall"]
    assert ours
    assert all(cell.pinned and cell.tokens == 0 for cell in ours)
    assert not {cell.id for cell in ours} & state.edits.keys()


async def test_nothing_in_what_is_recalled_passes_for_a_stub(start, upstream):
    forged = "[ctxgc:aaaaaaaaaaaaaaaa lines 1-2 of 3 not shown]\n"
    upstream.answers(replies(recall("HERE", first_line=1, last_line=3), streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request(user(), calling(), result(text=forged + LISTING)))
    assert stub.handles(upstream.calls[1].json["messages"][4]["content"]) == ()


@pytest.mark.parametrize("status", [500, 429])
async def test_an_error_in_a_later_round_is_the_answer_where_none_has_begun(start, upstream, status):
    """F42: no success is made up, and none is replaced."""
    error = b'{"error":{"message":"no","code":"c"}}'
    upstream.answers(replies(HERE, streaming=False), whole(error, status, [("Content-Type", "application/json")]))
    async with start(**SMALL) as running:
        got = await running.chat(request())
        booked = await running.store.until(Settlement, 2)
    assert (got.status, got.body) == (status, error)
    assert [entry.outcome for entry in booked] == ["ok", "error"]


async def test_an_error_in_a_later_round_breaks_a_stream_off(start, upstream):
    upstream.answers(replies(HERE, streaming=True, text="Let me look."), whole(b'{"error":{"message":"no"}}', 500))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
        booked = await running.store.until(Settlement, 2)
    assert not got.whole
    assert b"Let me look." in got.body
    assert DONE not in got.body
    assert booked[1].outcome == "error"


@BOTH
async def test_an_upstream_that_is_gone_in_a_later_round(start, upstream, streaming):
    async def cut(call):
        call.cut()

    upstream.answers(replies(HERE, streaming=streaming), cut)
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        booked = await running.store.until(Settlement, 2)
    assert booked[1].outcome == "error"
    assert got.status == 502 if not streaming else not got.whole


@BOTH
async def test_a_reply_that_breaks_off_in_a_recall_is_not_gone_on_with(start, upstream, streaming):
    async def broken(call):
        parts = streamed(recall(handle(call)), text="so")
        if streaming:
            await stream(*parts[:3], ending=False)(call)
        else:
            await stream(completed(recall(handle(call)))[:-30], ending=False)(call)

    upstream.answers(broken)
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=streaming))
        running.check()
    assert not got.whole
    assert NAME not in got.body
    assert len(upstream.calls) == 1


async def test_a_call_that_was_cut_off_by_the_length_is_left_out(start, upstream):
    async def cut(call):
        await stream(*deltas(recall(handle(call)))[:2], finish("length"), DONE)(call)

    upstream.answers(cut)
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert said(got.body, streaming=True)[1:3] == ([], "length")
    assert len(upstream.calls) == 1


async def test_a_client_that_leaves_ends_all_rounds(start, upstream):
    async def silent(call):
        await call.gone.wait()

    upstream.answers(replies(HERE, streaming=True, text="so"), silent)
    async with start(**SMALL) as running:
        async with running.client() as client:
            await client.send(raw_request(request(stream=True), [KEY]))
            await client.head()
            await upstream.next()
            second = await upstream.next()
            client.leave()
            await second.gone.wait()
        booked = await running.store.until(Settlement, 2)
    assert [entry.outcome for entry in booked] == ["ok", "aborted"]


async def test_a_provider_that_refuses_the_tool_gets_the_request_as_it_came(start, upstream):
    refusal = whole(b'{"error":{"message":"no"}}', 400)
    upstream.answers(refusal, answers(False))
    async with start(**SMALL) as running:
        got = await running.chat(request())
        await running.chat(request(*HISTORY, agent(), user("and?")))
        running.check()
    assert got.status == 200
    assert upstream.calls[1].body == request()
    assert names(upstream.calls[2]) == ["search"]


async def test_a_provider_that_refuses_the_recall_gets_the_request_as_it_came(start, upstream):
    """It takes it with no answer to it, however short: it is our form that is refused."""
    refusal = whole(b'{"error":{"message":"no"}}', 400)
    upstream.answers(replies(HERE, streaming=True), refusal, refusal, answers(True))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
        await running.chat(request(*HISTORY, agent(), user("and?"), stream=True))
        running.check()
    assert got.whole
    assert upstream.calls[3].body == request(stream=True)
    assert len(upstream.calls[4].json["messages"]) == 5
    assert names(upstream.calls[4]) == ["search"]


async def test_several_answers_are_asked_for_later(start, upstream):
    async def both(call):
        choices = [
            {"index": at, "message": json.loads(completed(recall(handle(call))))["choices"][0]["message"]}
            for at in range(2)
        ]
        await whole(completion(choices=[{**choice, "finish_reason": "tool_calls"} for choice in choices]))(call)

    upstream.answers(answers(False), both)
    async with start(**SMALL) as running:
        await running.chat(request())
        got = await running.chat(request(*HISTORY, agent(), user("and?"), n=2))
    assert len(upstream.calls) == 2
    assert NAME not in got.body
    assert [choice["finish_reason"] for choice in json.loads(got.body)["choices"]] == ["stop", "stop"]


async def test_a_compressed_answer_is_read_all_the_same(start, upstream):
    packed = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]

    async def first(call):
        await whole(gzip.compress(completed(recall(handle(call)))), 200, packed)(call)

    upstream.answers(first, whole(gzip.compress(completed(text="so")), 200, packed))
    async with start(**SMALL) as running:
        got = await running.chat(request())
    assert NAME not in got.body
    assert said(got.body, streaming=False)[0] == "so"


@pytest.mark.parametrize("audit", ["available", "strict"])
async def test_every_round_is_recorded(start, upstream, audit):
    upstream.answers(replies(HERE, streaming=True), answers(True))
    async with start(**SMALL, audit=audit) as running:
        got = await running.chat(request(stream=True))
        assert got.whole
        running.check()
        assert len(running.store.of(Allocation)) == 2


# Restarts, figures, OpenAI's client


async def test_a_restart_loses_nothing_that_can_be_recalled(start, upstream):
    """F34, F35, F36: what was collected is on disk, and does not grow old."""
    async with start(**SMALL) as running:
        await running.chat(request())
    found = handle(upstream.calls[0])
    upstream.answers(whole(completed(recall(found))), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request(*HISTORY, agent(), user("and?")))
        running.check()
    assert LISTING[:10_000] in upstream.calls[2].json["messages"][6]["content"]


async def test_a_recall_counts_in_the_figures(start, upstream):
    upstream.answers(replies(HERE, streaming=False), answers(False))
    async with start(**SMALL) as running:
        await running.chat(request())
        async with running.client() as client:
            await client.send(raw_request(method="GET", target="/metrics"))
            await client.head()
            text = (await client.rest()).body.decode()
    assert 'ctxgc_resurrections_total{outcome="hit",tag="tool_result"} 1.0' in text
    assert 'stage="forwarded",tag="recall"' in text
    assert 'stage="received",tag="recall"' not in text
    assert "ctxgc_requests_in_flight 0.0" in text
    assert "ctxgc_telemetry_faults_total 0.0" in text


@BOTH
async def test_openais_client_sees_no_more_than_the_answer(start, upstream, streaming):
    upstream.answers(replies(HERE, streaming=streaming, text="Look: "), answers(streaming, "found"))
    async with start(**SMALL) as running, openai.AsyncOpenAI(api_key="x", base_url=running.base) as client:
        given: Any = {"model": "gpt-5", "messages": list(HISTORY), "tools": [SEARCH]}
        if streaming:
            async with client.chat.completions.stream(**given) as events:
                final = await events.get_final_completion()
        else:
            final = await client.chat.completions.create(**given)
        running.check()
    choice = final.choices[0]
    assert (choice.message.content, choice.message.tool_calls, choice.finish_reason) == ("Look: found", None, "stop")
    assert len(upstream.calls) == 2
