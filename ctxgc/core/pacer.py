"""The pacer: when to collect, decided by price. A rewritten prefix is billed once more; garbage is billed every turn.

Rule: what it takes back it pays for within bounds. At no moment has a session cost more than twice ``regret`` above
what it would have cost untouched, by these prices; only a full window or a quality budget may override that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxgc.core.policy import Urgency

Trigger = Literal["", "cold", "rent", "window", "quality", "asked"]
"""Why a collection is made: the cache is cold, the rent has reached the price, no room, or a policy said now."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """What input costs: per token read from the cache and written to it, in any one unit.

    ``ttl`` is how many seconds a cached prefix lives after its last use; ``window`` the model's input window in tokens
    (0: not known); ``least`` the shortest prefix cached; ``steps`` are totals (tokens) above which all input costs so
    many times more; ``binds_thinking`` says that earlier thinking is void when anything before it changes.
    """

    read: float = 0.1
    write: float = 1.25
    ttl: float = 300.0
    window: int = 0
    least: int = 1024
    steps: tuple[tuple[int, float], ...] = ()
    binds_thinking: bool = False

    def cost(self, read: int, written: int) -> float:
        """The cost of one request's input: so many tokens read from the cache, so many written to it."""
        total = read + written
        factor = max((times for above, times in self.steps if total > above), default=1.0)
        if total < self.least or read < self.least:
            read, written = 0, total
        return factor * (read * self.read + written * self.write)


@dataclass(frozen=True, slots=True)
class Load:
    """One candidate as the pacer sees it, newest first: tokens it saves each turn, tokens sent from it on to the end
    of what was sent before, and the turn since which it is due."""

    saved: int
    behind: int
    since: int
    urgency: Urgency = "priced"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision depends on besides the candidates.

    ``sent`` and ``fresh`` are the tokens of the coming request that were sent before and that are new; ``received``,
    those sent before as they came. ``paid`` and ``untouched`` are what the session's input has cost so far, and what
    it would have cost if nothing had ever been collected, in the tariff's unit.
    """

    turn: int
    sent: int
    fresh: int
    cold: bool
    received: int = 0
    paid: float = 0.0
    untouched: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """What is collected now: the first ``taken`` candidates (forced ones among them only where room is made; they are
    not counted otherwise), and the figures this was decided by.

    ``dead`` is what they save each turn and ``live`` what is rewritten for it, in tokens; ``price`` what that costs
    once beyond doing nothing, ``rent`` what the garbage has cost since it was due, both in the tariff's unit.
    """

    trigger: Trigger = ""
    taken: int = 0
    dead: int = 0
    live: int = 0
    rent: float = 0.0
    price: float = 0.0


@dataclass(frozen=True, slots=True)
class Pacer:
    """Ski rental with a bound on regret.

    ``patience``: the share of a collection's price that its garbage must have cost before it is made. At 1, never more
    than twice the best schedule in hindsight (Karlin, Manasse, Rudolph and Sleator 1988).
    ``regret``: how much more a session may have cost at any moment than untouched, as a share; twice that where the
    collection pays for itself within ``payback`` turns.
    ``horizon``: turns that a collection is expected to pay for, to choose between several.
    ``high``, ``low``: shares of the window at which room is made, and to which.
    ``quality``: tokens that a request should not exceed whatever it costs; 0 for no such budget.
    """

    patience: float = 0.5
    regret: float = 0.03
    payback: int = 20
    horizon: int = 20
    high: float = 0.75
    low: float = 0.5
    quality: int = 0

    def surplus(self, tariff: Tariff, total: int) -> int:
        """Tokens that must go from a request of ``total``; 0 where nothing must."""
        if tariff.window and total > self.high * tariff.window:
            return total - int(self.low * tariff.window)
        if self.quality and total > self.quality:
            return total - int(self.quality * self.low / self.high)
        return 0

    def decide(self, loads: Sequence[Load], tariff: Tariff, now: Circumstances) -> Decision:
        """Which of the candidates, newest first, are collected with the coming request."""
        if tariff.binds_thinking or not loads:
            return Decision()
        total = now.sent + now.fresh
        surplus = self.surplus(tariff, total)
        if surplus:
            full = tariff.window and total > self.high * tariff.window
            return _enough(tuple(figures(loads, tariff, now)), surplus, "window" if full else "quality")
        unforced = [one for one in loads if one.urgency != "forced"]
        options = [one for one in figures(unforced, tariff, now) if _stays_cached(one, tariff, total)]
        if options and (now.cold or tariff.read >= tariff.write):
            return replace(options[-1], trigger="cold")
        asked = [one for one in options if unforced[one.taken - 1].urgency == "now"]
        if asked:
            return replace(asked[-1], trigger="asked")
        due = [one for one in options if self.pays(one, tariff, now)]
        best = max(due, key=lambda one: self._value(one, tariff), default=None)
        return replace(best, trigger="rent") if best else Decision()

    def pays(self, one: Decision, tariff: Tariff, now: Circumstances) -> bool:
        """Whether the rent has come to the price, and the session could end here without costing too much."""
        if one.rent < self.patience * one.price:
            return False
        paid = now.paid + tariff.cost(now.sent, now.fresh) + one.price
        untouched = now.untouched + tariff.cost(max(now.received, now.sent), now.fresh)
        return paid <= (1 + self._bound(one, tariff)) * untouched

    def _bound(self, one: Decision, tariff: Tariff) -> float:
        quick = one.price <= self.payback * one.dead * tariff.read
        return self.regret * 2 if quick else self.regret

    def _value(self, one: Decision, tariff: Tariff) -> float:
        return self.horizon * one.dead * tariff.read - one.price


def figures(loads: Sequence[Load], tariff: Tariff, now: Circumstances) -> Iterator[Decision]:
    """The figures for collecting the newest candidate, the newest two, and so on.

    ``price`` is the difference of two bills for the coming request: with the part from the oldest of them on written
    anew, and untouched; without steps that is (S + k)(w - r) - (D - k) r, the break-even formula of prefix caches.
    """
    dead, owed = 0, 0
    untouched = tariff.cost(now.sent, now.fresh)
    for taken, load in enumerate(loads, 1):
        dead += load.saved
        owed += load.saved * max(0, now.turn - load.since)
        live = max(load.behind - dead, 0)
        price = tariff.cost(max(now.sent - load.behind, 0), live + now.fresh) - untouched
        yield Decision("", taken, dead, live, owed * tariff.read, price)


def _stays_cached(one: Decision, tariff: Tariff, total: int) -> bool:
    """Whether what is left is long enough to be cached at all: a shorter one would be so later than untouched."""
    return tariff.read >= tariff.write or total - one.dead >= tariff.least


def _enough(options: Sequence[Decision], surplus: int, trigger: Trigger) -> Decision:
    """The fewest newest candidates that make enough room, or all; none where all together make hardly any.

    Without that last condition a history that cannot get small enough would be rewritten every turn for nothing.
    """
    enough = next((one for one in options if one.dead >= surplus), options[-1])
    return replace(enough, trigger=trigger) if enough.dead * 10 >= surplus else Decision()
