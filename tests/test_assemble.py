"""Putting the parts together: meters that are remembered, patterns of tool names, real clocks and ids."""

from __future__ import annotations

import pytest

from ctxgc import assemble
from ctxgc.assemble import make_kit, prices, source_of, watches
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.errors import ConfigError
from ctxgc.tokens import TokenDataUnavailable
from ctxgc.tokens.tariffs import tariff_of
from tests.session.scripts import memory


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("search_web", "web"),
        ("search_code", "web"),
        ("read_docs", "docs"),
        ("Read_docs", None),
        ("bash", None),
        ("", None),
    ],
)
def test_the_first_pattern_that_matches_names_the_source(tool: str, source: str | None) -> None:
    assert source_of({"search_*": "web", "search_code": "code", "read_docs": "docs"})(tool) == source


def test_a_models_meter_is_made_once() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert kit.meter("gpt-5") is kit.meter("gpt-5")
        assert kit.meter("gpt-5").exact
        assert not kit.meter("some-model").exact


def test_any_number_of_models_has_meters() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert all(kit.meter(f"model-{number}").count("hello") for number in range(200))


def test_ids_are_new_and_time_goes_on() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert len({kit.new_id() for _ in range(100)}) == 100
        assert kit.clock() <= kit.clock()


def test_prices_are_known_for_known_models_only() -> None:
    price = prices()
    assert price("gpt-5") is not None
    assert price("no such model") is None


# What the pacer is given


def test_a_models_tariff_is_that_of_the_price_table_and_made_once() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert kit.tariff("gpt-5") == tariff_of("gpt-5", prices()("gpt-5"))
        assert kit.tariff("gpt-5") is kit.tariff("gpt-5")
        assert kit.tariff("gpt-5") != kit.tariff("claude-opus-5-5")


def test_a_model_without_a_price_has_the_commonest_tariff() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert kit.tariff("no such model") == kit.tariff("") == Tariff()


def test_any_number_of_models_has_tariffs() -> None:
    with memory() as store:
        kit = make_kit(store, ())
        assert all(kit.tariff(f"model-{number}") == Tariff() for number in range(200))


def test_without_a_price_table_what_is_known_by_name_still_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise TokenDataUnavailable("no table")

    monkeypatch.setattr(assemble.PriceTable, "load", missing)
    with memory() as store:
        kit = make_kit(store, ())
        assert kit.tariff("gpt-5") == Tariff()
        assert kit.tariff("claude-opus-5-5") == Tariff(binds_thinking=True)


def test_the_pacer_is_the_default_one_or_the_one_given() -> None:
    with memory() as store:
        assert make_kit(store, ()).pacer == Pacer()
        given = Pacer(patience=9)
        assert make_kit(store, (), pacer=given).pacer is given


GOOD = {"name": "green", "site": "run_tests(*)"}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"quotes": ""},
        {"quotes": " "},
        {"quotes": 5},
        {"number_equals": "abc"},
        {"number_equals": "nan"},
        {"json_path_equals": "$[", "value": 1},
        {"json_path_equals": "$.a"},
        {"quotes": "ok", "near": "x"},
        {"quotes": "ok", "name": ""},
        {"quotes": "ok", "site": 7},
    ],
    ids=str,
)
def test_a_milestone_that_cannot_be_is_one_clear_line(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as refused:
        watches([{**GOOD, **wrong}])
    assert "\n" not in str(refused.value)


def test_control_a_milestone_that_can_be_is_watched_for() -> None:
    assert [one.name for one in watches([{**GOOD, "quotes": "0 failed"}])] == ["green"]
