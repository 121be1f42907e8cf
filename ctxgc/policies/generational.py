"""Generational: results that nothing refers to any more leave an excerpt, a shorter one when they are old.

Rule: how long a result must have been idle depends on its size, since a large one costs more while it waits, and on
whether anything has referred to it; what its excerpt keeps depends on how much each line says for its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least, check_shares, results, turns

_SIZE, _EXPONENT, _SLOWEST = 2500, 0.3, 1.5
"""Idle limits are for results of this many tokens; they shrink with the cube root (nearly) of the size, and grow by
half at most."""
_PATIENCE = 4
"""How many times its limit a site that was recalled may come to wait."""


@dataclass(frozen=True, slots=True)
class Generational:
    """Leave an excerpt of results that were not referred to for some turns.

    ``idle``: turns after which a result of 2,500 tokens that nothing ever referred to is dead; at least 1; default 4.
    ``idle_referenced``: the same for one that something did refer to, counted from then; default 5.
    ``old_idle``: turns after which what is left is dead, too; at least 1; default 14.
    ``density``: the least that a line of the first excerpt must be worth, in telling terms per token; default 0.06.
    ``density_referenced``, ``old_density``: the same for the others; default 0.035 and 0.4.
    ``keep``: the share of its tokens that an excerpt may take at most, 0 to 1; default 0.4.
    ``early``: the share of its limit, 0 to 1, from which on a result goes along when others go; default 0.2.
    ``min_tokens``: tokens of the smallest result that is shortened, as it is sent now; at least 0; default 100.
    ``learn``: turns by which each recall of a result of the same tool raises these limits, to four times what they
    are at most; at least 0; default 2.
    ``quotable_idle``: turns without a reference before which the newest view of a resource that was edited stays;
    at least 0; default 4; 0 gives it no grace.
    """

    idle: int = 4
    idle_referenced: int = 5
    old_idle: int = 14
    density: float = 0.06
    density_referenced: float = 0.035
    old_density: float = 0.4
    keep: float = 0.4
    early: float = 0.2
    min_tokens: int = 100
    learn: int = 2
    quotable_idle: int = 4

    def __post_init__(self) -> None:
        check_least(1, idle=self.idle, idle_referenced=self.idle_referenced, old_idle=self.old_idle)
        check_least(0, learn=self.learn, quotable_idle=self.quotable_idle, min_tokens=self.min_tokens)
        check_shares(keep=self.keep, early=self.early)
        for name in ("density", "density_referenced", "old_density"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is at least 0, not {getattr(self, name)}")

    @property
    def name(self) -> str:
        """``generational``."""
        return "generational"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that is past its limit, or close enough to it to go along."""
        for one in results(heap):
            if one.sent >= self.min_tokens or one.points:
                yield from self._judge(one, heap.turn)

    def _judge(self, one: Resident, now: int) -> Iterator[Verdict]:
        idle, density = self._young(one)
        old, generation = self._limit(one, self.old_idle), "young"
        if self.name in one.edited or one.idle(now) >= old:
            # What is left of one that was shortened is due for itself; a whole one has been due since it was dead.
            idle = old if self.name in one.edited else idle
            density, generation = self.old_density, "old"
        if one.idle(now) >= ceil(idle * self.early) and (not one.quotable or one.idle(now) >= self.quotable_idle):
            reason = f"{generation}, unused for {turns(one.idle(now))}"
            since = one.referenced + max(idle, self.quotable_idle if one.quotable else 0)
            yield Verdict(one.id, self.name, "excerpt", reason, excerpt=self.keep, density=density, since=since)

    def _young(self, one: Resident) -> tuple[int, float]:
        if one.references:
            return self._limit(one, self.idle_referenced), self.density_referenced
        return self._limit(one, self.idle), self.density

    def _limit(self, one: Resident, idle: int) -> int:
        """Turns that this result may be idle: by its size, and by what was learned of its tool."""
        scale: float = min(_SLOWEST, (_SIZE / max(one.tokens, 1)) ** _EXPONENT)
        return min(max(1, round(idle * scale)) + self.learn * one.resurrected, _PATIENCE * idle)
