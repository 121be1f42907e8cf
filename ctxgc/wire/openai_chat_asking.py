"""The calls of one tool in a chat completion's reply, as a message for the history, and the messages that answer them.

Rule: what providers want back of their replies (reasoning, and signatures in calls) goes back as it came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ctxgc.wire.codec import Asking, Use
from ctxgc.wire.openai_chat_reasoning import BLOCKS, KEY, joined, joined_blocks
from ctxgc.wire.openai_chat_taking import Json, Known, Taking, choices_of, load
from ctxgc.wire.sse import BLANK, EventSplitter

_CUT_OFF = ("length", "content_filter")
"""Finishes of replies that hold no whole calls."""
_GIVEN_BACK = ("reasoning_content", KEY, BLOCKS, "extra_content")
"""What DeepSeek and Kimi, OpenRouter, LiteLLM and Google refuse to go on without between a call and its result."""
_OF_CALLS = frozenset({"index", "id", "type", "function", "arguments", "name"})


def asking(reply: bytes, name: str) -> Asking | None:
    """See ``Codec.asking``: of the first choice, if it came to its end."""
    draft = _Draft(name)
    for value in _values(reply):
        draft.add(value)
    return draft.asking()


def answers(uses: Sequence[Use], texts: Sequence[str]) -> tuple[bytes, ...]:
    """See ``Codec.answers``."""
    pairs = zip(uses, texts, strict=True)
    return tuple(_dump({"role": "tool", "tool_call_id": use.id, "content": text}) for use, text in pairs)


class _Draft:
    """A message put together from a reply's chunks (or its only one)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._taking = Taking(name)
        self._finish = ""
        self._text: list[str] = []
        self._members: Json = {}
        self._calls: dict[Known, Json] = {}
        self._streamed = False

    def add(self, value: Json) -> None:
        for choice in choices_of(value):
            if not choice.get("index"):
                self._choose(choice)

    def asking(self) -> Asking | None:
        self._taking.settle()
        mine = [call for known, call in self._calls.items() if known.mine]
        if not mine or not self._finish or self._finish in _CUT_OFF:
            return None
        calls = [self._call(call, number) for number, call in enumerate(mine)]
        uses = tuple(Use(call["id"], call["function"]["arguments"]) for call in calls)
        alone = len(mine) == len(self._calls)
        text = "".join(self._text) if alone else ""  # else the client has it, and brings it with its own calls
        message = {"role": "assistant", "content": text or None, **self._given_back(), "tool_calls": calls}
        return Asking(_dump(message), uses, alone)

    def _given_back(self) -> Json:
        """The members that go back as they came; of a stream, what their fragments come to."""
        members = dict(self._members)
        for key, join in ((KEY, joined), (BLOCKS, joined_blocks)) if self._streamed else ():
            if isinstance(members.get(key), list):
                members[key] = join(members[key])
        return members

    def _choose(self, choice: Json) -> None:
        finish = choice.get("finish_reason")
        self._finish = finish if isinstance(finish, str) and finish else self._finish
        self._streamed = self._streamed or isinstance(choice.get("delta"), dict)
        said = choice.get("delta" if self._streamed else "message")  # some streams end with all of it, once more
        if not isinstance(said, dict):
            return
        self._text += _texts(said.get("content"))
        self._members = _grown(self._members, {key: said[key] for key in _GIVEN_BACK if said.get(key)})
        alone = {key: part for key, part in choice.items() if key != ("message" if self._streamed else "delta")}
        for placed in list(self._taking.place({"choices": [alone]})):
            self._calls[placed.call] = _grown(self._calls.get(placed.call, {}), placed.delta)

    def _call(self, call: Json, number: int) -> Json:
        """A call as a request has it; one that came without an id gets one."""
        function = call.get("function")
        arguments = function.get("arguments") if isinstance(function, dict) else call.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        rest = {key: part for key, part in call.items() if key not in _OF_CALLS}
        call_id = call.get("id")
        named = call_id if isinstance(call_id, str) and call_id else f"{self._name}_{number}"
        return {"id": named, "type": "function", "function": {"name": self._name, "arguments": text}, **rest}


def _values(reply: bytes) -> Iterator[Json]:
    text = reply.lstrip(BLANK)
    if text[:1] in (b"{", b"["):
        found = load(text, whole=True)
        yield from (value for value in (found if isinstance(found, list) else [found]) if isinstance(value, dict))
        return
    events = EventSplitter()
    for event in (*events.feed(text), *events.close()):
        lines = [event] if load(event) is not None else event.split(b"\n")
        yield from (value for line in lines if (value := load(line)) is not None)


def _grown(value: Any, more: Any) -> Any:
    """What deltas come to: texts and lists go on, objects member by member; of all else the last counts."""
    if isinstance(value, dict) and isinstance(more, dict):
        return {**value, **{key: _joined(key, value.get(key), part) for key, part in more.items()}}
    if (isinstance(value, str) and isinstance(more, str)) or (isinstance(value, list) and isinstance(more, list)):
        return value + more  # type: ignore[operator]
    return value if more is None else more


def _joined(key: str, value: Any, more: Any) -> Any:
    """Ids and types are said again, and not in parts."""
    return value or more if key in ("id", "type", "name", "index") else _grown(value, more)


def _texts(content: object) -> list[str]:
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return [text for text in texts if isinstance(text, str)]


def _dump(value: Json) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # lone surrogates stay escaped
        return json.dumps(value, separators=(",", ":")).encode()
