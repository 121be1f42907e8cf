"""Whole sessions by chance: at no moment has one cost more than its pacer may regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.pacer import Circumstances, Load, Pacer, Tariff
from ctxgc.core.policy import Urgency
from tests.core.test_pacer import tariffs


@dataclass(slots=True)
class Simulated:
    """A session of random results that die at random, sent as a pacer decides and, beside that, untouched."""

    pacer: Pacer
    tariff: Tariff
    chance: Random
    urgency: Urgency = "priced"
    paid: float = 0.0
    untouched: float = 0.0
    worst: float = 0.0
    collections: int = 0
    received: list[int] = field(default_factory=list)

    def run(self, turns: int) -> Simulated:
        """One request per turn. ``worst`` becomes the largest excess over untouched, as a share."""
        sent: list[int] = []
        due: dict[int, tuple[int, int]] = {}
        for turn in range(turns):
            cold = self.chance.random() < 0.05
            fresh = self.chance.choice((50, 500, 3000, 20_000))
            taken, bill = self._decided(sent, due, turn, fresh, cold=cold)
            for at in taken:
                sent[at] = due.pop(at)[0]
            self.paid += bill
            self.untouched += self._cost(sum(self.received), fresh, cold=cold)
            self.worst = max(self.worst, self.paid / self.untouched - 1)
            sent.append(fresh)
            self.received.append(fresh)
            for at, size in enumerate(sent):
                if at not in due and size > 100 and self.chance.random() < 0.2:
                    due[at] = (size // self.chance.choice((2, 5, 50)), turn + 1)
        return self

    def _decided(
        self, sent: Sequence[int], due: dict[int, tuple[int, int]], turn: int, fresh: int, *, cold: bool
    ) -> tuple[list[int], float]:
        newest = sorted(due, reverse=True)
        loads = [Load(sent[at] - due[at][0], sum(sent[at:]), due[at][1], self.urgency) for at in newest]
        now = Circumstances(turn, sum(sent), fresh, cold, sum(self.received), self.paid, self.untouched)
        decision = self.pacer.decide(loads, self.tariff, now)
        taken = newest[: decision.taken]
        self.collections += bool(taken)
        kept = sum(sent[: min(taken)]) if taken else sum(sent)
        rewritten = decision.live if taken else 0
        return taken, self._cost(kept, rewritten + fresh, cold=cold)

    def _cost(self, read: int, written: int, *, cold: bool) -> float:
        return self.tariff.cost(0, read + written) if cold else self.tariff.cost(read, written)


@given(
    st.builds(Random, st.integers(0, 2**48)), st.sampled_from((0.0, 0.03, 0.2)), st.sampled_from((0.0, 0.5, 1.0)),
    tariffs(),
    st.sampled_from(((), ((60_000, 2.0),))), st.integers(5, 60),
)  # fmt: skip
def test_at_no_time_has_a_session_cost_more_than_its_regret_twice_that_where_it_pays_soon(
    chance: Random, regret: float, patience: float, tariff: Tariff, steps: tuple[tuple[int, float], ...], turns: int
) -> None:
    tariff, state = replace(tariff, steps=steps), chance.getstate()
    for payback, bound in ((0, regret), (14, 2 * regret)):
        chance.setstate(state)
        pacer = Pacer(patience=patience, regret=regret, payback=payback)
        assert Simulated(pacer, tariff, chance).run(turns).worst <= bound + 1e-9


def test_the_simulated_sessions_do_collect() -> None:
    found = [Simulated(Pacer(), Tariff(least=0), Random(seed)).run(60) for seed in range(10)]
    assert all(one.collections > 1 for one in found)
    assert sum(one.paid for one in found) < 0.9 * sum(one.untouched for one in found)


def test_control_a_pacer_without_that_bound_breaks_it() -> None:
    eager = Pacer(patience=0, regret=9)
    assert max(Simulated(eager, Tariff(least=0), Random(seed)).run(30).worst for seed in range(10)) > 0.03
