"""OpenAI's own client, through the proxy, as if it were not there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from ctxgc.core.journal import Collection, Settlement, Usage
from tests.proxy.bodies import LISTING, SMALL
from tests.proxy.upstream import DONE, completion, event, finish, pieces, stream, usage, whole

MESSAGES: Any = [{"role": "user", "content": "what is 6 times 7?"}]
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "multiply", "arguments": ""}}


@pytest.fixture
async def client(observing) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="sk-mine", base_url=observing.base, max_retries=0) as client:
        yield client


def delta(**fields: Any) -> bytes:
    return event(choices=[{"index": 0, "delta": fields, "finish_reason": None}])


async def test_a_whole_answer(client, upstream):
    answer = await client.chat.completions.create(model="gpt-5", messages=MESSAGES)
    assert answer.choices[0].message.content == "done"
    assert answer.usage.total_tokens == 14
    assert upstream.calls[0].header("authorization") == b"Bearer sk-mine"


@pytest.mark.parametrize("size", [1, 13, 10_000])
async def test_a_streamed_answer_with_usage(client, observing, upstream, size):
    upstream.answers(stream(*pieces(event("h\xe9l") + event("lo \U0001f600") + finish() + usage() + DONE, size)))
    options = {"include_usage": True}
    chunks = await client.chat.completions.create(model="gpt-5", messages=MESSAGES, stream=True, stream_options=options)
    got = [chunk async for chunk in chunks]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in got if chunk.choices) == "h\xe9llo \U0001f600"
    assert got[-1].usage.prompt_tokens == 11
    assert [settled.usage for settled in await observing.store.until(Settlement)] == [Usage(uncached=11, output=3)]


async def test_a_streamed_tool_call(client, upstream):
    parts = [{**CALL}, *({"index": 0, "function": {"arguments": part}} for part in ('{"a":', "6,", '"b":7}'))]
    upstream.answers(stream(*(delta(tool_calls=[part]) for part in parts), finish("tool_calls"), DONE))
    async with client.chat.completions.stream(model="gpt-5", messages=MESSAGES) as events:
        final = await events.get_final_completion()
    call = final.choices[0].message.tool_calls[0]
    assert (call.id, call.function.name, json.loads(call.function.arguments)) == (
        "call_1",
        "multiply",
        {"a": 6, "b": 7},
    )


async def test_a_whole_tool_call_and_its_result(start, upstream):
    function = {"name": "read", "arguments": "{}"}
    asked = whole(
        completion(message={"content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]})
    )
    upstream.answers(asked, whole())
    async with start(**SMALL) as running, openai.AsyncOpenAI(api_key="x", base_url=running.base) as client:
        first = await client.chat.completions.create(model="gpt-5", messages=MESSAGES)
        message = first.choices[0].message
        history = [*MESSAGES, message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": LISTING}]
        answer = await client.chat.completions.create(model="gpt-5", messages=history)
        assert answer.choices[0].message.content == "done"
        assert len(running.store.of(Collection)) == 1
        running.check()
    sent = upstream.calls[1].json["messages"][2]
    assert sent["tool_call_id"] == "c"
    assert "[ctxgc:" in sent["content"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_errors_are_the_exceptions_they_would_be(client, upstream, status, kind, streaming):
    said = b'{"error": {"message": "so it is", "type": "t", "param": "p", "code": "c"}}'
    upstream.answers(
        whole(said, status, [("Content-Type", "application/json"), ("Retry-After", "9"), ("x-request-id", "r1")])
    )
    with pytest.raises(kind) as caught:
        await client.chat.completions.create(model="gpt-5", messages=MESSAGES, stream=streaming)
    assert (caught.value.code, caught.value.param, caught.value.request_id) == ("c", "p", "r1")
    assert caught.value.response.headers["retry-after"] == "9"


async def test_an_answer_that_breaks_off_is_an_error(client, upstream):
    upstream.answers(stream(event("so"), ending=False))
    chunks = await client.chat.completions.create(model="gpt-5", messages=MESSAGES, stream=True)
    with pytest.raises(Exception, match=r"Connection error|incomplete"):
        _ = [chunk async for chunk in chunks]


async def test_what_the_proxy_itself_refuses_is_an_error_with_its_code(start):
    long: Any = [{"role": "user", "content": "x" * 2000}]
    async with start(body_limit=1000) as running, openai.AsyncOpenAI(api_key="x", base_url=running.base) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            await client.chat.completions.create(model="gpt-5", messages=long)
    assert (caught.value.status_code, caught.value.code) == (413, "too_large")


async def test_the_client_may_stop_in_the_middle(client, observing, upstream):
    async def answer(call):
        await call.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        await call.chunk(event("one"))
        await call.gone.wait()

    upstream.answers(answer)
    chunks = await client.chat.completions.create(model="gpt-5", messages=MESSAGES, stream=True)
    async for _ in chunks:
        break
    await chunks.close()
    (settled,) = await observing.store.until(Settlement)
    assert settled.outcome == "aborted"


async def test_other_endpoints(client, upstream):
    upstream.answers(whole(b'{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"x"}]}'))
    assert [model.id async for model in client.models.list()] == ["m"]


async def test_the_synchronous_client(observing, upstream):
    upstream.answers(whole(), stream(event("a"), event("b"), finish(), DONE))

    def converse() -> tuple[str | None, str]:
        with openai.OpenAI(api_key="sk-mine", base_url=observing.base) as client:
            whole = client.chat.completions.create(model="gpt-5", messages=MESSAGES)
            chunks = client.chat.completions.create(model="gpt-5", messages=MESSAGES, stream=True)
            said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            return whole.choices[0].message.content, said

    assert await asyncio.to_thread(converse) == ("done", "ab")
    assert len(await observing.store.until(Settlement, 2)) == 2
    (state,) = observing.check()
    assert state.calls == 2
