"""A tool of ctxgc's own in a chat completion's request: behind the client's tools, spliced into the bytes as they came.

Rule: pure, and the same bytes every time; a request without tools of its own is given none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from ctxgc.core import spans

TOOLS = "tools"


def tool(name: str, description: str, parameters: Mapping[str, object]) -> bytes:
    """A function tool as JSON without spaces."""
    function = {"name": name, "description": description, "parameters": parameters}
    return json.dumps({"type": "function", "function": function}, separators=(",", ":"), ensure_ascii=False).encode()


class _Named(msgspec.Struct):
    name: Any = None


class _Tool(msgspec.Struct):
    name: Any = None
    function: _Named | None = None
    custom: _Named | None = None


_TOOLS = msgspec.json.Decoder(list[_Tool])


def room(tools: bytes, name: str) -> bool:
    """Whether ``tools`` is a list that holds a tool, and none of that name. Lists that are not plain have no room."""
    try:
        found = _TOOLS.decode(tools)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    named = (part.name for tool in found for part in (tool, tool.function, tool.custom) if part is not None)
    return bool(found) and name not in named


def offer(around: bytes, history: str, tool: bytes) -> bytes:
    """The part of a body before (or behind) the messages of ``history``, with ``tool`` as the last of its tools.

    A part without tools comes back as it is. Raises ``Malformed``.
    """
    opening, closing = (b"", b"]}") if around.lstrip().startswith(b"{") else (b'{"%b":[' % history.encode(), b"")
    whole = b"".join((opening, around, closing))
    tools = spans.find(whole, (TOOLS,))
    if tools is None:
        return around
    last = spans.elements(tools.of(whole))[-1:]
    if not last:
        return around
    at = tools.start + last[0].end - len(opening)
    return b"".join((around[:at], b",", tool, around[at:]))
