"""Churn: how often requests sent once more what had been sent before, because something in front of it was changed.

Rule: what the agent sends again is known by its content, in messages that go on from no earlier request's end; what a
collection makes us send again is what the pacer says. Each cell is looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxgc.core.heap import Cell
from ctxgc.core.journal import Allocation

LEAST = 1024
"""Tokens below which nothing is cached, and so nothing is lost."""
SHARE = 0.2
"""The least share of a request that must have been sent again for it to count."""


@dataclass(frozen=True, slots=True)
class Churn:
    """Of so many ``requests`` that were long enough to be cached, how many sent something again (``changed``), how many
    ``tokens`` that was, and in how many of these it was mostly because of a collection of ours (``ours``)."""

    requests: int = 0
    changed: int = 0
    ours: int = 0
    tokens: int = 0


NONE = Churn()


@dataclass(slots=True)
class Churning:
    """Counts."""

    requests: int = 0
    changed: int = 0
    ours: int = 0
    tokens: int = 0
    _contents: set[bytes] = field(default_factory=set)
    _ends: set[int] = field(default_factory=set)

    def take(self, entry: Allocation, new: Sequence[Cell], total: int, *, collected: bool) -> None:
        """Take a request with its new cells and all its tokens as sent; ``collected``: we changed what it had sent."""
        agent = 0 if entry.parent in self._ends else sum(one.sent for one in new if one.content in self._contents)
        ours = entry.pace.live if collected and entry.pace else 0
        self.requests += total >= LEAST
        if agent + ours >= max(LEAST, SHARE * total):
            self.changed += 1
            self.ours += ours > agent
            self.tokens += agent + ours
        self._contents.update(one.content for one in new)
        self._ends.add(entry.head)

    def churn(self) -> Churn:
        """What was counted."""
        return Churn(self.requests, self.changed, self.ours, self.tokens)
