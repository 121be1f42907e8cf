"""A chat-completions history, read exactly, and the rules that it keeps or breaks for itself.

Rule: it is judged by what servers refuse. Numbers are kept as they are spelled and duplicate keys are seen, so that
nothing that differs compares equal; unknown roles and parts are not judged at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

UNREADABLE = "a message is no JSON object"
DUPLICATE_KEY = "a key stands twice in one object"
NO_ROLE = "a message has no role"
UNANSWERED = "a tool call is not answered before the next message of another role"
PENDING = "the last tool calls are not answered"
ORPHAN = "a tool message answers no call of the assistant message before it"
HUSK = "an assistant message has neither content nor calls"
NO_CONTENT = "a message has no content, or none that is text or parts"
BAD_PART = "a content part has no type, or is of type text and has none"
MISPLACED_PART = "a content part is of a type that its role may not have"

Fault = tuple[str, int]
"""A rule, and the number of the message that breaks it."""

NOWHERE = -1
TOOLS = ("tool", "function")
_MARKERS = ("cache_control", "prompt_cache_breakpoint")
_MEDIA = frozenset({"image_url", "input_audio", "file"})
# The parts of OpenAI's reference, by role. Tool results with media are beyond it, and what many servers take.
_PARTS = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", *_MEDIA}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text", *_MEDIA}),
    "function": frozenset({"text"}),
}
_KNOWN_PARTS = frozenset({"text", "refusal", *_MEDIA})


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is spelled: ``1``, ``1.0`` and ``1e0`` differ, and none of them is ``true``."""

    spelling: str


@dataclass(frozen=True, slots=True)
class _Pairs:
    """An object with duplicate keys, whose meaning depends on the reader."""

    items: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message, read. ``fault`` says what is wrong with its JSON, ``markers`` how many cache markers it holds.

    ``calls`` are what an assistant message asks for and ``answer`` what a tool message answers, in keys that a call
    and its result share: ``tool:<id>`` or ``function:<name>``.
    """

    raw: bytes
    body: dict[str, object] = field(default_factory=dict)
    fault: str = ""
    markers: int = 0
    calls: frozenset[str] = frozenset()
    answer: str = ""

    @property
    def role(self) -> object:
        """The role, whatever it is; None where the message has none or cannot be read."""
        return self.body.get("role")


def read(raw: bytes) -> Message:
    """Read a message. The body of one that is no JSON object, or has duplicate keys itself, is empty."""
    markers, duplicates = 0, 0

    def pairs(items: list[tuple[str, object]]) -> dict[str, object] | _Pairs:
        nonlocal markers, duplicates
        found = dict(items)
        markers += sum(key in found for key in _MARKERS)
        duplicates += len(items) - len(found)
        return found if len(found) == len(items) else _Pairs(tuple(items))

    try:
        value = json.loads(
            raw.decode(), object_pairs_hook=pairs, parse_int=_Number, parse_float=_Number, parse_constant=_refuse
        )
    except (ValueError, RecursionError):
        return Message(raw, fault=UNREADABLE)
    body = value if isinstance(value, dict) else {}
    fault = DUPLICATE_KEY if duplicates else "" if isinstance(value, dict) else UNREADABLE
    return Message(raw, body, fault, markers, frozenset(_calls(body)), _answer(body))


def _calls(body: dict[str, object]) -> Iterator[str]:
    if body.get("role") != "assistant":
        return
    calls, legacy = body.get("tool_calls"), body.get("function_call")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield _key("tool", call, "id")
    if isinstance(legacy, dict):
        yield _key("function", legacy, "name")


def _answer(body: dict[str, object]) -> str:
    return _key("function", body, "name") if body.get("role") == "function" else _key("tool", body, "tool_call_id")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _key(kind: str, owner: dict[str, object], member: str) -> str:
    value = owner.get(member)
    return f"{kind}:{value}" if isinstance(value, str) else f"{kind}:"


def faults(messages: Sequence[Message]) -> Iterator[Fault]:
    """Every rule that a history breaks. An unanswered call is the fault of the message that makes it."""
    asked: frozenset[str] = frozenset()
    open_calls: set[str] = set()
    asker = NOWHERE
    for number, message in enumerate(messages):
        if message.role in TOOLS:
            if message.answer not in asked:
                yield ORPHAN, number
            open_calls.discard(message.answer)
        else:
            if open_calls:
                yield UNANSWERED, asker
            asked, open_calls, asker = message.calls, set(message.calls), number
        yield from ((fault, number) for fault in _own_faults(message))
    if open_calls:
        yield PENDING, asker


def _own_faults(message: Message) -> Iterator[str]:
    role, content = message.role, message.body.get("content")
    if message.fault:
        yield message.fault
    if message.fault and not message.body:
        return
    if not isinstance(role, str):
        yield NO_ROLE
    elif role not in _PARTS:
        return
    elif isinstance(content, list):
        yield from (fault for part in content for fault in _part_faults(role, part))
    elif role == "assistant" and content is None:
        if not (message.calls or message.body.get("audio") or message.body.get("refusal")):
            yield HUSK
    elif not isinstance(content, str) and not (role == "function" and content is None):
        yield NO_CONTENT


def _part_faults(role: str, part: object) -> Iterator[str]:
    sort = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, str):  # some servers take them
        return
    if not isinstance(part, dict) or not isinstance(sort, str) or (sort == "text" and not is_text(part)):
        yield BAD_PART
    elif sort in _KNOWN_PARTS and sort not in _PARTS[role]:
        yield MISPLACED_PART


def is_text(part: dict[str, object]) -> bool:
    """Whether a content part is of type text and has one."""
    return part.get("type") == "text" and isinstance(part.get("text"), str)
