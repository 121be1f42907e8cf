"""The content of messages as the GenAI conventions write it: a JSON list of messages, each a role and its parts.

Rule: only made where it is asked for, of the bytes that left and of the reply as it was read; media are only named.
Form: gen-ai-input-messages.json and gen-ai-output-messages.json of the conventions' repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ctxgc.core.block import Kind
from ctxgc.wire.codec import Reply

Part = dict[str, object]


def told(body: bytes) -> tuple[str, str]:
    """The messages of a chat-completions body and its tool definitions, each as JSON (empty: it has none)."""
    try:
        request = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return "", ""
    if not isinstance(request, dict):
        return "", ""
    messages = request.get("messages")
    tools = request.get("tools")
    said = [_message(one) for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    offered = [_tool(one) for one in tools if isinstance(one, dict)] if isinstance(tools, list) else []
    return _json(said), _json(offered)


def answered(reply: Reply) -> str:
    """What the model said, as JSON (empty: nothing)."""
    parts = [part for block in reply.blocks for part in _block(block.kind, block.text, block.name, block.call_id)]
    return _json([{"role": "assistant", "parts": parts}] if parts else [])


def _message(message: Part) -> Part:
    role = message.get("role")
    if role == "tool":
        call = {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": message.get("content")}
        return {"role": role, "parts": [call]}
    parts = [*_said(message.get("reasoning_content"), "reasoning"), *_said(message.get("content"), "text")]
    calls = message.get("tool_calls")
    parts += [_call(one) for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return {"role": role, "parts": parts}


def _said(content: object, kind: str) -> Iterator[Part]:
    if isinstance(content, str) and content:
        yield {"type": kind, "content": content}
    for one in content if isinstance(content, list) else ():
        if isinstance(one, dict):
            text = one.get("text")
            yield {"type": "text", "content": text} if isinstance(text, str) else {"type": str(one.get("type"))}


def _call(call: Part) -> Part:
    function = call.get("function")
    named = function if isinstance(function, dict) else {}
    return {"type": "tool_call", "id": call.get("id"), "name": named.get("name"), "arguments": named.get("arguments")}


def _tool(tool: Part) -> Part:
    function = tool.get("function")
    return {"type": tool.get("type"), **(function if isinstance(function, dict) else {})}


def _block(kind: Kind, text: str, name: str, call_id: str) -> Iterator[Part]:
    if kind is Kind.TOOL_CALL:
        yield {"type": "tool_call", "id": call_id, "name": name, "arguments": text}
    elif text:
        yield {"type": "reasoning" if kind is Kind.THINKING else "text", "content": text}


def _json(messages: list[Part]) -> str:
    return json.dumps(messages) if messages else ""
