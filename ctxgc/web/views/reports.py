"""What providers reported and what we had estimated, summed up as the calls of a session end.

Rule: the provider's figures stand beside ours and are never mixed with them; its cache hits are its own doing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxgc.core.journal import Settlement
from ctxgc.lab.costs import PriceOf, reported_of


@dataclass(slots=True)
class Reports:
    """Sums over the calls that reported usage, in tokens; ``usd`` is what they cost with their output, and None where a
    model has no list price."""

    price_of: PriceOf
    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    estimated: int = 0
    usd: float | None = 0.0

    def take(self, entry: Settlement) -> None:
        """Take the end of a call."""
        found = reported_of((entry,), self.price_of)
        if found is None:
            return
        self.calls += 1
        self.input += found.uncached + found.cached + found.written
        self.cached += found.cached
        self.output += found.output
        self.estimated += found.estimated
        self.usd = None if self.usd is None or found.usd is None else self.usd + found.usd
