"""A model that recalls: its answers, whole or streamed, and requests that offer it the tool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ctxgc.core import stub
from ctxgc.session.reading import TOOL_NAME
from tests.proxy.bodies import LISTING, Dict, body, calling, result, user
from tests.proxy.upstream import DONE, Answer, Call, completion, event, finish, stream, usage, whole

SEARCH = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
NAME = TOOL_NAME.encode()


def request(*messages: Dict, **more: Any) -> bytes:
    """A request of an agent with one tool, whose last message is a long answer of it if nothing else is said."""
    return body(*(messages or HISTORY), **{"tools": [SEARCH], **more})


HISTORY = (user(), calling(), result())


def handle(call: Call) -> str:
    """The handle that the model sees in what it was sent."""
    return stub.handles(call.json["messages"][2]["content"])[0]


def made(index: int, name: str, arguments: str, call_id: str) -> Dict:
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def recall(found: str, index: int = 0, call_id: str = "r1", **asked: Any) -> Dict:
    return made(index, TOOL_NAME, json.dumps({"handle": found, **asked}), call_id)


def search(index: int = 0, call_id: str = "s1") -> Dict:
    return made(index, "search", '{"q":2}', call_id)


def delta(**said: Any) -> bytes:
    return event(choices=[{"index": 0, "delta": said, "finish_reason": None}])


def deltas(call: Dict) -> list[bytes]:
    """A call as OpenAI streams it: first its name, then its arguments in parts."""
    text = call["function"]["arguments"]
    first = {**call, "function": {**call["function"], "arguments": ""}}
    parts = [text[at : at + 7] for at in range(0, len(text), 7)]
    rest = [delta(tool_calls=[{"index": call["index"], "function": {"arguments": part}}]) for part in parts]
    return [delta(role="assistant", content=None, tool_calls=[first]), *rest]


def streamed(*calls: Dict, text: str = "", counted: bool = False) -> list[bytes]:
    """The pieces of a streamed reply."""
    said = [event(part) for part in text.split("|") if part]
    parts = [part for call in calls for part in deltas(call)]
    return [*said, *parts, finish("tool_calls" if calls else "stop"), *([usage()] if counted else []), DONE]


def completed(*calls: Dict, text: str | None = None, **message: Any) -> bytes:
    """The body of a whole reply."""
    made = [{key: value for key, value in call.items() if key != "index"} for call in calls]
    called = {"tool_calls": made} if calls else {}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **called, **message},
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return completion(choices=[choice])


def replies(*calls: Dict, streaming: bool, text: str = "") -> Answer:
    """A reply with calls, streamed or whole; ``HERE`` for a handle is the one that the request shows."""

    async def answer(call: Call) -> None:
        shown = json.loads(json.dumps(calls).replace("HERE", handle(call)))
        reply = stream(*streamed(*shown, text=text)) if streaming else whole(completed(*shown, text=text or None))
        await reply(call)

    return answer


def said(data: bytes, *, streaming: bool) -> tuple[str, list[Dict], str, Dict | None]:
    """What a client makes of an answer: its text, its calls, its finish and its usage."""
    if not streaming:
        value = json.loads(data)
        choice = value["choices"][0]
        message = choice["message"]
        return message["content"] or "", message.get("tool_calls", []), choice["finish_reason"], value.get("usage")
    chunks = [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: {")]
    return _joined(chunks)


def _joined(chunks: Sequence[Dict]) -> tuple[str, list[Dict], str, Dict | None]:
    text, finishes, used = "", [], None
    calls: dict[int, Dict] = {}
    for chunk in chunks:
        used = chunk.get("usage") or used
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            finishes += [choice["finish_reason"]] if choice["finish_reason"] else []
            for part in choice["delta"].get("tool_calls", []):
                call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] += part.get("id", "")
                call["name"] += part["function"].get("name", "")
                call["arguments"] += part["function"].get("arguments", "")
    assert list(calls) == list(range(len(calls)))
    assert len(finishes) <= 1
    return text, list(calls.values()), "".join(finishes), used


__all__ = ["DONE", "LISTING", "event", "finish", "stream", "usage", "whole"]
