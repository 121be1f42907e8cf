"""What one request carried, per tag: as it came and as it left, new in it or sent before.

Rule: read off the tallies that nodes carry for their whole path, so the work follows the number of tags and not the
length of the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ctxgc.core.journal import Allocation
from ctxgc.core.state import Node, State, Tally
from ctxgc.lab.forecasts import Split, predicted

RECEIVED, FORWARDED = "received", "forwarded"
STAGES = (RECEIVED, FORWARDED)


class Part(NamedTuple):
    """Tokens of one tag in a request."""

    tag: str
    fresh: int
    replayed: int


class Saved(NamedTuple):
    """Tokens that came and were not sent."""

    fresh: int
    replayed: int


@dataclass(frozen=True, slots=True)
class Carried:
    """A request's history as it stood at one moment. Nodes and tallies are values: later edits do not reach it."""

    entry: Allocation
    head: Node
    base: Node
    tools: Tally
    outcome: str = "noop"

    @classmethod
    def at(cls, state: State, entry: Allocation, outcome: str) -> Carried:
        """What the request of ``entry`` carries by the state as it is now; ``outcome`` is its collection's."""
        tools = state.toolset(entry.toolset).tally
        return cls(entry, state.node(entry.head), state.node(entry.parent), tools, outcome)

    def parts(self, stage: str) -> Iterator[Part]:
        """The tokens per tag at ``received`` or ``forwarded``. A tag may come twice. Tool lists leave as they came."""
        received = stage == RECEIVED
        head, base = (node.received if received else node.sent for node in (self.head, self.base))
        for tag, tokens in head.items():
            before = base.get(tag, 0)
            yield Part(tag, max(tokens - before, 0), before)
        fresh = self.entry.schemas is not None
        for tag, tokens in self.tools.items():
            yield Part(tag, tokens, 0) if fresh else Part(tag, 0, tokens)

    def saved(self) -> Saved:
        """How many tokens less were sent than came."""
        base = sum(self.base.received.values()) - sum(self.base.sent.values())
        head = sum(self.head.received.values()) - sum(self.head.sent.values())
        return Saved(head - base, base)

    def predicted(self, least: int) -> Split | None:
        """Which of its tokens the pacer predicted to be read from the cache; None where nothing sent was collected.

        ``least`` are the tokens of the shortest prefix that the provider caches.
        """
        pace, tools = self.entry.pace, sum(self.tools.values())
        if pace is None or not pace.trigger:
            return None
        base, total = (sum(node.sent.values()) + tools for node in (self.base, self.head))
        return predicted(pace, base, total, fresh_tools=self.entry.schemas is not None, least=least)
