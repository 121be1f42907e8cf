"""Chat completions: requests to blocks, and edits spliced back into the original bytes.

Rule: what this codec does not understand it leaves alone. Unknown fields, parts and roles become blocks that are
counted and never edited.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ctxgc.core import spans
from ctxgc.core.block import Author, Block, Kind, Mark, Media, Message
from ctxgc.wire import (
    body,
    openai_chat_asking,
    openai_chat_compacted,
    openai_chat_offer,
    openai_chat_reply,
    openai_chat_rules,
)
from ctxgc.wire.codec import Asking, Body, Earlier, Known, ReplyReader, Sieve, Use
from ctxgc.wire.media import data_url_media
from ctxgc.wire.openai_chat_sieve import ReplySieve

HISTORY = "messages"
OWN_FIELD = "ctxgc"
MESSAGE_OVERHEAD = 4
"""Tokens around a message: three of framing and its role (OpenAI's cookbook, "How to count tokens")."""
CALL_OVERHEAD = 3
"""Tokens around a call besides its name and arguments: what its recipient line takes; an estimate."""
_AUTHORS = {
    "system": Author.SYSTEM,
    "developer": Author.SYSTEM,
    "user": Author.USER,
    "assistant": Author.AGENT,
    "tool": Author.TOOL,
    "function": Author.TOOL,
}
_VOLATILE = frozenset({"cache_control", "prompt_cache_breakpoint", OWN_FIELD})
_PERHAPS_OWN = re.compile(rb'"ctxgc"|\\u00[67]')
_AMBIGUOUS = "\0duplicate keys"
_THINKING = ("reasoning_content", "reasoning")
_SEALED = frozenset({"reasoning_details", "thinking_blocks"})
"""Members that hold the same thinking, signed: where they stand, neither form may change."""

Json = dict[str, "Value"]
Value = str | int | float | bool | None | list["Value"] | Json


class OpenAIChat:
    """The codec for ``/v1/chat/completions`` and its many look-alikes."""

    name = "openai_chat"

    def split(self, text: bytes) -> Body:
        """See ``Codec.split``."""
        return body.split(text, HISTORY)

    def resume(self, text: bytes, known: Known) -> Body | None:
        """See ``Codec.resume``."""
        return body.resume(text, HISTORY, known)

    def decode(self, raw: bytes) -> Message:
        """See ``Codec.decode``."""
        message = _load(raw)
        if _AMBIGUOUS in message:
            block = Block(Kind.OTHER, Author.USER, raw.decode(), overhead=MESSAGE_OVERHEAD)
            return Message(hashlib.sha256(raw).digest(), "", (block,))
        role = message.get("role")
        role = role if isinstance(role, str) else ""
        author = _AUTHORS.get(role, Author.USER)
        first, *rest = tuple(_blocks(message, author)) or (Block(Kind.OTHER, author),)
        first = replace(first, overhead=first.overhead + MESSAGE_OVERHEAD)
        return Message(_digest(message), role, (first, *rest), _mark(message))

    def schemas(self, body: Body) -> tuple[Message, ...]:
        """See ``Codec.schemas``; legacy ``functions`` are schemas too."""
        found = []
        for key in ("tools", "functions"):
            raw = body.fields.get(key, b"")
            for span in spans.elements(raw) if raw.startswith(b"[") else ():
                found.append(_schema(span.of(raw)))
        return tuple(found)

    def project(self, raw: bytes, edits: Mapping[int, str]) -> bytes:
        """See ``Codec.project``."""
        if edits:
            blocks = self.decode(raw).blocks
            raw = spans.replace(raw, {_path(blocks[number]): text for number, text in edits.items()})
        return _without_own(raw) if _PERHAPS_OWN.search(raw) else raw

    def problems(self, before: Sequence[bytes], after: Sequence[bytes]) -> tuple[str, ...]:
        """See ``Codec.problems``."""
        return openai_chat_rules.problems(before, after)

    left_out = staticmethod(openai_chat_compacted.problems)
    record = staticmethod(openai_chat_compacted.record)
    news = staticmethod(openai_chat_compacted.news)

    def reader(self, *, stream: bool) -> ReplyReader:
        """See ``Codec.reader``."""
        return openai_chat_reply.reader(stream=stream)

    def tool(self, name: str, description: str, parameters: Mapping[str, object]) -> bytes:
        """See ``Codec.tool``."""
        return openai_chat_offer.tool(name, description, parameters)

    def room(self, body: Body, name: str) -> bool:
        """See ``Codec.room``."""
        return bool(body.fields.get("tools")) and openai_chat_offer.room(body.fields["tools"], name)

    def single(self, body: Body) -> bool:
        """See ``Codec.single``."""
        return body.fields.get("n", b"1") in (b"1", b"null") and body.fields.get("tool_choice") != b'"none"'

    def offer(self, around: bytes, tool: bytes) -> bytes:
        """See ``Codec.offer``."""
        return openai_chat_offer.offer(around, HISTORY, tool)

    def sieve(self, name: str, earlier: Earlier, *, stream: bool) -> Sieve:
        """See ``Codec.sieve``."""
        return ReplySieve(name, earlier, stream=stream)

    def asking(self, reply: bytes, name: str) -> Asking | None:
        """See ``Codec.asking``."""
        return openai_chat_asking.asking(reply, name)

    def answers(self, uses: Sequence[Use], texts: Sequence[str]) -> tuple[bytes, ...]:
        """See ``Codec.answers``."""
        return openai_chat_asking.answers(uses, texts)


def _load(raw: bytes) -> Json:
    """A message as plain data. Floats keep their spelling, as a list that no message holds."""
    try:
        message = json.loads(raw.decode(), parse_float=_float, parse_constant=_float, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise spans.Malformed(str(error)) from None
    if not isinstance(message, dict):
        raise spans.Malformed("a message is not an object")
    return message


def _float(text: str) -> Value:
    return ["\0float", text]


def _object(pairs: list[tuple[str, Value]]) -> Json:
    """An object; one with duplicate keys is marked, since two readers could see two different things in it."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else {**found, _AMBIGUOUS: True}


def _digest(message: Json) -> bytes:
    """The sha256 of the message without volatile markers, keys sorted, a lone text part written as a string."""
    try:
        known = {key: _canonical(item) for key, item in message.items() if key not in _VOLATILE}
        if "content" in known:
            known["content"] = _lone_text(known["content"])
        form = json.dumps(known, sort_keys=True, separators=(",", ":"))
    except RecursionError as error:
        raise spans.Malformed(str(error)) from None
    return hashlib.sha256(form.encode()).digest()


def _without_own(raw: bytes) -> bytes:
    try:
        return spans.remove(raw, OWN_FIELD)
    except spans.Malformed:  # duplicate keys: nobody can say what it says, so it is left alone
        return raw


def _lone_text(content: Value) -> Value:
    """The text of a content that is one plain part: clients write a text as a part to put a marker on it."""
    if isinstance(content, list) and len(content) == 1:
        part = content[0]
        if isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] == "text" and part["text"]:
            return part["text"]
    return content


def _canonical(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items() if key not in _VOLATILE}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value


def _mark(message: Json) -> Mark:
    """What the application says in its ``ctxgc`` field: ``{"tag": "...", "pin": true}``."""
    field = message.get(OWN_FIELD)
    if not isinstance(field, dict):
        return Mark()
    tag = field.get("tag")
    return Mark(tag if isinstance(tag, str) and tag else None, field.get("pin") is True)


def _blocks(message: Json, author: Author) -> Iterator[Block]:
    """The blocks in the order the model reads them: thinking, content, refusal, audio, calls."""
    for key in _THINKING:
        thought = message.get(key)
        if isinstance(thought, str) and thought:
            yield Block(Kind.THINKING, author, thought, None if _SEALED & message.keys() else (key,))
            break
    yield from _content(message, author)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield Block(Kind.REFUSAL, author, refusal)
    if isinstance(message.get("audio"), dict):
        yield Block(Kind.AUDIO, author, media=Media())
    yield from _calls(message, author)


def _content(message: Json, author: Author) -> Iterator[Block]:
    content = message.get("content")
    kind, name, call_id = Kind.TEXT, "", ""
    if author is Author.TOOL:
        kind, name, call_id = Kind.TOOL_RESULT, _text(message, "name"), _text(message, "tool_call_id")
    if isinstance(content, str) and (content or kind is Kind.TOOL_RESULT):
        yield Block(kind, author, content, ("content",), name, call_id)
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield _part(part, index, kind, author, name, call_id)


def _part(part: Value, index: int, kind: Kind, author: Author, name: str, call_id: str) -> Block:
    at: spans.Path = ("content", index)
    media = partial(Block, author=author, name=name, call_id=call_id)
    if isinstance(part, str):
        return Block(kind, author, part, at, name, call_id)
    if not isinstance(part, dict):
        return Block(Kind.OTHER, author, json.dumps(part), None, name, call_id)
    sort = part.get("type")
    if sort == "text" and isinstance(part.get("text"), str):
        return Block(kind, author, _text(part, "text"), (*at, "text"), name, call_id)
    if sort == "refusal":
        return Block(Kind.REFUSAL, author, _text(part, "refusal"), None, name, call_id)
    if sort == "image_url":
        image = part.get("image_url")
        image = image if isinstance(image, dict) else {"url": image}
        return media(Kind.IMAGE, media=data_url_media(_text(image, "url"), _text(image, "detail")))
    if sort == "input_audio":
        audio = part.get("input_audio")
        size = len(_text(audio, "data")) * 3 // 4 if isinstance(audio, dict) else 0
        return media(Kind.AUDIO, media=Media(size=size))
    if sort == "file":
        file = part.get("file")
        size = len(_text(file, "file_data")) * 3 // 4 if isinstance(file, dict) else 0
        return media(Kind.FILE, media=Media(size=size))
    return Block(Kind.OTHER, author, json.dumps(part, ensure_ascii=False), None, name, call_id)


def _calls(message: Json, author: Author) -> Iterator[Block]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        custom = call.get("custom")
        function = call.get("function")
        inner: Json = custom if isinstance(custom, dict) else function if isinstance(function, dict) else {}
        text = _text(inner, "input") if inner is custom else _text(inner, "arguments")
        yield Block(Kind.TOOL_CALL, author, text, None, _text(inner, "name"), _text(call, "id"), overhead=CALL_OVERHEAD)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield Block(
            Kind.TOOL_CALL, author, _text(legacy, "arguments"), None, _text(legacy, "name"), overhead=CALL_OVERHEAD
        )


def _schema(raw: bytes) -> Message:
    schema = _load(raw)
    inner = schema.get("function") or schema.get("custom") or schema
    name = _text(inner, "name") if isinstance(inner, dict) else ""
    name = name or _text(schema, "type")
    block = Block(Kind.TOOL_SCHEMA, Author.SYSTEM, raw.decode(errors="replace"), None, name)
    return Message(hashlib.sha256(raw).digest(), "tools", (block,))


def _path(block: Block) -> spans.Path:
    if block.path is None:
        raise spans.Malformed(f"a block of kind {block.kind} is not to be edited")
    return block.path


def _text(value: Json, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
