"""A turn of the script as chat completions sends it: one JSON object, or chunks of a stream.

Rule: both forms say the same, and nothing in them depends on when or where they are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ctxgc.core.journal import Usage
from ctxgc.demo.script import Turn

_CREATED = 1_741_680_000
_TEXT, _ARGUMENTS = 48, 32
"""Characters of text and of arguments in one chunk."""


def whole(turn: Turn, number: int, model: str, usage: Usage) -> Mapping[str, object]:
    """The answer as one object."""
    choice = {"index": 0, "message": message(turn), "logprobs": None, "finish_reason": _finish(turn)}
    return {**_head(number, model, "chat.completion"), "choices": [choice], "usage": usage_json(usage)}


def message(turn: Turn) -> dict[str, object]:
    """The assistant message that a turn is: without text its content is null, without calls it has no list of them."""
    said: dict[str, object] = {"role": "assistant", "content": turn.text or None}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in turn.calls
    ]
    return {**said, "tool_calls": calls} if calls else said


def stream(turn: Turn, number: int, model: str, usage: Usage | None) -> Iterator[bytes]:
    """The answer as server-sent events; with ``usage``, a chunk for that stands before the end."""
    head = _head(number, model, "chat.completion.chunk")
    yield _event({**head, "choices": [_choice({"role": "assistant", "content": ""})]})
    for delta in _deltas(turn):
        yield _event({**head, "choices": [_choice(delta)]})
    yield _event({**head, "choices": [_choice({}, _finish(turn))]})
    if usage is not None:
        yield _event({**head, "choices": [], "usage": usage_json(usage)})
    yield b"data: [DONE]\n\n"


def usage_json(usage: Usage) -> Mapping[str, object]:
    """The usage as OpenAI reports it: cached tokens are a part of the prompt's."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _deltas(turn: Turn) -> Iterator[Mapping[str, object]]:
    for part in _pieces(turn.text, _TEXT):
        yield {"content": part}
    for index, call in enumerate(turn.calls):
        opening = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": opening}]}
        for part in _pieces(call.arguments, _ARGUMENTS):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def _choice(delta: Mapping[str, object], finish: str | None = None) -> Mapping[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _finish(turn: Turn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _head(number: int, model: str, kind: str) -> Mapping[str, object]:
    return {"id": f"chatcmpl-demo{number:04}", "object": kind, "created": _CREATED + number, "model": model}


def _event(chunk: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(chunk, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
