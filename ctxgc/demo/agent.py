"""The scripted agent: a plain chat-completions client that calls tools until the user has nothing more to say.

Rule: it knows nothing of ctxgc, and sends every message again exactly as it sent it before.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping

import aiohttp

from ctxgc.demo.script import Scenario
from ctxgc.errors import CtxgcError

Message = dict[str, object]


class DemoFailed(CtxgcError):
    """The demo's own session came to no good end: a request was refused, or a stream broke off."""


async def play_session(
    base_url: str, scenario: Scenario, model: str, progress: Callable[[], None] = lambda: None
) -> list[Message]:
    """Play a session against an API, streaming every second turn, and return its whole history.

    ``progress`` is called after each turn. Raises ``DemoFailed``, ``aiohttp.ClientError``.
    """
    messages: list[Message] = [
        {"role": "system", "content": scenario.system},
        {"role": "user", "content": scenario.task},
    ]
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer demo"}) as http:
        for number, turn in enumerate(scenario.turns):
            body = _body(scenario, model, messages, stream=number % 2 == 0)
            answer = await _ask(http, f"{base_url}/chat/completions", body)
            messages += [answer, *_results(scenario, answer)]
            if turn.user:
                messages.append({"role": "user", "content": turn.user})
            progress()
    return messages


def _body(scenario: Scenario, model: str, messages: list[Message], *, stream: bool) -> bytes:
    options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    body = {"model": model, "messages": messages, "tools": scenario.tools, **options}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def _ask(http: aiohttp.ClientSession, url: str, body: bytes) -> Message:
    async with http.post(url, data=body, headers={"Content-Type": "application/json"}) as response:
        if response.status != 200:
            raise DemoFailed(f"the answer was {response.status}: {(await response.text())[:200]}")
        if response.content_type == "text/event-stream":
            return await _streamed(response)
        answer = await response.json()
        message: Message = answer["choices"][0]["message"]
        return message


async def _streamed(response: aiohttp.ClientResponse) -> Message:
    """The message that the chunks of a stream come to."""
    text, calls = "", dict[int, dict[str, str]]()
    async for delta in _deltas(response):
        text += str(delta.get("content") or "")
        for part in delta.get("tool_calls") or ():  # type: ignore[attr-defined]
            call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
            call["id"] += part.get("id", "")
            for key in ("name", "arguments"):
                call[key] += part["function"].get(key, "")
    message: Message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [_call(calls[index]) for index in sorted(calls)]
    return message


async def _deltas(response: aiohttp.ClientResponse) -> AsyncIterator[Mapping[str, object]]:
    async for line in response.content:
        data = line.strip().removeprefix(b"data: ")
        if data == b"[DONE]":
            return
        for choice in json.loads(data)["choices"] if data else ():
            yield choice["delta"]
    raise DemoFailed("a stream broke off")


def _call(parts: Mapping[str, str]) -> Message:
    function = {"name": parts["name"], "arguments": parts["arguments"]}
    return {"id": parts["id"], "type": "function", "function": function}


def _results(scenario: Scenario, answer: Message) -> list[Message]:
    """What the tools answer to the calls of a message."""
    calls = answer.get("tool_calls")
    made = [str(call["id"]) for call in calls] if isinstance(calls, list) else []
    return [{"role": "tool", "tool_call_id": id, "content": scenario.result(id)} for id in made]
