"""Messages of chat completions, as the example's agent keeps them, and what they take of a window.

Rule: a model is a function of what its window holds, and of nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxgc.errors import CtxgcError
from ctxgc.tokens import MESSAGE_TOKENS, REPLY_TOKENS, TOOLS_TOKENS, count_tool_schema
from ctxgc.tokens.measure import Meter, meter_for

Message = dict[str, Any]
"""A message, or a tool's schema, as the wire format has it."""
Model = Callable[[Sequence[Message], Sequence[Message]], Message]
"""Messages and tools to the assistant's message. Raises ``ModelFailed``."""


class ModelFailed(CtxgcError):
    """The model gave no answer, or none that can be gone on with."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the assistant: its id, the tool, and its arguments as the model wrote them."""

    id: str
    name: str
    arguments: str

    @property
    def given(self) -> Mapping[str, object]:
        """The arguments decoded. Raises ``ValueError``, one line."""
        try:
            given = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            raise ValueError("the arguments are not JSON") from None
        if not isinstance(given, dict):
            raise ValueError("the arguments must be a JSON object")
        return given


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts messages in tokens of one model. ``fixed`` is what every request has besides its messages."""

    meter: Meter
    fixed: int

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return self.meter.count(text)

    def of(self, messages: Sequence[Message]) -> int:
        """Tokens of messages, with their framing."""
        return sum(map(self._of, messages))

    def _of(self, message: Message) -> int:
        made = sum(self.count(call.name) + self.count(call.arguments) for call in calls(message))
        return MESSAGE_TOKENS + self.count(message["role"]) + self.count(content(message)) + made


def scale_for(model: str, tools: Sequence[Message]) -> Scale:
    """The scale for requests to a model that offer these tools."""
    meter = meter_for(model)
    schemas = TOOLS_TOKENS + sum(count_tool_schema(tool, meter.counter) for tool in tools) if tools else 0
    return Scale(meter, REPLY_TOKENS + schemas)


def content(message: Message) -> str:
    """The text of a message; empty where it has none."""
    text = message.get("content")
    return text if isinstance(text, str) else ""


def calls(message: Message) -> tuple[Call, ...]:
    """The tool calls of a message."""
    return tuple(
        Call(str(call.get("id")), str(call["function"].get("name")), str(call["function"].get("arguments") or ""))
        for call in message.get("tool_calls") or ()
    )


def answer(call: Call, text: str) -> Message:
    """The message that answers a call."""
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def spoken(messages: Sequence[Message], silent: frozenset[str] = frozenset()) -> Iterator[str]:
    """The texts of a transcript: what the assistant said and wrote into calls, and what tools answered.

    Calls of ``silent`` tools are left out, and what they answered.
    """
    quiet: set[str] = set()
    for message in messages:
        if message["role"] == "assistant":
            yield content(message)
            quiet |= {call.id for call in calls(message) if call.name in silent}
            for call in calls(message):
                yield from () if call.name in silent else _strings(call)
        elif message["role"] == "tool" and message.get("tool_call_id") not in quiet:
            yield content(message)


def _strings(call: Call) -> Iterator[str]:
    try:
        yield from (text for text in call.given.values() if isinstance(text, str))
    except ValueError:
        yield call.arguments
