"""What may become of a chat-completions history: the last look at what is sent in the place of what came.

Rule: written from what servers refuse, and ignorant of how edits are made. Whatever it does not know has to stay the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ctxgc.core import spans
from ctxgc.wire.openai_chat_history import NOWHERE, TOOLS, Fault, Message, faults, is_text, read

ADDED = "messages were added"
SYSTEM_ADDED = "a system message was added"
ROLES = "the role of a message changed"
REMOVED = "messages were removed that are no answered tool transaction before the last assistant message"
NO_USER = "no user message is left"
USER_TOUCHED = "the first or last user message is not the same byte for byte"
MEMBER = "a message changed in more than the text of a tool result"
EMPTY = "a text became empty"
LONE_SURROGATE = "a lone surrogate came into a text"
MORE_MARKERS = "there are more cache markers than before"
TOO_DEEP = "a message is nested too deeply to be compared"

OWN_FIELD = "ctxgc"
_REASONING = ("reasoning_content", "reasoning")
_SIGNED = frozenset({"reasoning_details", "thinking_blocks"})
_BLANK = " "
"""What providers that insist on reasoning take for none (DeepSeek's and Moonshot's interfaces)."""
_SYSTEM = ("system", "developer")
_TEXT = object()
_SURROGATE = re.compile("[\ud800-\udfff]")


def valid(messages: Sequence[bytes]) -> tuple[str, ...]:
    """The rules that a history breaks, one sentence each, with the first message (from 0) that breaks it.

    They are what OpenAI's reference forbids and other servers do not all accept. A deprecated ``function_call`` and its
    result are held to be a pair, as a tool's are.
    """
    return _sentences(faults([read(raw) for raw in messages]))


def problems(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[str, ...]:
    """Why ``after`` may not be sent for ``before``: one sentence for each rule that it breaks and ``before`` does not.

    Both are a history, or the part of one that begins with the assistant message whose calls were still open. Only the
    text of tool results may differ, plain reasoning of the agent may become one space, the member ``ctxgc`` may be
    gone, and so may whole tool transactions that were answered and are not the last. Messages are numbered as in
    ``after``, from 0.
    """
    old = [read(raw) for raw in before]
    known = {id(message.raw): message for message in old}  # most messages are the very same object
    new = [known.get(id(raw)) or read(raw) for raw in after]
    try:
        places = _align(old, new)
        changes = _structure(old, new) if places is None else _changes(old, new, places)
        return _sentences([*_new_faults(old, new, places), *changes])
    except RecursionError:
        return (TOO_DEEP,)


def _sentences(faults: Iterable[Fault]) -> tuple[str, ...]:
    first: dict[str, int] = {}
    for sentence, number in faults:
        first.setdefault(sentence, number)
    return tuple(text if number == NOWHERE else f"{text} (message {number})" for text, number in first.items())


def _align(old: Sequence[Message], new: Sequence[Message]) -> list[int] | None:
    """Which message of ``old`` each of ``new`` is, or None where more changed than may.

    Begins at the end, where nothing may go: of transactions that are the same the last is the one that stayed.
    """
    if len(new) >= len(old):
        return list(range(len(old))) if len(new) == len(old) else None
    places: list[int] = []
    kept_last = False
    for start, end in reversed(list(_units(old))):
        unit, left = old[start:end], len(new) - len(places)
        twins = new[max(0, left - len(unit)) : left]
        if len(twins) == len(unit) and all(map(_is_twin, unit, twins)):
            places.extend(reversed(range(start, end)))
            kept_last = kept_last or unit[0].role == "assistant"
        elif not (kept_last and _is_answered(unit)):
            return None
    return places[::-1] if len(places) == len(new) else None


def _units(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where tool transactions, and messages that belong to none, begin and end."""
    start = 0
    while start < len(messages):
        end = start + 1
        while messages[start].calls and end < len(messages) and messages[end].role in TOOLS:
            end += 1
        yield start, end
        start = end


def _is_answered(unit: Sequence[Message]) -> bool:
    return bool(unit[0].calls) and unit[0].calls <= {message.answer for message in unit[1:]}


def _is_twin(old: Message, new: Message) -> bool:
    return not {ROLES, MEMBER}.intersection(_differences(old, new))


