"""What a message says, read from its bytes alone: who spoke, what a reader sees of it, and which calls it makes.

Rule: independent of the codec that edits are made with, so that a fault of that cannot hide itself here. What cannot be
read says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Use(StrEnum):
    """How a text is used: said, thought, given to a tool, or given back by one."""

    TEXT = "text"
    THINKING = "thinking"
    ARGUMENTS = "arguments"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Said:
    """A message, read: its role, its texts, the calls it makes (id, tool's name), and the id of the call it answers."""

    role: str = ""
    texts: tuple[tuple[Use, str], ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    answers: str = ""

    @property
    def results(self) -> tuple[str, ...]:
        """The texts that a tool gave."""
        return tuple(text for use, text in self.texts if use is Use.RESULT)


def said(raw: bytes) -> Said:
    """Read a chat message."""
    message = _load(raw)
    if not isinstance(message, dict):
        return Said()
    role, answers = message.get("role"), message.get("tool_call_id", message.get("name"))
    calls = tuple(_calls(message))
    return Said(
        role=role if isinstance(role, str) else "",
        texts=(*_spoken(message), *((Use.ARGUMENTS, text) for *_, given in calls for text in arguments(given))),
        calls=tuple((call_id, name) for call_id, name, _ in calls),
        answers=answers if isinstance(answers, str) else "",
    )


def arguments(given: str) -> Iterator[str]:
    """The values in a call's arguments: the names of parameters are the tool's words and not the agent's."""
    value = _load(given)
    if isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    else:
        yield given


def _spoken(message: dict[str, object]) -> Iterator[tuple[Use, str]]:
    use = Use.RESULT if message.get("role") in ("tool", "function") else Use.TEXT
    for key in ("reasoning_content", "reasoning"):
        if isinstance(thought := message.get(key), str):
            yield Use.THINKING, thought
    for part in _listed(message.get("content")):
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield use, text


def _calls(message: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """The id, name and arguments of each call; a legacy function has its name for an id."""
    for call in [*_listed(message.get("tool_calls")), {"function": message.get("function_call")}]:
        made = call.get("function") or call.get("custom") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(made, dict):
            name = str(made.get("name"))
            yield str(call.get("id", name)), name, str(made.get("arguments", made.get("input", "")))


def _strings(value: object) -> Iterator[str]:
    """All strings in a value, and numbers as they are written."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed([part for pair in one.items() for part in pair])
        elif isinstance(one, list):
            waiting += reversed(one)
        elif one is not None and not isinstance(one, bool):
            yield str(one)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _load(text: bytes | str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
