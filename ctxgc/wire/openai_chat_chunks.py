"""What a chat-completions reply, or one chunk of it, may hold, and how far to believe it.

Rule: every field is optional, one that has the wrong type is absent, and the rest is read all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from ctxgc.core.block import Kind
from ctxgc.core.journal import Usage

T = TypeVar("T")
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None


class Details(msgspec.Struct):
    """The parts of ``prompt_tokens`` and ``completion_tokens``; gateways say ``creation`` where OpenAI says write."""

    cached_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_tokens: Count = None
    reasoning_tokens: Count = None


class Reported(msgspec.Struct):
    """OpenAI's usage, with the names DeepSeek, Kimi, OpenRouter and gateways to Anthropic have for its parts."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None
    prompt_cache_hit_tokens: Count = None
    prompt_cache_miss_tokens: Count = None
    cached_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_input_tokens: Count = None


class Function(msgspec.Struct):
    """A function's name and arguments, or a custom tool's name and input."""

    name: str | None = None
    arguments: Any = None
    input: Any = None


class ToolCall(msgspec.Struct):
    """A tool call, or a delta of one."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: Function | None = None


class Audio(msgspec.Struct):
    """Spoken output: ``data`` in base64, and what it says."""

    data: str | None = None
    transcript: str | None = None


class Said(msgspec.Struct):
    """A ``message`` or a ``delta``. ``content`` and reasoning are strings, or lists of parts (Mistral)."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: str | None = None
    audio: Audio | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None


class Choice(msgspec.Struct):
    """One of the ``n`` answers. ``usage`` and ``error`` stand here (Kimi) or in the chunk."""

    index: int | None = None
    delta: Said | None = None
    message: Said | None = None
    finish_reason: str | None = None
    usage: Reported | None = None
    error: Any = None


class Vendor(msgspec.Struct):
    """A vendor's own member of a chunk, of which only the usage is of interest."""

    usage: Reported | None = None


class Chunk(msgspec.Struct):
    """A chunk of a stream or a whole reply. ``message`` and ``detail`` are the errors of servers without ``error``."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: Reported | None = None
    x_groq: Vendor | None = None
    error: Any = None
    message: Any = None
    detail: Any = None


def decode(decoder: msgspec.json.Decoder[T], text: bytes) -> T | None:
    """``text`` as the decoder's type: at once where it fits, else field by field; None where nothing of it fits."""
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:  # what msgspec refuses and servers send: lone surrogates, damaged UTF-8, NaN, huge integers
        value = json.loads(text.decode("utf-8", "replace"), parse_int=_number)
    except (ValueError, RecursionError):
        return None
    fitted = _fit(decoder.type, value)
    return None if fitted is msgspec.UNSET else fitted


def counts(usage: Reported) -> Usage | None:
    """The usage in disjoint kinds; None if it has no figures.

    Cached and written tokens are parts of ``prompt_tokens``, unless they exceed it: then the server counts, like
    Anthropic, only the rest there. Reasoning is a part of ``completion_tokens``, unless the total says that it is not
    (xAI: https://docs.x.ai/docs/key-information/consumption-and-rate-limits).
    """
    details = usage.prompt_tokens_details or Details()
    hit, miss = usage.prompt_cache_hit_tokens, usage.prompt_cache_miss_tokens
    if all(figure is None for figure in (usage.prompt_tokens, usage.completion_tokens, hit, miss)):
        return None
    cached = _most(details.cached_tokens, hit, usage.cached_tokens, usage.cache_read_input_tokens)
    written = _most(
        details.cache_write_tokens,
        details.cache_creation_tokens,
        usage.cache_write_tokens,
        usage.cache_creation_input_tokens,
    )
    prompt = cached + written + (miss or 0) if usage.prompt_tokens is None else usage.prompt_tokens
    if max(cached, written) > prompt:
        prompt += cached + written
    written = min(written, prompt - cached)
    output, reasoning = _output(usage)
    rest = prompt - cached - written
    return Usage(uncached=rest, cached=cached, written=written, output=output, reasoning=reasoning)


def texts(said: Said) -> Iterator[tuple[Kind, str]]:
    """What a message or delta says, by kind. Servers that give the reasoning two names mean one text."""
    yield Kind.THINKING, _plain(said.reasoning_content) or _plain(said.reasoning)
    yield Kind.REFUSAL, said.refusal or ""
    yield Kind.AUDIO, (said.audio.transcript if said.audio else None) or ""
    for part in said.content if isinstance(said.content, list) else [said.content]:
        if isinstance(part, dict) and part.get("type") in ("thinking", "refusal"):
            yield Kind(part["type"]), _plain(part.get(part["type"]))
        else:
            yield Kind.TEXT, _plain([part])


def failure(error: object) -> str:
    """An error's code (or type) and message, or whatever stands in their place."""
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return as_text(error)
    code = error.get("code") or error.get("type")
    return f"{code}: {error['message']}" if isinstance(code, str | int) else str(error["message"])


def as_text(value: object) -> str:
    """A field that should be a string: as it is, "" for null, and anything else as its JSON."""
    if isinstance(value, str) or value is None:
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _output(usage: Reported) -> tuple[int, int]:
    reasoning = (usage.completion_tokens_details or Details()).reasoning_tokens or 0
    output = usage.completion_tokens or 0
    if usage.total_tokens == (usage.prompt_tokens or 0) + output + reasoning:
        output += reasoning
    return output, min(reasoning, output)


def _most(*figures: int | None) -> int:
    return max(figure or 0 for figure in figures)


def _plain(value: object) -> str:
    """The text of a string, or of a list of strings and text parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def _fit(kind: Any, value: object) -> Any:
    """What of a JSON value has the shape of ``kind``; UNSET if nothing has."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        pass
    for option in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        if get_origin(option) is list and isinstance(value, list):
            fitted = (_fit(get_args(option)[0], item) for item in value)
            return [item for item in fitted if item is not msgspec.UNSET]
        if isinstance(option, type) and issubclass(option, msgspec.Struct) and isinstance(value, dict):
            return _fit_struct(option, value)
    return msgspec.UNSET


def _fit_struct(kind: type[msgspec.Struct], value: dict[str, object]) -> msgspec.Struct:
    fitted = {name: _fit(shape, value[name]) for name, shape in _fields(kind) if name in value}
    return kind(**{name: part for name, part in fitted.items() if part is not msgspec.UNSET})


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.type) for field in msgspec.structs.fields(kind))
