"""Sums, distributions, and who beats whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.lab.batch import Compared
from ctxgc.lab.billing import Fit
from ctxgc.lab.comparison import Run
from ctxgc.lab.judge import Judged, Survival
from ctxgc.lab.totals import Spread, dominated, pooled, spread, totals

from .recordings import at_price


def compared(read: float, written: float, sent: tuple[float, float], survival: Survival, turns: int = 4) -> Compared:
    judged = Judged(turns=turns, read=sent[0], written=sent[1], rewrites=1, survival=survival, by_tag={"a": survival})
    run = Run("eden", at_price("9"), judged, 0, {"eden": 2}, 0.5, 0.25)
    return Compared("t", "f", "m", Fit(), Judged(turns=turns, read=read, written=written), 0, 0.0, 0, (run,))


def test_the_bill_is_a_sum_and_not_a_mean_of_ratios():
    large = compared(90_000, 1000, (90_000, 1000), Survival(10, 10, 10))
    small = compared(90, 1, (0, 1), Survival(10, 0, 5, 10))
    (found,) = totals([large, small])
    assert (found.policy, found.price_class, found.sessions, found.turns) == ("eden", "9", 2, 8)
    assert found.cost == pytest.approx(10_001 / 10_010)
    assert found.costs.worst == 1
    assert found.costs.median == pytest.approx((1 + 0.1) / 2)
    assert found.survival == Survival(20, 10, 15, 10)
    assert (found.survivals.median, found.survivals.worst) == (0.5, 0)
    assert (found.rewrites, found.collections, found.prepare_seconds) == (0.25, {"eden": 4}, 1.0)


def test_sessions_in_which_nothing_is_needed_say_nothing_about_survival():
    (found,) = totals([compared(9, 1, (9, 1), Survival()), compared(9, 1, (9, 1), Survival(2, 1, 1))])
    assert found.survivals == Spread(0.5, 0.5, 0.5, 0.5)
    assert found.survival.survived == 0.5


def test_nothing_at_all_has_no_totals():
    assert totals([]) == ()
    assert spread([]).median == 1


def test_quantiles_are_interpolated():
    assert spread([4, 1, 3, 2, 5]) == Spread(1.4, 3, 4.6, 5)
    assert spread([1.0, 2.0], least=True).worst == 1.0


@given(st.lists(st.floats(0, 10), min_size=1))
def test_a_spread_is_in_order(values):
    found = spread(values)
    assert min(values) <= found.p10 <= found.median + 1e-9
    assert found.median <= found.p90 + 1e-9 <= found.worst + 2e-9


def test_the_dominated_are_those_that_another_beats_in_one_and_equals_in_the_other():
    points = [(0.5, 0.9), (0.6, 0.9), (0.4, 0.5), (0.5, 0.9), (1.0, 1.0), (1.0, 0.99)]
    assert dominated(points) == (False, True, False, False, False, True)


def test_survival_is_pooled_by_name_the_most_needed_first():
    found = pooled([{"a": Survival(1, 1, 1)}, {"b": Survival(5, 2, 3)}, {"a": Survival(1, 0, 0, 1)}])
    assert list(found.items()) == [("b", Survival(5, 2, 3)), ("a", Survival(2, 1, 1, 1))]
