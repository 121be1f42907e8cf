"""What grows in a chat-completions reply while it streams: texts, and tool calls told apart whatever servers leave out.

Rule: nothing here raises; what servers repeat is kept once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxgc.core.block import Author, Block, Kind
from ctxgc.wire.openai_chat_chunks import Function, ToolCall, as_text

_SURE = 8  # from this length on, a delta that begins with all there was so far is no coincidence
_CALL_COST = 256


@dataclass(slots=True)
class Text:
    """A text that comes in deltas or, from servers that misread the format, each time with all there was before."""

    parts: list[str] = field(default_factory=list)
    growing: bool = True
    whole: bool = False

    def add(self, delta: str) -> int:
        """Take a delta, and give about how much more is kept now."""
        if not delta:
            return 0
        last = self.parts[-1] if self.parts else ""
        self.growing = self.growing and delta.startswith(last) and (self.whole or len(delta) > len(last))
        if self.growing and (self.whole or len(last) >= _SURE):
            self.parts, self.whole = [delta], True
            return len(delta) - len(last)
        self.parts.append(delta)
        return len(delta)

    def __str__(self) -> str:
        return repaired("".join(self.parts))


@dataclass(slots=True)
class Call:
    """A tool call, as far as its deltas have come."""

    id: str = ""
    name: str = ""
    text: Text = field(default_factory=Text)

    def add(self, function: Function | None) -> int:
        """Take what a delta adds, and give about how much more is kept now."""
        if function is None:
            return 0
        self.name = self.name or function.name or ""
        delta = as_text(function.input if function.arguments is None else function.arguments)
        if self.text.parts == ["{}"] and delta.startswith("{"):  # it was a placeholder
            self.text = Text()
        return self.text.add(delta)


class Calls:
    """The tool calls, told apart by id and index; servers leave out either, or give every call the index 0."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._latest: dict[int | None, Call] = {}
        self._named: dict[tuple[int | None, str], Call] = {}
        self._legacy = Call()

    def add(self, delta: ToolCall) -> int:
        """Take a delta, and give about how much more is kept now."""
        known = len(self._calls)
        call = self.find_or_begin(delta)
        return (len(self._calls) - known) * _CALL_COST + call.add(delta.function or delta.custom)

    def find_or_begin(self, delta: ToolCall) -> Call:
        """The call that a delta belongs to, without the arguments that it adds to it."""
        function = delta.function or delta.custom
        name = (function.name if function else None) or ""
        call = self._find(delta, name)
        if call is None:
            call = Call()
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        call.name = call.name or name
        self._latest[delta.index] = self._latest[None] = call
        self._named[delta.index, call.id] = self._named[None, call.id] = call
        return call

    def add_legacy(self, function: Function) -> int:
        """Take a delta of the deprecated ``function_call``."""
        return self._legacy.add(function)

    def blocks(self) -> Iterator[Block]:
        """The calls as blocks."""
        for call in (*self._calls, self._legacy):
            if call.id or call.name or call.text.parts:
                name, call_id = repaired(call.name), repaired(call.id)
                yield Block(Kind.TOOL_CALL, Author.AGENT, str(call.text), name=name, call_id=call_id)

    def _find(self, delta: ToolCall, name: str) -> Call | None:
        """The call that a delta goes on with, or None where it begins one."""
        if delta.id and (delta.index, delta.id) in self._named:
            return self._named[delta.index, delta.id]
        begins = bool(delta.id or name)
        last = self._latest.get(delta.index, None if begins else self._latest.get(None))
        if last is None or not name:  # without a name it goes on, whatever its id: some give every delta a new one
            return last
        if delta.id and last.id:
            return None
        # No id to go by: a name said twice is the same call said again, if it has the same place.
        same = not last.name or (last.name == name and delta.index is not None)
        return last if same else None


def repaired(text: str) -> str:
    """``text`` with surrogate pairs that came in two deltas joined, and lone surrogates replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
