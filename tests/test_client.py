"""``ctxgc.wrap`` around the real client, against a real server: sync and async, streamed and not, and its errors."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

import ctxgc
from ctxgc.core import stub
from ctxgc.core.journal import Allocation, Settlement, decode
from ctxgc.policies.truncate import Truncate
from ctxgc.store import Store
from tests.chat_server import ChatServer, calls, chat_server, text
from tests.session.scripts import LONG, exchange, memory, result, schema, system, user

SMALL = (Truncate(budget=64),)
OPENING = [system(), user()]
GROWN = [*OPENING, *exchange(1)]


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.replies, running.bodies, running.breaks = [], [], False
    return running


@pytest.fixture
def store() -> Iterator[Store]:
    with memory() as opened:
        yield opened


@contextmanager
def client(server: ChatServer, store: Store, **options: Any) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        yield ctxgc.wrap(real, store=store, policies=options.pop("policies", SMALL), **options)


def create(wrapped: Any, messages: list[Any], **more: Any) -> Any:
    return wrapped.chat.completions.create(model="gpt-5", messages=messages, **more)


def entries(store: Store, kind: type[Any]) -> list[Any]:
    """The entries of a kind, in all sessions."""
    for _ in range(2):  # what waits behind a batch is sent when that is done
        store.flush()
    found = (decode(stored.body) for row in store.sessions() for stored in store.entries(row.key))
    return [entry for entry in found if isinstance(entry, kind)]


def settled(store: Store) -> list[tuple[str, int]]:
    """How calls ended, with their input tokens as reported."""
    return [(one.outcome, one.usage.input if one.usage else 0) for one in entries(store, Settlement)]


# What is sent and what comes back


def test_results_are_collected_on_their_way_out_and_replies_come_back_as_they_are(server, store) -> None:
    server.replies = [text("hello")]
    with client(server, store) as wrapped:
        reply = create(wrapped, GROWN)
    assert type(reply).__name__ == "ChatCompletion"
    assert reply.choices[0].message.content == "hello"
    assert "[ctxgc:" in server.bodies[0]["messages"][3]["content"]
    assert server.bodies[0]["messages"][:3] == GROWN[:3]
    assert settled(store) == [("ok", 120)]


def test_other_parameters_go_through(server, store) -> None:
    with client(server, store) as wrapped:
        create(wrapped, OPENING, tools=[schema()], temperature=0.5, seed=7, extra_body={"x": 1}, stop=openai.NOT_GIVEN)
    body = server.bodies[0]
    assert (body["tools"], body["temperature"], body["seed"], body["x"]) == ([schema()], 0.5, 7, 1)
    assert entries(store, Allocation)[0].toolset == 0


def test_a_tool_loop_with_the_clients_own_messages_is_one_session(server, store) -> None:
    server.replies = [calls("search"), calls("search", "read"), text("done")]
    messages: list[Any] = [*OPENING]
    with client(server, store) as wrapped:
        while True:
            message = create(wrapped, messages).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                break
            messages += [result(one.id, LONG) for one in message.tool_calls]
        wrapped.ctxgc.flush()
    sent = [body["messages"] for body in server.bodies]
    assert sent[1] == sent[2][:4]
    assert [message["role"] for message in sent[2]] == [
        "system",
        "user",
        *("assistant", "tool"),
        *("assistant", "tool", "tool"),
    ]
    assert len(store.sessions()) == 1
    assert settled(store) == [("ok", 120)] * 3


def test_conversations_are_told_apart_by_their_histories(server, store) -> None:
    with client(server, store) as wrapped:
        for task in ("one", "another", "one"):
            create(wrapped, [system(), user(task)])
    assert len(entries(store, Allocation)) == 3
    assert len({row.key for row in store.sessions()}) == 2


def test_a_stream_comes_through_chunk_by_chunk(server, store) -> None:
    server.replies = [text("one two three")]
    with client(server, store) as wrapped:
        stream = create(wrapped, GROWN, stream=True)
        words = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
    assert words == [None, "one", "two", "three", None]
    assert "[ctxgc:" in server.bodies[0]["messages"][3]["content"]
    assert settled(store) == [("ok", 120)]


@pytest.mark.parametrize("way", ["next", "with", "close"])
def test_a_stream_can_be_used_in_every_way_of_the_clients_own(server, store, way: str) -> None:
    server.replies = [text("one two three")]
    with client(server, store) as wrapped:
        stream = create(wrapped, OPENING, stream=True)
        assert stream.response.status_code == 200
        if way == "next":
            assert next(stream).choices[0].delta.role == "assistant"
            assert len(list(stream)) == 5
            with pytest.raises(StopIteration):
                next(stream)
        elif way == "with":
            with stream as same:
                assert next(iter(same)).id == "chatcmpl-1"
        else:
            stream.close()
    assert settled(store) == [("ok", 120) if way == "next" else ("partial", 0)]


def test_a_stream_that_is_left_is_settled(server, store) -> None:
    server.replies = [text("one two three")]
    with client(server, store) as wrapped:
        for _ in create(wrapped, OPENING, stream=True):
            break
    assert settled(store) == [("partial", 0)]


def test_a_stream_that_breaks_off_raises_what_the_client_raises(server, store) -> None:
    server.replies, server.breaks = [text("one two three")], True
    with client(server, store) as wrapped, pytest.raises(openai.APIConnectionError):
        list(create(wrapped, OPENING, stream=True))
    assert settled(store) == [("partial", 0)]


def test_the_clients_stream_helper_works(server, store) -> None:
    server.replies = [text("one two")]
    with client(server, store) as wrapped, wrapped.chat.completions.stream(model="gpt-5", messages=GROWN) as stream:
        assert stream.get_final_completion().choices[0].message.content == "onetwo"
    assert "[ctxgc:" in server.bodies[0]["messages"][3]["content"]
    assert settled(store) == [("ok", 120)]


def test_raw_responses_come_through(server, store) -> None:
    server.replies = [text("hello")]
    with client(server, store) as wrapped:
        raw = wrapped.chat.completions.with_raw_response.create(model="gpt-5", messages=GROWN)
        assert raw.parse().choices[0].message.content == "hello"
    assert settled(store) == [("ok", 0)]


# Errors


@pytest.mark.parametrize(("status", "error"), [(400, openai.BadRequestError), (429, openai.RateLimitError)])
@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_upstream_are_raised_as_they_are(server, store, status, error, stream) -> None:
    server.replies = [(status, {"message": "not so", "type": "t"})]
    with client(server, store) as wrapped, pytest.raises(error, match="not so"):
        create(wrapped, OPENING, stream=stream)
    assert settled(store) == [("error", 0)]


def test_a_message_that_the_client_refuses_is_refused_by_the_client(server, store) -> None:
    with client(server, store) as wrapped, pytest.raises(TypeError):
        create(wrapped, [user(), {"role": "user", "content": object()}])
    assert server.bodies == []


def test_a_fault_in_booking_does_not_take_the_answer_away(server, store, monkeypatch) -> None:
    def fail(*_args: Any, **_more: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("ctxgc.client.settle", fail)
    with client(server, store) as wrapped:
        assert create(wrapped, OPENING).choices[0].message.content == "ok"
        assert len(list(create(wrapped, OPENING, stream=True))) == 4


def test_a_store_that_is_closed_stops_nothing(server) -> None:
    with memory() as store:
        pass
    with client(server, store) as wrapped:
        assert create(wrapped, OPENING).choices[0].message.content == "ok"


@pytest.mark.parametrize("thing", [object(), None, 7])
def test_what_is_no_client_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="not an OpenAI client"):
        ctxgc.wrap(thing)


# The client


def test_the_clients_own_self_is_left_alone(server, store) -> None:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        ctxgc.wrap(real, store=store, policies=SMALL)
        create(real, GROWN)
    assert server.bodies[0]["messages"] == GROWN
    assert store.sessions() == []


async def test_asynchronously(server, store) -> None:
    server.replies = [text("hello"), text("one two")]
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        wrapped = ctxgc.wrap(real, store=store, policies=SMALL)
        reply = await create(wrapped, GROWN)
        stream = await create(wrapped, [*GROWN, *exchange(2, "r")], stream=True)
        words = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
    assert reply.choices[0].message.content == "hello"
    assert words == [None, "one", "two", None]
    first, second = (body["messages"] for body in server.bodies)
    assert second[:4] == first != GROWN
    assert settled(store) == [("ok", 120)] * 2


@pytest.mark.parametrize("way", ["anext", "with", "close"])
async def test_an_asynchronous_stream_in_every_way(server, store, way: str) -> None:
    server.replies = [text("one two")]
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        stream = await create(ctxgc.wrap(real, store=store), OPENING, stream=True)
        if way == "anext":
            assert (await anext(stream)).id == "chatcmpl-1"
            assert len([chunk async for chunk in stream]) == 4
        elif way == "with":
            async with stream as same:
                assert (await anext(same)).id == "chatcmpl-1"
        else:
            await stream.close()
    assert settled(store) == [("ok", 120) if way == "anext" else ("partial", 0)]


async def test_asynchronous_errors(server, store) -> None:
    server.replies = [(500, {"message": "broken"})]
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        with pytest.raises(openai.InternalServerError):
            await create(ctxgc.wrap(real, store=store), OPENING)
    assert settled(store) == [("error", 0)]


async def test_conversations_at_the_same_time(server, store) -> None:
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        wrapped = ctxgc.wrap(real, store=store, policies=SMALL)
        tasks = [[system(), user(f"task {number}"), *exchange(number)] for number in range(8)]
        await asyncio.gather(*(create(wrapped, task) for task in tasks))
        wrapped.ctxgc.flush()
    assert len(store.sessions()) == 8
    assert all("[ctxgc:" in body["messages"][3]["content"] for body in server.bodies)
    assert settled(store) == [("ok", 120)] * 8


def test_ctxgc_imports_no_client_library() -> None:
    code = "import ctxgc, ctxgc.client, ctxgc.library, sys; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Negative controls


def test_control_an_unwrapped_client_sends_everything(server) -> None:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        create(real, GROWN)
    assert "[ctxgc:" not in server.bodies[0]["messages"][3]["content"]


def test_control_a_call_that_is_never_settled_is_noticed(server, store) -> None:
    with client(server, store) as wrapped:
        stream = create(wrapped, OPENING, stream=True)
        assert settled(store) == []
        stream.close()


def test_a_copy_of_a_wrapped_client_is_wrapped(server, store) -> None:
    with client(server, store) as wrapped:
        copy = wrapped.with_options(timeout=5)
        create(copy, [*OPENING, *exchange(0)])
        copy.ctxgc.flush()
    assert "[ctxgc:" in server.bodies[0]["messages"][3]["content"]
    assert settled(store) == [("ok", 120)]


def test_what_a_stub_stands_for_can_be_read_back(server, store) -> None:
    messages = [*OPENING, *exchange(0)]
    with client(server, store) as wrapped:
        create(wrapped, messages)
        (handle,) = stub.handles(server.bodies[0]["messages"][3]["content"])
        assert wrapped.ctxgc.recall(handle) == messages[3]["content"]
        with pytest.raises(ctxgc.UnknownHandle):
            wrapped.ctxgc.recall("a" * 16)
