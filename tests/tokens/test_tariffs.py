"""Tariffs: the table's prices as the pacer takes them, and what only a model's name tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxgc.core.pacer import Tariff
from ctxgc.tokens import Price, PriceTable, Step
from ctxgc.tokens.bundled import TokenDataUnavailable
from ctxgc.tokens.tariffs import tariff_of, tariffs

PRICE = Price(
    input=2.0,
    cached_read=0.5,
    cache_write=2.5,
    cache_write_1h=4.0,
    output=8.0,
    long_context=(Step(128_000, 3.0, 0.75, 3.75, 12.0), Step(200_000, 4.0, 1.0, 5.0, 16.0)),
    max_input_tokens=400_000,
    min_cacheable=512,
)


def test_a_price_becomes_what_input_costs_read_and_written() -> None:
    assert tariff_of("some-model", PRICE) == Tariff(
        read=0.5, write=2.5, ttl=300.0, window=400_000, least=512, steps=((128_000, 1.5), (200_000, 2.0))
    )


def test_an_unknown_window_is_none() -> None:
    assert tariff_of("some-model", replace(PRICE, max_input_tokens=None)).window == 0


@pytest.mark.parametrize(("read", "written"), [(0, 1000), (100_000, 28_000), (100_000, 28_001), (150_000, 90_000)])
def test_a_tariff_bills_input_as_the_price_does(read: int, written: int) -> None:
    bill = PRICE.cost(uncached=0, cached=read, written=written, output=0)
    assert tariff_of("some-model", PRICE).cost(read, written) == pytest.approx(bill)


def test_control_without_its_steps_a_long_request_would_be_too_cheap() -> None:
    flat = replace(tariff_of("some-model", PRICE), steps=())
    bill = PRICE.cost(uncached=0, cached=150_000, written=90_000, output=0)
    assert flat.cost(150_000, 90_000) == pytest.approx(bill / 2)


def test_a_request_that_is_too_short_to_be_cached_is_written_whole() -> None:
    found = tariff_of("some-model", PRICE)
    assert found.cost(300, 211) == found.cost(0, 511)
    assert found.cost(512, 0) < found.cost(0, 512)


FREE = replace(PRICE, input=0.0)


def test_a_model_that_is_not_listed_has_relative_prices() -> None:
    assert tariff_of("some-model", None) == Tariff()


def test_a_model_that_costs_nothing_has_relative_prices_and_its_own_window_and_least() -> None:
    assert tariff_of("some-model", FREE) == replace(Tariff(), window=400_000, least=512)
    assert tariff_of("some-model", replace(FREE, max_input_tokens=None)) == replace(Tariff(), least=512)


def test_control_the_window_and_the_least_are_not_what_they_are_by_default() -> None:
    assert (Tariff().window, Tariff().least) != (400_000, 512)
    assert tariff_of("some-model", FREE) != Tariff()


@pytest.mark.parametrize("price", [None, FREE])
def test_a_model_without_a_price_keeps_what_its_name_tells(price: Price | None) -> None:
    assert tariff_of("deepseek-chat", price).ttl == 3600.0
    assert tariff_of("claude-opus-5-5", price).binds_thinking


# How long a cache lives


@pytest.mark.parametrize(
    ("model", "seconds"),
    [
        ("gpt-5", 300.0),
        ("gpt-5-2025-08-07", 300.0),
        ("gpt-5.5", 300.0),
        ("gpt-5-mini", 300.0),
        ("gpt-4o", 300.0),
        ("gpt-oss-120b", 300.0),
        ("gpt-5.6", 1800.0),
        ("gpt-5-7", 1800.0),
        ("openai/gpt-6-sol", 1800.0),
        ("us.openai.gpt-6-sol", 1800.0),
        ("GPT-7", 1800.0),
        ("deepseek/deepseek-chat", 3600.0),
        ("claude-opus-4-5", 300.0),
        ("", 300.0),
    ],
)
def test_a_cached_prefix_lives_as_long_as_its_provider_keeps_it(model: str, seconds: float) -> None:
    assert tariff_of(model, PRICE).ttl == tariff_of(model, None).ttl == seconds


# Which models bind their thinking to what stands before it


@pytest.mark.parametrize(
    "model",
    [
        "claude-fable-5.1",
        "claude-fable-5",
        "claude-mythos-5-preview",
        "claude-opus-5-5",
        "claude-opus-5.5",
        "Claude-Opus-5-5-20261001",
        "anthropic/claude-sonnet-5.5",
        "openrouter/anthropic/claude-haiku-5.5:beta",
        "us.anthropic.claude-opus-5-5-v1:0",
        "claude-opus-5-5@20261001",
    ],
)
def test_a_model_that_binds_its_thinking_is_known_by_its_name(model: str) -> None:
    assert tariff_of(model, PRICE).binds_thinking


@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-4-5",
        "claude-opus-4-5-20251101",
        "claude-opus-5",
        "claude-opus-5-1",
        "claude-opus-5-20260101",
        "claude-sonnet-4.5",
        "claude-3-5-sonnet",
        "claude-fable-4",
        "gpt-5",
        "gpt-5.5",
        "claude-opus-5-5/gpt-5",
        "",
    ],
)
def test_others_do_not(model: str) -> None:
    assert not tariff_of(model, PRICE).binds_thinking


def test_control_a_pattern_for_the_family_alone_would_take_older_ones_in() -> None:
    assert "claude-opus-5" in "claude-opus-5-1"
    assert not tariff_of("claude-opus-5-1", PRICE).binds_thinking


# From the table


def test_tariffs_are_made_from_whatever_gives_prices() -> None:
    tariff = tariffs({"listed": PRICE}.get)
    assert tariff("listed") == tariff_of("listed", PRICE)
    assert tariff("unlisted") == Tariff()


def test_without_a_table_each_model_is_one_that_is_not_listed() -> None:
    def gone(_: str) -> Price | None:
        raise TokenDataUnavailable("no table")

    assert tariffs(gone)("deepseek-chat") == tariff_of("deepseek-chat", None)


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5.5", "claude-opus-5-5", "deepseek/deepseek-chat", "gemini-2.5-pro"])
def test_reading_what_is_cached_is_cheaper_for_all_that_are_listed(model: str) -> None:
    found = tariffs(PriceTable.load().price)(model)
    assert 0 < found.read < found.write < 1e-3, "USD per token"
    assert found.window > 100_000


def test_gpt_5_5_costs_twice_as_much_above_272_thousand_tokens() -> None:
    assert tariffs(PriceTable.load().price)("gpt-5.5").steps == ((272_000, pytest.approx(2.0)),)
