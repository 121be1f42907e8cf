"""When a summariser is not asked any more: after failures in a row, for some spans.

Rule: a fold of outcomes, without a clock, so that a journal always gives the same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

TAKEN = "taken"
"""The outcome of a summary that was taken; of one that was not, the outcome begins with ``refused``."""
FAILURES, SPANS = 3, 3
"""Failures in a row after which nothing is asked, and for how many spans."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """``failures`` in a row, and how many spans were compacted without asking since."""

    failures: int = 0
    without: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[str]) -> Breaker:
        """The breaker after these outcomes of spans, oldest first; an empty one is a span that nobody was asked of."""
        found = cls()
        for outcome in outcomes:
            found = found.after(outcome)
        return found

    @property
    def asks(self) -> bool:
        """Whether the next span may be asked about: as a probe, where there were failures before."""
        return self.failures < FAILURES or self.without >= SPANS

    def after(self, outcome: str) -> Breaker:
        """The breaker after a span with this outcome."""
        if outcome == TAKEN:
            return Breaker()
        if outcome == "":
            return Breaker(self.failures, self.without + (self.failures >= FAILURES))
        return Breaker(self.failures + 1)
