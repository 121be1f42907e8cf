"""Which tool calls of a chat completion's reply are those of one tool, told apart while their deltas come.

Rule: a call is the tool's from the first delta with its name on; until a name is known, nobody's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ctxgc.wire.openai_chat_calls import Call, Calls
from ctxgc.wire.openai_chat_chunks import ToolCall, as_text
from ctxgc.wire.openai_chat_chunks import decode as decode_as

Json = dict[str, Any]  # a reply as it came: what is in it is asked for, part by part

_DELTA = msgspec.json.Decoder(ToolCall)


@dataclass(slots=True, eq=False)
class Known:
    """A call that deltas belong to: whose it is (None: not known yet), and which index it has for the client."""

    choice: int
    index: object
    name: str = ""
    mine: bool | None = None


@dataclass(slots=True)
class Placed:
    """A delta in its place: ``said`` is the delta or message that holds it."""

    said: Json
    delta: Json
    call: Known


class Taking:
    """Tells calls apart and takes those of the tool ``name`` out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: dict[tuple[int, str], Calls] = {}
        self._known: dict[int, Known] = {}
        self._kept_alive: list[Call] = []

    @property
    def met(self) -> bool:
        """Whether there was a call of the tool."""
        return any(call.mine for call in self._known.values())

    @property
    def sure(self) -> bool:
        """Whether it is known of every call whose it is."""
        return all(call.mine is not None for call in self._known.values())

    def settle(self) -> None:
        """What has no name by now is not the tool's."""
        for call in self._known.values():
            call.mine = bool(call.mine)

    def place(self, value: Json) -> Iterator[Placed]:
        """The deltas (or whole calls) in a chunk or reply."""
        for choice in choices_of(value):
            for key in ("delta", "message"):
                if isinstance(said := choice.get(key), dict):
                    yield from self._place(said, key, _number(choice))

    def _place(self, said: Json, key: str, choice: int) -> Iterator[Placed]:
        found = said.get("tool_calls")
        for number, delta in enumerate(found if isinstance(found, list) else ()):
            if isinstance(delta, dict):
                index = number if key == "message" else delta.get("index")
                yield Placed(said, delta, self._see(delta, key, choice, index))
        legacy = said.get("function_call")
        if isinstance(legacy, dict) and legacy.get("name") == self._name:
            known = self._known.setdefault(-1 - choice, Known(choice, None, mine=True))
            yield Placed(said, legacy, known)

    def _see(self, delta: Json, key: str, choice: int, index: object) -> Known:
        read = decode_as(_DELTA, json.dumps({**delta, "index": index}).encode()) or ToolCall()
        function = read.function or read.custom
        name = (function.name if function else None) or ""
        known = self._unnamed(choice, index, name)
        if known is None or read.id:
            known = self._known_by(self._calls.setdefault((choice, key), Calls()).find_or_begin(read), choice, index)
        if known.mine is None and function is not None:
            self._name_it(known, name, as_text(function.arguments or function.input))
        return known

    def _unnamed(self, choice: int, index: object, name: str) -> Known | None:
        """The call whose name goes on with ``name``: some servers send names in parts."""
        calls = (call for call in self._known.values() if call.mine is None and call.name and name)
        place = (choice, index)
        same = (call for call in calls if (call.choice, call.index) == place)
        return next((call for call in same if self._name.startswith(call.name + name)), None)

    def _known_by(self, call: Call, choice: int, index: object) -> Known:
        if id(call) not in self._known:
            self._kept_alive.append(call)  # so that no other gets its id
            self._known[id(call)] = Known(choice, index)
        return self._known[id(call)]

    def _name_it(self, known: Known, name: str, arguments: str) -> None:
        """Names may come in parts; what is the beginning of the tool's may still become it, until arguments come."""
        known.name += name
        if known.name == self._name:
            known.mine = True
        elif known.name and (arguments or not self._name.startswith(known.name)):
            known.mine = False

    def take_out(self, placed: list[Placed]) -> int:
        """Take the tool's calls out of where they stand, and close the gaps in the others' indices. Gives how many
        values changed."""
        changed = 0
        for each in placed:
            if each.call.mine:
                _remove(each.said, each.delta)
                changed += 1
            elif (shift := self._before(each.call)) and isinstance(each.delta.get("index"), int):
                each.delta["index"] -= shift
                changed += 1
        return changed

    def _before(self, call: Known) -> int:
        """How many of the tool's calls stand before one of the client's."""
        if not isinstance(call.index, int):
            return 0
        mine = (known.index for known in self._known.values() if known.mine and known.choice == call.choice)
        return len({index for index in mine if isinstance(index, int) and index < call.index})

    def emptied(self, choice: Json) -> bool:
        """Whether a choice called the tool and nothing else."""
        calls = [call.mine for call in self._known.values() if call.choice == _number(choice)]
        return bool(calls) and all(calls)

    def refinish(self, choice: Json) -> bool:
        """Have a choice from which all calls were taken end as a text does; whether that changed it."""
        if choice.get("finish_reason") not in ("tool_calls", "function_call") or not self.emptied(choice):
            return False
        choice["finish_reason"] = "stop"
        return True


def choices_of(value: Json) -> list[Json]:
    """The choices of a chunk or reply."""
    found = value.get("choices")
    return [choice for choice in found if isinstance(choice, dict)] if isinstance(found, list) else []


def said_by(choice: Json) -> Iterator[Json]:
    """What a choice says: its delta, its message, or both."""
    return (said for key in ("delta", "message") if isinstance(said := choice.get(key), dict))


def load(text: bytes, *, whole: bool = False) -> Any:
    """A chunk, or a whole reply, as it can be read; None where it cannot be."""
    try:
        found = json.loads(text.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) or (whole and isinstance(found, list)) else None


def add_usage(one: Mapping[str, object], other: Mapping[str, object]) -> Json:
    """Two reports of usage as one: figures of one name are added, whatever else the later says is kept."""
    total = dict(one)
    for key, value in other.items():
        before = total.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            total[key] = add_usage(before, value)
        elif _is_figure(before) and _is_figure(value):
            total[key] = before + value  # type: ignore[operator]
        elif value is not None or before is None:
            total[key] = value
    return total


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _remove(said: Json, delta: Json) -> None:
    if said.get("function_call") is delta:
        del said["function_call"]
        return
    rest = [call for call in said["tool_calls"] if call is not delta]
    said["tool_calls"] = rest
    if not rest:
        del said["tool_calls"]


def _number(choice: Json) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0
