"""Requests as agents write them."""

from __future__ import annotations

import json
from typing import Any

Dict = dict[str, Any]

LISTING = "".join(f"line {number} of a long listing that nobody will read to its end\n" for number in range(400))
SMALL = {"policies": ({"name": "truncate", "budget": 64},)}
"""Settings with which ``LISTING`` is cut."""


def user(text: str = "do it") -> Dict:
    return {"role": "user", "content": text}


def agent(text: str = "done") -> Dict:
    return {"role": "assistant", "content": text}


def calling(call_id: str = "call_1", name: str = "search", arguments: str = '{"q":1}') -> Dict:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(call_id: str = "call_1", text: str = LISTING) -> Dict:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def body(*messages: Dict, **more: Any) -> bytes:
    return json.dumps({"model": "gpt-5", "messages": list(messages), **more}, ensure_ascii=False).encode()


def tooled(*, text: str = LISTING, **more: Any) -> bytes:
    """A request whose last message is a tool's long answer."""
    return body(user(), calling(), result(text=text), **more)
