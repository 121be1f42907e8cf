"""What providers report: tokens, costs, and how far our counts are off."""

from __future__ import annotations

import pytest

from ctxgc.core.journal import Usage

from .helpers import Session, observed

TOKENS = "ctxgc_provider_tokens_total"
COST = "ctxgc_cost_usd_total"
ERROR = "ctxgc_token_estimate_error_ratio"
USAGE = Usage(uncached=100, cached=1000, written=10, output=50, reasoning=20)


def settled(usage: Usage | None, model: str = "gpt-x", estimated: int = 0) -> Session:
    session = Session()
    session.settle(session.ask([("user_turn", 10)], model=model), usage, estimated=estimated)
    return session


def test_each_reported_token_is_of_one_kind():
    session = settled(USAGE)
    kinds = ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    assert [session.count(TOKENS, kind=kind) for kind in kinds] == [100, 1000, 10, 30, 20]
    assert session.count(TOKENS, model="gpt-x", provider="openai") == USAGE.input + USAGE.output


def test_what_was_billed_is_the_list_price_of_what_was_reported():
    session = settled(USAGE)
    assert session.count(COST, kind="billed", model="gpt-x") == pytest.approx(
        100 * 2e-6 + 1000 * 1e-6 + 10 * 3e-6 + 50 * 8e-6
    )


@pytest.mark.parametrize(("usage", "model"), [(None, "gpt-x"), (USAGE, "made-up")])
def test_without_a_report_or_a_price_nothing_is_billed_or_avoided(usage: Usage | None, model: str):
    session = Session()
    call = session.ask([("tool_result:bash", 100)], model=model)
    session.collect(call, (0, 30))
    session.settle(call, usage)
    assert session.count(COST) == 0


def test_new_tokens_are_avoided_at_the_input_price_and_replayed_ones_at_the_cache_s():
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 30))
    session.settle(call, USAGE)
    assert session.count(COST, kind="avoided") == pytest.approx(70 * 2e-6)
    session.settle(session.ask([("user_turn", 1)]), USAGE)
    assert session.count(COST, kind="avoided") == pytest.approx(70 * 2e-6 + 70 * 1e-6)


def test_where_nothing_was_collected_nothing_is_avoided():
    assert settled(USAGE).count(COST, kind="avoided") == 0


def test_an_edit_that_costs_tokens_avoids_nothing():
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 104), action="defuse")
    session.settle(call, USAGE)
    assert session.count(COST, kind="avoided") == 0
    assert session.count("ctxgc_collected_tokens_total") == 0
    assert session.count("ctxgc_context_tokens_total", stage="forwarded") == 104


@pytest.mark.parametrize(("estimated", "share"), [(2220, 0.5), (555, 1.0)])
def test_our_counts_are_believed_only_as_far_as_they_are_not_too_high(estimated: int, share: float):
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 30))
    session.settle(call, USAGE, estimated=estimated)
    assert session.count(COST, kind="avoided") == pytest.approx(70 * 2e-6 * share)


def test_the_error_is_that_of_the_estimate_as_calibrated_before():
    session = settled(Usage(uncached=1000), estimated=800)
    assert observed(session.figures, ERROR, "openai", "gpt-x") == (1, pytest.approx(0.2))
    assert session.figures.calibration.factor("gpt-x") == pytest.approx(1.25)
    session.settle(session.ask(), Usage(uncached=1000), estimated=800)
    assert observed(session.figures, ERROR, "openai", "gpt-x") == (2, pytest.approx(0.2))


@pytest.mark.parametrize(("usage", "estimated"), [(None, 800), (Usage(output=5), 800), (Usage(uncached=9), 0)])
def test_without_both_figures_there_is_no_error(usage: Usage | None, estimated: int):
    session = settled(usage, estimated=estimated)
    assert observed(session.figures, ERROR, "openai", "gpt-x") == (0, 0.0)
    assert session.figures.calibration.samples == {}


def test_a_model_without_a_price_is_calibrated_under_its_own_name():
    session = settled(Usage(uncached=1000), model="my-deployment", estimated=500)
    assert session.figures.calibration.factor("my-deployment") == 2.0
    assert observed(session.figures, ERROR, "other", "other")[0] == 1


def test_a_deployment_is_counted_as_the_model_that_answered():
    session = Session()
    session.settle(session.ask([("user_turn", 10)], model="my-deployment"), USAGE, model="gpt-x")
    assert session.count(COST, model="gpt-x", kind="billed") > 0
    assert observed(session.figures, "ctxgc_request_context_tokens", "received", "gpt-x") == (1, 10)
