"""Signed reasoning in a streamed reply that follows others in one answer: what clients put together stays apart.

Rule: clients join the entries of ``reasoning_details`` that have one index, whatever reply they came in, and send them
back, and providers check the signature of each; so no index that a client has seen is used again by a later reply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxgc.wire.codec import Earlier
from ctxgc.wire.openai_chat_taking import Json, choices_of

KEY = "reasoning_details"
BLOCKS = "thinking_blocks"
"""LiteLLM's form of the same, whose entries have no index: each ends with its signature."""
_TEXTS = ("text", "summary", "thinking")
"""What of an entry comes in fragments."""
_HIGHEST = 1 << 31


@dataclass(frozen=True, slots=True)
class Heard(Earlier):
    """Earlier replies of a stream: with which index the next entry of reasoning may go out."""

    free: int = 0


class Numbering:
    """Gives the entries of a reply indices behind those of earlier ones, and keeps back what need not be shown."""

    def __init__(self, earlier: Earlier) -> None:
        self._first = self.free = earlier.free if isinstance(earlier, Heard) else 0

    def renumber(self, value: Json) -> bool:
        """Move the indices in a chunk behind those of earlier replies; whether that changed it."""
        moved = False
        for entry in (entry for delta in _deltas(value) for entry in delta[KEY]):
            if (index := _index(entry)) is not None:
                entry["index"] = index + self._first
                self.free = max(self.free, index + self._first + 1)
                moved = True
        return moved and self._first > 0

    def keep_back(self, value: Json) -> Json | None:
        """Take the entries that the client has seen nothing of out of a chunk: a chunk of those, renumbered; None where
        there are none. What goes on with one that it has seen stays, since it may be a signature."""
        choices = []
        for choice in choices_of(value):
            delta = choice.get("delta")
            if isinstance(delta, dict) and (kept := self._unseen(delta)):
                choices.append({"index": choice.get("index", 0), "delta": {KEY: kept}, "finish_reason": None})
        return alone(value, choices) if choices else None

    def _unseen(self, delta: Json) -> list[object]:
        entries = delta.get(KEY)
        kept: list[object] = []
        rest: list[object] = []
        for entry in entries if isinstance(entries, list) else ():
            index = _index(entry)
            if index is not None and index + self._first < self.free:
                rest.append(entry)
            else:
                kept.append(entry if index is None else {**entry, "index": index + self._first})
        if kept:
            delta[KEY] = rest
        if kept and not rest:
            del delta[KEY]
        return kept


def joined(entries: list[Any]) -> list[Any]:
    """The entries that the fragments of a stream come to, in the order in which they began: providers want the sequence
    back that they made (https://openrouter.ai/docs/use-cases/reasoning-tokens). What has no index stays as it is."""
    parts: dict[tuple[int, object], list[Any]] = {}
    for number, entry in enumerate(entries):
        index = _index(entry)
        key = (-1, number) if index is None else (index, str(entry.get("type")))
        parts.setdefault(key, []).append(entry)
    return list(map(_whole, parts.values()))


def joined_blocks(entries: list[Any]) -> list[Any]:
    """The same for blocks without an index: a thinking goes on until its signature, or until something else comes."""
    parts: list[list[Any]] = []
    goes_on = False
    for entry in entries:
        thinking = isinstance(entry, dict) and entry.get("type") == "thinking"
        if thinking and goes_on:
            parts[-1].append(entry)
        else:
            parts.append([entry])
        goes_on = thinking and not entry.get("signature")
    return list(map(_whole, parts))


def _whole(parts: list[Any]) -> Any:
    """What fragments come to: texts go on; of all else the last that is given counts."""
    if len(parts) == 1:
        return parts[0]
    whole: Json = {}
    for part in parts:
        whole |= {key: value for key, value in part.items() if value is not None or key not in whole}
    for key in _TEXTS:
        if isinstance(whole.get(key), str):
            whole[key] = "".join(text for part in parts if isinstance(text := part.get(key), str))
    return whole


def alone(value: Json, choices: list[Json]) -> Json:
    """A chunk like another, with these choices and without its usage."""
    return {**{key: part for key, part in value.items() if key != "usage"}, "choices": choices}


def _deltas(value: Json) -> list[Json]:
    deltas = (choice.get("delta") for choice in choices_of(value))
    return [delta for delta in deltas if isinstance(delta, dict) and isinstance(delta.get(KEY), list)]


def _index(entry: Any) -> int | None:
    index = entry.get("index") if isinstance(entry, dict) else None
    return index if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < _HIGHEST else None
