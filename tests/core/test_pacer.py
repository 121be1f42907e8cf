"""When to collect: the figures are those of the bill, and no schedule that they lead to is a bad deal for long."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxgc.core.pacer import Circumstances, Decision, Load, Pacer, Tariff
from ctxgc.core.policy import Urgency

WARM = Circumstances(turn=10, sent=50_000, fresh=500, cold=False, paid=1e9, untouched=1e9)
"""A long session in which nothing has been lost or won so far."""
WILLING = Pacer(patience=0, regret=9)
"""Collects whatever has a candidate, so that its figures can be looked at."""


def tariffs() -> st.SearchStrategy[Tariff]:
    """Prices of today's providers, from free writes to reads at a fiftieth."""
    return st.builds(
        Tariff,
        read=st.sampled_from((0.02, 0.05, 0.1, 0.25, 1.0)),
        write=st.sampled_from((1.0, 1.25, 2.0)),
        least=st.just(0),
    )


# The figures


@given(
    st.integers(0, 200_000), st.integers(100, 50_000), st.integers(0, 50_000), st.integers(0, 60),
    st.integers(0, 400), tariffs(),
)  # fmt: skip
def test_it_pays_from_the_break_even_number_of_requests_on(
    prefix: int, dead: int, live: int, stubs: int, later: int, tariff: Tariff
) -> None:
    """n* = ((w/r - 1)(S + k)) / (D - k): derived from two bills, with the stub k in the place of D before S."""
    assume(tariff.read < tariff.write)
    now = replace(WARM, sent=prefix + dead + live, fresh=0)
    decision = WILLING.decide([Load(dead - stubs, dead + live, now.turn)], tariff, now)
    assert decision.live == live + stubs
    least = (tariff.write / tariff.read - 1) * (live + stubs) / (dead - stubs)
    assume(abs(later + 1 - least) > 1e-6)
    assert (decision.price <= later * decision.dead * tariff.read) == (later + 1 >= least)


def test_control_a_formula_without_the_rewritten_part_is_another() -> None:
    now = replace(WARM, sent=40_000, fresh=0)
    decision = WILLING.decide([Load(10_000, 30_000, now.turn)], Tariff(least=0), now)
    assert decision.price == pytest.approx(20_000 * 1.15 - 10_000 * 0.1)
    assert decision.price != pytest.approx(-10_000 * 0.1)


@given(st.integers(0, 300_000), st.integers(0, 300_000), tariffs())
def test_a_bill_is_the_sum_of_what_is_read_and_written(read: int, written: int, tariff: Tariff) -> None:
    assert tariff.cost(read, written) == pytest.approx(read * tariff.read + written * tariff.write)


def test_above_a_step_all_input_costs_more() -> None:
    tariff = Tariff(steps=((200_000, 2.0), (400_000, 5.0)))
    plain = Tariff()
    for total, factor in ((200_000, 1), (200_001, 2), (400_001, 5)):
        assert tariff.cost(total - 1000, 1000) == pytest.approx(factor * plain.cost(total - 1000, 1000))


def test_a_step_that_is_left_is_part_of_the_price() -> None:
    now = replace(WARM, sent=210_000, fresh=0)
    load = Load(20_000, 22_000, now.turn)
    assert WILLING.decide([load], Tariff(steps=((200_000, 2.0),)), now).price < 0
    assert WILLING.decide([load], Tariff(), now).price > 0


def test_a_prefix_that_is_too_short_is_not_cached() -> None:
    tariff = Tariff(least=1024)
    assert tariff.cost(1023, 5000) == tariff.cost(0, 6023)
    assert tariff.cost(1024, 5000) < tariff.cost(0, 6024)


def test_candidates_are_summed_up_from_the_newest_on() -> None:
    loads = [Load(100, 1000, 8), Load(50, 3000, 9), Load(500, 20_000, 2)]
    decision = replace(WILLING, horizon=10**6).decide(loads, Tariff(), WARM)
    assert (decision.taken, decision.dead, decision.live) == (3, 650, 20_000 - 650)
    assert decision.rent == pytest.approx((100 * 2 + 50 * 1 + 500 * 8) * 0.1)


@given(
    st.lists(st.builds(Load, st.integers(16, 900), st.integers(1000, 9000), st.integers(0, 30)), min_size=1),
    tariffs(),
    st.booleans(),
)
def test_a_decision_counts_what_it_takes(loads: list[Load], tariff: Tariff, cold: bool) -> None:
    decision = WILLING.decide(loads, tariff, replace(WARM, cold=cold))
    assert decision.dead == sum(load.saved for load in loads[: decision.taken])


# Rent


def first_turn(pacer: Pacer, load: Load, tariff: Tariff, until: int = 3000) -> int:
    """The turn at which one candidate is collected for its rent."""
    return next(
        turn for turn in range(load.since, until) if pacer.decide([load], tariff, replace(WARM, turn=turn)).taken
    )


@given(st.integers(200, 5000), st.integers(0, 20_000), st.integers(1, 300))
def test_at_patience_one_it_costs_twice_the_best_in_hindsight_at_most(saved: int, live: int, turns: int) -> None:
    tariff, load = Tariff(least=0), Load(saved, saved + live, 0)
    price = WILLING.decide([load], tariff, replace(WARM, turn=0)).price
    collected = first_turn(Pacer(patience=1), load, tariff)
    rent = saved * tariff.read
    paid = rent * turns if turns < collected else rent * collected + price
    assert paid <= 2 * min(max(price, 0), rent * turns) + rent


