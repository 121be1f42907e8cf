"""What a provider would bill for the bodies it received: their tokens, and how many of them its prompt cache held.

Rule: everything is counted from the bodies. A prefix is cached once it was received, in whole messages and from
1,024 tokens on, as OpenAI's cache has it; that cache may forget, and this one does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from ctxgc.core.journal import Usage
from ctxgc.demo.script import Turn
from ctxgc.tokens import (
    REPLY_TOKENS,
    TOOLS_TOKENS,
    Counter,
    count_tool_schema,
    counter_for,
    message_overhead,
)
from ctxgc.tokens.prices import MIN_CACHEABLE

CALL_TOKENS = 3
"""Tokens of a tool call besides its name and arguments; an estimate."""

Json = Mapping[str, object]


class Biller:
    """Counts for one model, and remembers which prefixes it has met."""

    def __init__(self, model: str) -> None:
        self._counter: Counter = counter_for(model)
        self._known: dict[bytes, int] = {}
        """Tokens up to the end of each prefix received, by its hash."""

    def usage(self, body: Json, turn: Turn) -> Usage:
        """What a request and its answer are billed as; from then on, the request's prefixes are cached."""
        total, cached = self._prompt(body)
        return Usage(uncached=total - cached, cached=cached, output=self._answer(turn))

    def _prompt(self, body: Json) -> tuple[int, int]:
        """The tokens of the request, and those of its longest cached prefix."""
        tokens, cached, chain = 0, 0, b""
        for part in _parts(body):
            text = json.dumps(part, ensure_ascii=False, sort_keys=True)
            chain = hashlib.sha256(chain + text.encode("utf-8", "surrogatepass")).digest()
            known = self._known.get(chain)
            if known is None:
                known = self._known[chain] = tokens + self._part(part)
            elif known >= MIN_CACHEABLE:
                cached = known
            tokens = known
        return tokens + REPLY_TOKENS, cached

    def _part(self, part: Sequence[Json] | Json) -> int:
        if isinstance(part, Mapping):
            return self._message(part)
        return TOOLS_TOKENS + sum(count_tool_schema(tool, self._counter) for tool in part)

    def _message(self, message: Json) -> int:
        texts = sum(map(self._counter.count, _texts(message.get("content"))))
        calls = sum(map(self._call, _objects(message.get("tool_calls"))))
        return message_overhead(self._counter, str(message.get("role"))) + texts + calls

    def _call(self, call: Json) -> int:
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else {}
        return CALL_TOKENS + sum(self._counter.count(str(inner.get(key, ""))) for key in ("name", "arguments"))

    def _answer(self, turn: Turn) -> int:
        count = self._counter.count
        calls = sum(CALL_TOKENS + count(call.name) + count(call.arguments) for call in turn.calls)
        return count(turn.text) + calls


def _parts(body: Json) -> Iterator[Sequence[Json] | Json]:
    """What a prompt is made of, in the order in which it is cached: the tools as a whole, then each message."""
    tools = _objects(body.get("tools"))
    if tools:
        yield tools
    yield from _objects(body.get("messages"))


def _objects(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(part.get("text", "")) for part in _objects(content)]
