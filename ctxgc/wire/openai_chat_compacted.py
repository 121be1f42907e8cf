"""A compacted chat-completions history: the messages that stand in a span's place, news, and what may be left out.

Rule: what stands for a span never has the role of the user or the system. News from the host's ledger come as a user's
message only where there is no tool to answer for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ctxgc.wire.openai_chat_history import NOWHERE, TOOLS, Fault, Message, faults, read
from ctxgc.wire.openai_chat_rules import NO_USER, OWN_FIELD, SYSTEM_ADDED, USER_TOUCHED, same_bytes

ALTERED = "a message is neither one of those that came nor a changed tool result of theirs"
SYSTEM_LEFT_OUT = "a system message was left out"
CALL_ID = 9
"""Characters of the id of a call of ours: Mistral takes no others."""
_SYSTEM = ("system", "developer")
_TEXT: Mapping[str, object] = dict.fromkeys(("content", OWN_FIELD))
_MAY_DIFFER: Mapping[str, Mapping[str, object]] = {
    **dict.fromkeys(TOOLS, _TEXT),
    "assistant": dict.fromkeys(("reasoning_content", "reasoning", OWN_FIELD)),
}
"""By role, the members in which a message may differ."""


def record(text: str, handle: str, tool: str, *, reasoning: bool) -> tuple[bytes, ...]:
    """The messages for a record: the recall of ``handle`` by ``tool`` and what it gave, or else what an agent says.

    ``reasoning`` says that the history's agent messages carry their reasoning, which some providers insist on.
    """
    said: dict[str, object] = {"role": "assistant", "content": text}
    if tool:
        call = {"name": tool, "arguments": json.dumps({"handle": handle}, separators=(",", ":"))}
        said["content"] = ""
        said["tool_calls"] = [{"id": handle[:CALL_ID], "type": "function", "function": call}]
    if reasoning:
        said["reasoning_content"] = " "
    answer = ({"role": "tool", "tool_call_id": handle[:CALL_ID], "content": text},) if tool else ()
    return tuple(_dump(message) for message in (said, *answer))


def news(text: str, handle: str, tool: str, *, reasoning: bool) -> tuple[bytes, ...]:
    """The messages that tell news at the end of a history: as a record is told, or else by the user."""
    return record(text, handle, tool, reasoning=reasoning) if tool else (_dump({"role": "user", "content": text}),)


def problems(before: Sequence[bytes], after: Sequence[bytes], ours: Sequence[bytes]) -> tuple[str, ...]:
    """Why ``after`` may not be sent for the whole history ``before``, of which a span is left out: one sentence each.

    ``ours`` are those of ``after`` that came from nowhere. All others must have come, in this order, with at most the
    text of a tool result or reasoning changed; system messages and the first and last user message stay.
    """
    old = [read(raw) for raw in before]
    new = [read(raw) for raw in after]
    known = Counter(sentence for sentence, _ in faults(old))
    broken = Counter(sentence for sentence, _ in faults(new)) - known
    found = dict.fromkeys((*broken, *(sentence for sentence, _ in _left(old, new, frozenset(ours)))))
    return tuple(found)


def _left(old: Sequence[Message], new: Sequence[Message], ours: frozenset[bytes]) -> Iterator[Fault]:
    theirs = [message for message in new if message.raw not in ours]
    system = [message for message in old if message.role in _SYSTEM]
    users = [message for message in old if message.role == "user"]
    if not _stand(system, theirs):
        yield SYSTEM_LEFT_OUT, NOWHERE
    if sum(message.role in _SYSTEM for message in new) > len(system):
        yield SYSTEM_ADDED, NOWHERE
    if not _stand((*users[:1], *users[-1:]), theirs):
        yield USER_TOUCHED, NOWHERE
    if users and not any(message.role == "user" for message in theirs):
        yield NO_USER, NOWHERE
    places = iter(old)
    if not all(any(_twin(one, message) for one in places) for message in theirs):
        yield ALTERED, NOWHERE


def _stand(wanted: Sequence[Message], theirs: Sequence[Message]) -> bool:
    """Whether each message stands among those that are sent, byte for byte."""
    raws = {message.raw for message in theirs}
    return all(message.raw in raws or any(same_bytes(message.raw, other.raw) for other in theirs) for message in wanted)


def _twin(old: Message, new: Message) -> bool:
    """Whether one may stand for the other: the same bytes, or the same message with another text or reasoning."""
    if old.raw == new.raw:
        return True
    may = _MAY_DIFFER.get(old.role) if isinstance(old.role, str) else None
    if not (old.body and new.body) or may is None:
        return same_bytes(old.raw, new.raw)
    return {**old.body, **may} == {**new.body, **may}


def _dump(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
