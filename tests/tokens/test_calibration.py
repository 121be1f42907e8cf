from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.tokens import Calibration, ModelError
from ctxgc.tokens.calibration import HIGHEST, LOWEST, MODELS, WINDOW

COUNTS = st.integers(-5, 10**7)


def observed(*pairs: tuple[int, int], model: str = "m") -> Calibration:
    calibration = Calibration()
    for estimated, reported in pairs:
        calibration = calibration.observe(model, estimated, reported)
    return calibration


def test_a_model_never_observed_has_the_factor_one():
    assert Calibration().factor("m") == 1.0
    assert Calibration().error("m") == ModelError(0.0, 0)


def test_a_constant_ratio_is_learned_at_once_and_leaves_no_error():
    calibration = observed(*[(1000, 1300)] * 3)
    assert calibration.factor("m") == pytest.approx(1.3)
    assert calibration.error("m") == ModelError(pytest.approx(0.0), 3)


def test_the_error_of_a_request_is_that_of_the_factor_known_before_it():
    assert observed((1000, 1250)).error("m").median == pytest.approx(0.2)


def test_one_odd_report_does_not_move_the_factor():
    steady = [(1000, 1100)] * 5
    assert observed(*steady, (10, 100_000)).factor("m") == observed(*steady).factor("m")
    assert observed((1, 100_000)).factor("m") == HIGHEST  # the control: alone it would have


def test_only_the_last_observations_count():
    calibration = observed(*[(100, 50)] * WINDOW, *[(100, 200)] * WINDOW)
    assert calibration.factor("m") == 2.0
    assert calibration.error("m").samples == WINDOW


@pytest.mark.parametrize("pair", [(0, 5), (5, 0), (-1, 5), (5, -1), (0, 0)])
def test_figures_that_say_nothing_change_nothing(pair):
    before = observed((100, 120))
    assert before.observe("m", *pair) is before


def test_models_do_not_touch_each_other():
    calibration = observed((100, 150), model="a").observe("b", 100, 50)
    assert (calibration.factor("a"), calibration.factor("b")) == (1.5, 0.5)


def test_the_model_observed_longest_ago_is_forgotten():
    calibration = Calibration()
    for number in range(MODELS):
        calibration = calibration.observe(f"m{number}", 10, 20)
    calibration = calibration.observe("m0", 10, 20).observe("new", 10, 20)
    assert len(calibration.samples) == MODELS
    assert (calibration.factor("m0"), calibration.factor("m1")) == (2.0, 1.0)


def test_a_calibration_is_a_value():
    before = observed((100, 150))
    before.observe("m", 100, 300)
    assert before == observed((100, 150))
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.samples = {}


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=50))
def test_factors_stay_within_their_bounds(pairs):
    calibration = observed(*pairs)
    assert LOWEST <= calibration.factor("m") <= HIGHEST
    assert calibration.error("m").median >= 0.0
    assert calibration.error("m").samples <= WINDOW
