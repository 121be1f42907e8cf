"""What may become of a request, once more: written from what servers refuse, and from nothing of ctxgc's.

It knows a body as parsed JSON only, and judges the one that was sent beside the one that came. Whole turns may be left
out of it, where one record that says so stands in their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Dict = dict[str, Any]

TRUSTED = ("system", "developer", "user")
RESULTS = ("tool", "function")
MARKERS = ("cache_control", "prompt_cache_breakpoint")
SAYS_SO = "[ctxgc:", " record of turns "
"""How the text of a record begins, and what stands in its first line."""


def broken(received: bytes, sent: bytes, gone: Sequence[int] = ()) -> list[str]:
    """What is wrong with ``sent`` in the place of ``received``: one sentence for each rule that it breaks.

    ``gone`` are the numbers of the messages that are said to be left out of it.
    """
    try:
        before, after = json.loads(received), json.loads(sent)
    except ValueError:
        return ["it is no JSON"]
    found = set(_fields(before, after))
    old, new = before["messages"], after["messages"]
    placed = place(old, new, gone)
    if placed is None:
        return [*found, "messages came or went"]
    for one, other in placed.pairs:
        found.update(_message(old[one], new[other]))
    came = {other: one for one, other in placed.pairs}
    if {(fault, came.get(at, -1)) for fault, at in unpaired(new)} - unpaired(old):
        found.add("a call and its result were parted")
    if placed.gone:
        found.update(_left_out(old, new, placed))
    if _count(after) > _count(before):
        found.add("there are more cache markers")
    return sorted(found)


def unpaired(messages: Sequence[Dict]) -> set[tuple[str, int]]:
    """Calls without a result before the next message of another role, and results without a call, by message."""
    found: set[tuple[str, int]] = set()
    opened: dict[str, int] = {}
    asked: set[str] = set()
    for at, message in enumerate(messages):
        if message.get("role") in RESULTS:
            answered = message.get("tool_call_id") or message.get("name")
            opened.pop(str(answered), None)
            found |= set() if str(answered) in asked else {("orphan", at)}
            continue
        found |= {("unanswered", place) for place in opened.values()}
        asked = {str(one.get("id")) for one in message.get("tool_calls") or ()}
        if message.get("function_call"):
            asked.add(str(message["function_call"].get("name")))
        opened = dict.fromkeys(asked, at)
    return found


@dataclass(frozen=True, slots=True)
class Placed:
    """Which message that came is which of those that were sent (``pairs``), by number. ``gone`` are those that were
    left out, and ``record`` the numbers of those that were sent in their place."""

    pairs: tuple[tuple[int, int], ...]
    gone: tuple[int, ...] = ()
    record: tuple[int, ...] = ()


def place(old: Sequence[Dict], new: Sequence[Dict], gone: Sequence[int] = ()) -> Placed | None:
    """What became of each message; None where others came or went than those that are ``gone`` and what says so."""
    stay = [at for at in range(len(old)) if at not in set(gone)]
    added = len(new) - len(stay)
    if added not in ((1, 2) if gone else (0,)):
        return None
    first = min(gone, default=0)
    while gone and first > 0 and not says_so(_text_of(new, first + added - 1)):  # behind what stays of a span
        first -= 1
    record = tuple(range(first, first + added))
    theirs = [at for at in range(len(new)) if at not in record]
    return Placed(tuple(zip(stay, theirs, strict=True)), tuple(sorted(gone)), record)


def _text_of(messages: Sequence[Dict], at: int) -> object:
    return messages[at].get("content") if at < len(messages) else None


def says_so(content: object) -> bool:
    """Whether a text is a record."""
    text = content if isinstance(content, str) else ""
    return text.startswith(SAYS_SO[0]) and SAYS_SO[1] in text.partition("\n")[0]


def _left_out(old: Sequence[Dict], new: Sequence[Dict], placed: Placed) -> Iterator[str]:
    """What is wrong with leaving those messages out, and with what stands in their place."""
    said = [at for at, one in enumerate(new) if says_so(one.get("content")) and one not in old]
    if said != [placed.record[-1]]:
        yield "not one record stands for what was left out"
    yield from _gone(old, placed)
    yield from _instead(new, placed.record)


def _gone(old: Sequence[Dict], placed: Placed) -> Iterator[str]:
    gone, last = set(placed.gone), placed.gone[-1]
    users = [at for at, message in enumerate(old) if message.get("role") == "user"]
    if any(old[at].get("role") in ("system", "developer") for at in gone):
        yield "a message of the system was left out"
    if gone.intersection((*users[:1], *users[-1:])):
        yield "the first or the last message of the user was left out"
    if any(_pinned(old[at]) for at in gone):
        yield "what the application pinned was left out"
    if any((call in gone) != (answer in gone) for answer, call in answers(old).items()):
        yield "a call and its result were parted"
    if old[placed.record[0]].get("role") != "assistant":
        yield "what was left out does not begin with a turn"
    late = answers(old).get(last + 1) not in (None, *gone)
    if last + 1 == len(old) or (old[last + 1].get("role") in RESULTS and not late):
        yield "what was left out does not end with a turn"


def _instead(new: Sequence[Dict], record: Sequence[int]) -> Iterator[str]:
    messages = [new[at] for at in record]
    if any(message.get("role") in TRUSTED for message in messages) or messages[0].get("role") != "assistant":
        yield "a record speaks as the user or the system"
    if len(messages) == 2 and [one.get("id") for one in messages[0].get("tool_calls") or ()] != [
        messages[1].get("tool_call_id")
    ]:
        yield "a record answers no call"
    following = new[record[-1] + 1] if record[-1] + 1 < len(new) else {}
    if messages[-1].get("role") in RESULTS and following.get("role") != "assistant":
        yield "nobody of the agent's follows a result"


def _pinned(message: Dict) -> bool:
    mark = message.get("ctxgc")
    return isinstance(mark, dict) and mark.get("pin") is True


def answers(messages: Sequence[Dict]) -> dict[int, int]:
    """For each result the call that it answers, however late: the newest one before it with its id."""
    found: dict[int, int] = {}
    asked: dict[str, int] = {}
    for at, message in enumerate(messages):
        if message.get("role") in RESULTS:
            answered = str(message.get("tool_call_id") or message.get("name"))
            if answered in asked:
                found[at] = asked[answered]
        for one in message.get("tool_calls") or ():
            asked[str(one.get("id"))] = at
        if message.get("function_call"):
            asked[str(message["function_call"].get("name"))] = at
    return found


def _fields(before: Dict, after: Dict) -> Iterator[str]:
    if list(before) != list(after) or any(before[key] != after[key] for key in before if key != "messages"):
        yield "something besides the messages changed"


def _message(old: Dict, new: Dict) -> Iterator[str]:
    old = {key: value for key, value in old.items() if key != "ctxgc"}
    if old == new:
        return
    role = old.get("role")
    if role in TRUSTED:
        yield "a message of the user or the system changed"
    elif role == "assistant":
        yield from _agent(old, new)
    else:
        if {**old, "content": 0} != {**new, "content": 0}:
            yield "a result changed in more than its text"
        yield from _content(old.get("content"), new.get("content"))


def _agent(old: Dict, new: Dict) -> Iterator[str]:
    thoughts = ("reasoning_content", "reasoning")
    if any(old.get(key) != new.get(key) and new.get(key) != " " for key in thoughts):
        yield "reasoning changed and is not blank"
    if any(key in old for key in ("reasoning_details", "thinking_blocks")):
        yield "signed reasoning was touched"
    if {**old, **dict.fromkeys(thoughts)} != {**new, **dict.fromkeys(thoughts)}:
        yield "what the agent said or called changed"


def _content(old: object, new: object) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str):
        yield from _text(old, new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _part(one, other)
    elif old != new:
        yield "the shape of a result changed"


def _part(old: object, new: object) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict) and old.get("type") == "text":
        if {**old, "text": 0} != {**new, "text": 0}:
            yield "a part changed in more than its text"
        old, new = old.get("text"), new.get("text")
    if isinstance(old, str) and isinstance(new, str):
        yield from _text(old, new)
    elif old != new:
        yield "a part that is no text changed"


def _text(old: str, new: str) -> Iterator[str]:
    if old.strip() and not new.strip():
        yield "a text became empty"
    if _lone(new) and not _lone(old):
        yield "a lone surrogate came into a text"
    if old != new and "ctxgc" not in new:
        yield "a text changed and does not say so"


def _lone(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _count(value: object) -> int:
    if isinstance(value, dict):
        return sum((key in MARKERS) + _count(inner) for key, inner in value.items())
    return sum(map(_count, value)) if isinstance(value, list) else 0