@given(st.integers(200, 5000), st.integers(0, 20_000))
def test_rent_is_due_when_it_reaches_the_share_of_the_price(saved: int, live: int) -> None:
    tariff, load = Tariff(least=0), Load(saved, saved + live, 0)
    price = WILLING.decide([load], tariff, replace(WARM, turn=0)).price
    turn = first_turn(Pacer(patience=0.5), load, tariff)
    assert turn * saved * tariff.read >= 0.5 * price
    assert turn == 0 or (turn - 1) * saved * tariff.read < 0.5 * price


def test_control_without_patience_a_single_turn_can_cost_many_times_the_best() -> None:
    load, now = Load(200, 20_000, 10), WARM
    decision = Pacer(patience=0).decide([load], Tariff(), now)
    assert decision.trigger == "rent"
    assert decision.price > 100 * 200 * 0.1


def test_of_several_that_pay_the_most_valuable_is_made() -> None:
    loads = [Load(5000, 6000, 0), Load(10, 40_000, 0)]
    decision = Pacer(patience=0).decide(loads, Tariff(), WARM)
    assert decision.taken == 1


def test_a_history_is_not_collected_below_what_is_cached() -> None:
    tariff, now = Tariff(least=1024), replace(WARM, sent=1400, fresh=20)
    after = 1400 - Pacer(patience=0).decide([Load(900, 900, 10)], tariff, now).dead
    assert tariff.cost(after, 20) <= tariff.cost(1400, 20)


# Free, asked for, forced


@pytest.mark.parametrize(
    ("tariff", "now"),
    [(Tariff(), replace(WARM, cold=True)), (Tariff(read=1.0, write=1.0), WARM)],
    ids=["the cache is cold", "there is no cache"],
)
def test_where_it_is_free_all_goes(tariff: Tariff, now: Circumstances) -> None:
    broke = replace(now, paid=2.0, untouched=1.0)
    decision = Pacer().decide([Load(20, 900, 10), Load(20, 49_000, 10)], tariff, broke)
    assert (decision.trigger, decision.taken) == ("cold", 2)


def test_what_a_policy_wants_now_goes_with_all_that_is_newer() -> None:
    loads = [Load(20, 900, 10), Load(20, 40_000, 10, "now"), Load(20, 49_000, 10)]
    decision = Pacer().decide(loads, Tariff(), WARM)
    assert (decision.trigger, decision.taken) == ("asked", 2)


@pytest.mark.parametrize("now", [WARM, replace(WARM, cold=True)], ids=["warm", "cold"])
def test_what_is_forced_only_stays_while_there_is_room(now: Circumstances) -> None:
    assert WILLING.decide([Load(1000, 2000, 0, "forced")], Tariff(), now) == Decision()


def test_a_full_window_makes_room_down_to_the_low_mark() -> None:
    tariff, now = Tariff(window=100_000), replace(WARM, sent=75_000, fresh=1000)
    loads = [Load(10_000, 60_000 + at, 10, "forced") for at in range(7)]
    decision = Pacer(high=0.75, low=0.5).decide(loads, tariff, now)
    assert (decision.trigger, decision.taken, decision.dead) == ("window", 3, 30_000)
    assert now.sent + now.fresh - decision.dead <= 50_000


def test_at_the_high_mark_itself_there_is_still_room() -> None:
    pacer, tariff = Pacer(high=0.75, low=0.5), Tariff(window=100_000)
    assert pacer.surplus(tariff, 75_000) == 0
    assert pacer.surplus(tariff, 75_001) == 25_001
    assert pacer.surplus(Tariff(), 10**9) == 0


def test_a_quality_budget_holds_whatever_the_price() -> None:
    dear = replace(WARM, paid=2.0, untouched=1.0)
    decision = Pacer(quality=30_000).decide([Load(40_000, 45_000, 10)], Tariff(), dear)
    assert decision.trigger == "quality"
    assert Pacer().decide([Load(40_000, 45_000, 10)], Tariff(), dear) == Decision()


def test_a_window_that_cannot_be_emptied_is_not_rewritten_for_nothing() -> None:
    tariff, now = Tariff(window=100_000), replace(WARM, sent=90_000)
    assert Pacer().decide([Load(100, 80_000, 10)], tariff, now) == Decision()
    assert Pacer().decide([Load(5000, 80_000, 10)], tariff, now).trigger == "window"


@pytest.mark.parametrize("urgency", ["priced", "now", "forced"])
@pytest.mark.parametrize("cold", [False, True])
def test_where_thinking_is_bound_to_the_prefix_nothing_that_was_sent_is_touched(urgency: Urgency, cold: bool) -> None:
    tariff, now = Tariff(window=40_000, binds_thinking=True), replace(WARM, cold=cold)
    assert WILLING.decide([Load(40_000, 45_000, 0, urgency)], tariff, now) == Decision()
    free = replace(tariff, binds_thinking=False)
    assert WILLING.decide([Load(40_000, 45_000, 0, urgency)], free, now).taken == 1


def test_without_candidates_nothing_is_decided() -> None:
    assert WILLING.decide([], Tariff(), WARM) == Decision()
