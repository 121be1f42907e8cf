"""Families of tags: what a chart can tell apart by colour, and the order in which it stacks them.

Rule: a family is a tag without what it is about: its tool or its source. What applications name themselves comes last,
in the order in which it came, and beyond a dozen names it is one family.
"""

from __future__ import annotations

from collections.abc import Mapping

STACK = (
    *("system_prompt", "tool_schema", "summary", "ledger", "user_turn", "agent_reply", "agent_reasoning"),
    *("tool_call", "tool_result", "retrieval", "recall"),
)
"""The families of ctxgc's own tags, from the bottom of the stack, where what stays for long is."""
OTHER = "other"
_NAMED = 12
"""Families of applications that keep their names."""


class Families:
    """The families that have been seen."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._more: list[str] = []
        self._seen: set[str] = set()

    def sums(self, tally: Mapping[str, int]) -> dict[str, int]:
        """Tokens by family, from tokens by tag."""
        known, found = self._known, dict[str, int]()
        for tag, tokens in tally.items():
            family = known.get(tag) or self._family(tag)
            found[family] = found.get(family, 0) + tokens
        return found

    def stack(self) -> list[str]:
        """All families that have been seen, in the order in which they are stacked."""
        return [name for name in (*STACK, *self._more) if name in self._seen]

    def _family(self, tag: str) -> str:
        found = self._known[tag] = self._new(tag.partition(":")[0])
        return found

    def _new(self, name: str) -> str:
        if name not in STACK and name not in self._more:
            name = name if len(self._more) < _NAMED else OTHER
            self._more += [] if name in self._more else [name]
        self._seen.add(name)
        return name