def _new_faults(old: Sequence[Message], new: Sequence[Message], places: list[int] | None) -> Iterator[Fault]:
    known = set(faults(old))
    rules = {fault for fault, _ in known}
    for fault, number in faults(new):
        if fault not in rules if places is None else (fault, places[number]) not in known:
            yield fault, number


def _structure(old: Sequence[Message], new: Sequence[Message]) -> Iterator[Fault]:
    if len(new) <= len(old):
        yield REMOVED, NOWHERE
    elif _count(new, *_SYSTEM) <= _count(old, *_SYSTEM):
        yield ADDED, NOWHERE
    yield from _totals(old, new)


def _totals(old: Sequence[Message], new: Sequence[Message]) -> Iterator[Fault]:
    if _count(new, *_SYSTEM) > _count(old, *_SYSTEM):
        yield SYSTEM_ADDED, NOWHERE
    if _count(old, "user") and not _count(new, "user"):
        yield NO_USER, NOWHERE
    if sum(message.markers for message in new) > sum(message.markers for message in old):
        yield MORE_MARKERS, NOWHERE


def _count(messages: Sequence[Message], *roles: str) -> int:
    return sum(message.role in roles for message in messages)


def _changes(old: Sequence[Message], new: Sequence[Message], places: list[int]) -> Iterator[Fault]:
    users = [number for number, message in enumerate(old) if message.role == "user"]
    for number, place in enumerate(places):
        yield from ((fault, number) for fault in _differences(old[place], new[number]))
        if place in (*users[:1], *users[-1:]) and not same_bytes(old[place].raw, new[number].raw):
            yield USER_TOUCHED, number
    yield from _totals(old, new)


def _differences(old: Message, new: Message) -> Iterator[str]:
    if old.raw == new.raw:
        return
    if not (old.body and new.body):
        yield MEMBER
    elif old.role != new.role:
        yield ROLES
    else:
        was, is_now = dict(old.body), dict(new.body)
        if OWN_FIELD not in is_now:
            was.pop(OWN_FIELD, None)
        _silence(was, is_now)
        texts_before, texts_after = _take_texts(was), _take_texts(is_now)
        if was != is_now:
            yield MEMBER
        for text, other in zip(texts_before, texts_after, strict=False):
            yield from _text_faults(text, other)


def _silence(was: dict[str, object], is_now: dict[str, object]) -> None:
    """Let plain reasoning of the agent become blank: it is no part of what was said. Signed reasoning is not plain."""
    for key in _REASONING:
        plain = was.get("role") == "assistant" and isinstance(was.get(key), str) and not _SIGNED & was.keys()
        if plain and is_now.get(key) == _BLANK:
            was[key] = _BLANK


def _take_texts(body: dict[str, object]) -> list[str]:
    """Take the texts that may be edited out of a message, leaving its shape; returns them in order."""
    content = body.get("content")
    if body.get("role") not in TOOLS or not isinstance(content, str | list):
        return []
    texts: list[str] = []
    shape = [_take_text(part, texts) for part in (content if isinstance(content, list) else [content])]
    body["content"] = shape if isinstance(content, list) else shape[0]
    return texts


def _take_text(part: object, texts: list[str]) -> object:
    if isinstance(part, str):
        texts.append(part)
        return _TEXT
    if isinstance(part, dict) and is_text(part):
        texts.append(part["text"])
        return {**part, "text": _TEXT}
    return part


def _text_faults(before: str, after: str) -> Iterator[str]:
    if before.strip() and not after.strip():  # some servers refuse blank texts as well as empty ones
        yield EMPTY
    if len(_SURROGATE.findall(after)) > len(_SURROGATE.findall(before)):
        yield LONE_SURROGATE


def same_bytes(before: bytes, after: bytes) -> bool:
    """Whether two messages are the same bytes or, where a member ``ctxgc`` is gone, the same bytes in every other."""
    try:
        old, new = ([(span.key, span.of(text)) for span in spans.members(text)] for text in (before, after))
    except spans.Malformed:
        return before == after
    left = [member for member in old if member[0] != OWN_FIELD]
    return before == after or (left != old and left == new)
