from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from ctxgc.demo.answers import message
from ctxgc.demo.model import ScriptedModel
from tests.demo.scripts import short_session

ASK = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "What is in app.log?"}]
CALL = {"id": "call_0", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel(short_session()) as running:
        yield running


async def post(model: ScriptedModel, **body: object) -> tuple[int, str, bytes]:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{model.base_url}/chat/completions", json={"model": "gpt-5", **body}) as response,
    ):
        return response.status, response.content_type, await response.read()


def events(raw: bytes) -> list[Any]:
    blocks = raw.decode().split("\n\n")
    assert (blocks[-2], blocks[-1]) == ("data: [DONE]", "")
    return [json.loads(block.removeprefix("data: ")) for block in blocks[:-2]]


def joined(chunks: list[Any]) -> tuple[dict[str, object], str]:
    """The message and the finish reason of a stream."""
    text, calls, finish = "", dict[int, Any](), ""
    for choice in (choice for chunk in chunks for choice in chunk["choices"]):
        text += choice["delta"].get("content") or ""
        finish = choice["finish_reason"] or finish
        for part in choice["delta"].get("tool_calls", ()):
            if "id" in part:
                calls[part["index"]] = {key: part[key] for key in ("id", "type", "function")}
            else:
                calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
    said: dict[str, object] = {"role": "assistant", "content": text or None}
    return ({**said, "tool_calls": [calls[index] for index in sorted(calls)]} if calls else said), finish


@pytest.mark.parametrize("number", range(5))
async def test_stream_and_whole_answer_say_the_same(model: ScriptedModel, number: int) -> None:
    history = [*ASK, *({"role": "assistant", "content": str(at)} for at in range(number))]
    _, kind, whole = await post(model, messages=history)
    _, stream_kind, stream = await post(model, messages=history, stream=True, stream_options={"include_usage": True})
    assert (kind, stream_kind) == ("application/json", "text/event-stream")
    answer, chunks = json.loads(whole), events(stream)
    choice = answer["choices"][0]
    assert joined(chunks) == (choice["message"], choice["finish_reason"])
    assert choice["message"] == message(model.scenario.turns[number])
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == answer["usage"]
    assert {chunk["id"] for chunk in chunks} == {answer["id"]}


async def test_a_stream_has_usage_only_if_asked(model: ScriptedModel) -> None:
    _, _, raw = await post(model, messages=ASK, stream=True)
    assert not any("usage" in chunk for chunk in events(raw))


async def test_a_call_comes_in_fragments(model: ScriptedModel) -> None:
    _, _, raw = await post(model, messages=ASK, stream=True)
    parts = [part for chunk in events(raw) for part in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert [part["index"] for part in parts] == [0, 0, 1, 1]
    assert parts[0]["function"] == {"name": "read_file", "arguments": ""}


async def test_it_keeps_the_bodies_it_received(model: ScriptedModel) -> None:
    await post(model, messages=ASK)
    assert [json.loads(body)["messages"] for body in model.requests] == [ASK]
    assert len(model.usages) == len(model.headers) == 1


async def test_it_lists_itself(model: ScriptedModel) -> None:
    async with aiohttp.ClientSession() as http, http.get(f"{model.base_url}/models") as response:
        assert [row["id"] for row in (await response.json())["data"]] == ["gpt-5"]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [*ASK, {"role": "tool", "tool_call_id": "call_0", "content": "x"}],
        [*ASK, {"role": "assistant", "content": None, "tool_calls": [CALL]}],
        [*ASK, {"role": "assistant", "content": None, "tool_calls": [CALL]}, ASK[1]],
        [*ASK, *({"role": "assistant", "content": "x"} for _ in range(5))],
    ],
    ids=["empty", "result without call", "call without result", "call passed over", "past the end"],
)
async def test_what_a_provider_would_refuse_is_refused(model: ScriptedModel, messages: list[object]) -> None:
    status, _, raw = await post(model, messages=messages)
    assert status == 400
    assert json.loads(raw)["error"]["type"] == "invalid_request_error"
    assert (len(model.requests), model.usages) == (1, [])


async def test_what_is_no_json_is_refused(model: ScriptedModel) -> None:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{model.base_url}/chat/completions", data=b"{") as response,
    ):
        assert response.status == 400
