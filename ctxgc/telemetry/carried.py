"""What one request carried, per tag: as it came and as it left, new in it or sent before.

Rule: read off the tallies that nodes carry for their whole path, so the work follows the number of tags and not the
length of the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ctxgc.core.journal import Allocation
from ctxgc.core.nodes import Tally
from ctxgc.core.state import State
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
    """A request's history as it stood at one moment. Tallies are values: later edits do not reach it.

    ``received`` and ``sent`` are the tokens of the part that was there before, and of all of it; ``tools`` and
    ``forwarded`` those of the tools that came, and that leave. ``record`` is what stands for a span from this request
    on: it is new, and stands in the part that was there before. ``undone`` are tokens that the cache took anew because
    the provider refused what had been sent in its place.
    """

    entry: Allocation
    received: tuple[Tally, Tally]
    sent: tuple[Tally, Tally]
    tools: Tally
    forwarded: Tally
    outcome: str = "noop"
    record: Tally = field(default_factory=dict)
    undone: int = 0

    @classmethod
    def at(cls, state: State, entry: Allocation, outcome: str, record: Tally = MappingProxyType({})) -> Carried:
        """What the request of ``entry`` carries by the state as it is now; ``outcome`` is its collection's."""
        head, base = state.node(entry.head), state.node(entry.parent)
        known = state.left(entry.parent, entry.call)
        tools, forwarded = state.toolset(entry.toolset).tally, state.tools(entry)
        sent = (known, state.sent(entry.head))
        return cls(entry, (base.received, head.received), sent, tools, forwarded, outcome, record)

    def parts(self, stage: str) -> Iterator[Part]:
        """The tokens per tag at ``received`` or ``forwarded``. A tag may come twice.

        What no client asked for was not received.
        """
        came = stage == RECEIVED
        if came and self.entry.again:
            return
        base, head = self.received if came else self.sent
        for tag, tokens in head.items():
            before = base.get(tag, 0) - (0 if came else self.record.get(tag, 0))
            yield Part(tag, max(tokens - before, 0), before)
        fresh = self.entry.schemas is not None
        for tag, tokens in (self.tools if came else self.forwarded).items():
            yield Part(tag, tokens, 0) if fresh else Part(tag, 0, tokens)

    def saved(self) -> Saved:
        """How many tokens less were sent than came; never less than none, since what is counted of it only grows."""
        if self.entry.again:
            return Saved(0, 0)
        base, head = (
            sum(came.values()) - sum(left.values()) for came, left in zip(self.received, self.sent, strict=True)
        )
        return Saved(max(head - base, 0), max(base, 0))

    def predicted(self, least: int) -> Split | None:
        """Which of its tokens the pacer predicted to be read from the cache; None where nothing sent was collected.

        ``least`` are the tokens of the shortest prefix that the provider caches.
        """
        pace, tools = self.entry.pace, sum(self.forwarded.values())
        if pace is None or not pace.trigger:
            return None
        base, total = (sum(tally.values()) + tools for tally in self.sent)
        return predicted(pace, base, total, fresh_tools=self.entry.schemas is not None, least=least)
