"""A chat completion's whole reply on its way to the client, without the calls of one tool.

Rule: a reply without such calls, behind no other, goes out byte for byte as it came.
"""

from __future__ import annotations

import json

from ctxgc.wire.codec import Earlier
from ctxgc.wire.openai_chat_taking import Json, Taking, add_usage, choices_of, load, said_by

CAP = 64 * 1024 * 1024
"""Bytes of a reply above which it is passed on unread."""


class WholeSieve:
    """A sieve for a whole reply, which is kept until it is whole."""

    def __init__(self, name: str, earlier: Earlier) -> None:
        self.ended = False
        self._name = name
        self._earlier = earlier
        self._parts: list[bytes] = []
        self._size = 0
        self._values: list[Json] | None = None
        self._one = True
        self._met = False

    @property
    def met(self) -> bool:
        """Whether there was a call of the tool; known when the reply is whole."""
        self._read()
        return self._met

    def feed(self, chunk: bytes) -> bytes:
        """See ``Sieve.feed``."""
        if self._size > CAP:
            return chunk
        self._parts.append(chunk)
        self._size += len(chunk)
        return b"" if self._size <= CAP else self._let_go()

    def rest(self) -> bytes:
        """See ``Sieve.rest``. What is no JSON and holds the tool's name has broken off, and is not shown."""
        self._read()
        body = self._let_go()
        if self._values is None:
            return b"" if self._name.encode() in body else body
        changed = [self._sift(value) for value in self._values]
        if not any(changed):
            return body
        return json.dumps(self._values[0] if self._one else self._values).encode()

    def earlier(self) -> Earlier:
        """See ``Sieve.earlier``."""
        self._read()
        usage, text = self._earlier.usage, self._earlier.text
        for value in self._values or ():
            reported = value.get("usage")
            usage = add_usage(usage, reported) if isinstance(reported, dict) else usage
            text += "".join(said for choice in choices_of(value)[:1] if (said := _text(choice)))
        return Earlier(usage, text)

    def _let_go(self) -> bytes:
        body = b"".join(self._parts)
        self._parts.clear()
        return body

    def _read(self) -> None:
        if self._values is not None or not self._parts:
            return
        found = load(b"".join(self._parts), whole=True)
        self._one = isinstance(found, dict)
        values = [found] if isinstance(found, dict) else found
        if isinstance(values, list) and all(isinstance(value, dict) for value in values):
            self._values = values
            taking = Taking(self._name)
            for value in values:
                list(taking.place(value))
            taking.settle()
            self._met = taking.met

    def _sift(self, value: Json) -> bool:
        taking = Taking(self._name)
        placed = list(taking.place(value))
        taking.settle()
        changed = taking.take_out(placed) > 0
        for choice in choices_of(value):
            changed |= taking.refinish(choice)
            changed |= self._prepend(choice, emptied=taking.emptied(choice))
        usage = value.get("usage")
        if self._earlier.usage and isinstance(usage, dict):
            value["usage"], changed = add_usage(self._earlier.usage, usage), True
        return changed

    def _prepend(self, choice: Json, *, emptied: bool) -> bool:
        """Put what earlier replies said before the text; a message must not be left with nothing at all."""
        message = choice.get("message")
        if not isinstance(message, dict) or not (self._earlier.text or (emptied and message.get("content") is None)):
            return False
        content = message.get("content")
        if isinstance(content, list):
            message["content"] = [{"type": "text", "text": self._earlier.text}, *content]
        else:
            message["content"] = self._earlier.text + (content if isinstance(content, str) else "")
        return True


def _text(choice: Json) -> str:
    content = next(said_by(choice), {}).get("content")
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
