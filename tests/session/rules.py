"""What may become of a request, once more: written from what servers refuse, and from nothing of ctxgc's.

It knows a body as parsed JSON only, and judges the one that was sent beside the one that came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

Dict = dict[str, Any]

TRUSTED = ("system", "developer", "user")
RESULTS = ("tool", "function")
MARKERS = ("cache_control", "prompt_cache_breakpoint")


def broken(received: bytes, sent: bytes) -> list[str]:
    """What is wrong with ``sent`` in the place of ``received``: one sentence for each rule that it breaks."""
    try:
        before, after = json.loads(received), json.loads(sent)
    except ValueError:
        return ["it is no JSON"]
    found = set(_fields(before, after))
    old, new = before["messages"], after["messages"]
    if len(old) != len(new):
        return [*found, "messages came or went"]
    for one, other in zip(old, new, strict=True):
        found.update(_message(one, other))
    if unpaired(new) - unpaired(old):
        found.add("a call and its result were parted")
    if _count(after) > _count(before):
        found.add("there are more cache markers")
    return sorted(found)


def unpaired(messages: Sequence[Dict]) -> set[tuple[str, int]]:
    """Calls without a result before the next message of another role, and results without a call, by message."""
    found: set[tuple[str, int]] = set()
    opened: dict[str, int] = {}
    asked: set[str] = set()
    for at, message in enumerate(messages):
        if message.get("role") in RESULTS:
            answered = message.get("tool_call_id") or message.get("name")
            opened.pop(str(answered), None)
            found |= set() if str(answered) in asked else {("orphan", at)}
            continue
        found |= {("unanswered", place) for place in opened.values()}
        asked = {str(one.get("id")) for one in message.get("tool_calls") or ()}
        if message.get("function_call"):
            asked.add(str(message["function_call"].get("name")))
        opened = dict.fromkeys(asked, at)
    return found


def _fields(before: Dict, after: Dict) -> Iterator[str]:
    if list(before) != list(after) or any(before[key] != after[key] for key in before if key != "messages"):
        yield "something besides the messages changed"


def _message(old: Dict, new: Dict) -> Iterator[str]:
    old = {key: value for key, value in old.items() if key != "ctxgc"}
    if old == new:
        return
    role = old.get("role")
    if role in TRUSTED:
        yield "a message of the user or the system changed"
    elif role == "assistant":
        yield from _agent(old, new)
    else:
        if {**old, "content": 0} != {**new, "content": 0}:
            yield "a result changed in more than its text"
        yield from _content(old.get("content"), new.get("content"))


def _agent(old: Dict, new: Dict) -> Iterator[str]:
    thoughts = ("reasoning_content", "reasoning")
    if any(old.get(key) != new.get(key) and new.get(key) != " " for key in thoughts):
        yield "reasoning changed and is not blank"
    if any(key in old for key in ("reasoning_details", "thinking_blocks")):
        yield "signed reasoning was touched"
    if {**old, **dict.fromkeys(thoughts)} != {**new, **dict.fromkeys(thoughts)}:
        yield "what the agent said or called changed"


def _content(old: object, new: object) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str):
        yield from _text(old, new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _part(one, other)
    elif old != new:
        yield "the shape of a result changed"


def _part(old: object, new: object) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict) and old.get("type") == "text":
        if {**old, "text": 0} != {**new, "text": 0}:
            yield "a part changed in more than its text"
        old, new = old.get("text"), new.get("text")
    if isinstance(old, str) and isinstance(new, str):
        yield from _text(old, new)
    elif old != new:
        yield "a part that is no text changed"


def _text(old: str, new: str) -> Iterator[str]:
    if old.strip() and not new.strip():
        yield "a text became empty"
    if _lone(new) and not _lone(old):
        yield "a lone surrogate came into a text"
    if old != new and "ctxgc" not in new:
        yield "a text changed and does not say so"


def _lone(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _count(value: object) -> int:
    if isinstance(value, dict):
        return sum((key in MARKERS) + _count(inner) for key, inner in value.items())
    return sum(map(_count, value)) if isinstance(value, list) else 0
