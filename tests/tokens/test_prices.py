from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.tokens import Price, PriceTable, Step, TokenDataUnavailable

MILLION = 1_000_000
TOKENS = st.integers(0, 10**6)


@pytest.fixture(scope="module")
def table() -> PriceTable:
    return PriceTable.load()


def table_of(folder: Path, **rows: object) -> PriceTable:
    path = folder / "prices.json"
    path.write_text(json.dumps(rows))
    return PriceTable.load(path)


def test_gpt_5_is_priced(table):
    price = table.price("gpt-5")
    assert (price.input * MILLION, price.cached_read * MILLION) == pytest.approx((1.25, 0.125))
    assert (price.cache_write, price.cache_write_1h) == (price.input, price.input)
    assert (price.max_input_tokens, price.min_cacheable, price.provider) == (272_000, 1024, "openai")


def test_a_cached_read_of_claude_opus_5_5_costs_a_twentieth(table):
    price = table.price("claude-opus-5-5")
    assert price.cached_read / price.input == pytest.approx(0.05)
    assert price.cache_write / price.input == pytest.approx(1.25)
    assert price.cache_write_1h / price.input == pytest.approx(2.0)
    assert price.min_cacheable == 512


def test_gpt_5_5_doubles_above_272_thousand_tokens(table):
    price = table.price("gpt-5.5")
    below = price.cost(uncached=200_000, cached=72_000, written=0, output=1000)
    above = price.cost(uncached=200_000, cached=72_001, written=0, output=1000)
    assert below == pytest.approx(200_000 * 5e-6 + 72_000 * 5e-7 + 1000 * 3e-5)
    assert above == pytest.approx(200_000 * 1e-5 + 72_001 * 1e-6 + 1000 * 4.5e-5)


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("openai/gpt-5", "gpt-5"),
        ("gpt-5.5-2031-01-01", "gpt-5.5"),
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("openrouter/openai/gpt-6-sol", "gpt-6-sol"),
        ("GPT-5", "gpt-5"),
        ("gpt-5@default", "gpt-5"),
    ],
)
def test_a_model_is_found_under_its_other_names(table, written, listed):
    assert table.price(written) == table.price(listed) is not None


def test_the_name_as_written_comes_first(table):
    assert table.price("azure/gpt-5").provider == "azure"


@pytest.mark.parametrize("model", ["", "nope", "openai/nope", "sample_spec", "gpt-5000", "/", "dall-e-3"])
def test_a_model_without_a_price_per_token_has_none(table, model):
    assert table.price(model) is None


def test_every_row_of_the_table_reads(table):
    from ctxgc.tokens.bundled import bundled_file
    from ctxgc.tokens.prices import TABLE

    prices = [table.price(name) for name in json.loads(bundled_file(TABLE).read_bytes())]
    assert sum(price is not None for price in prices) > 3000
    assert sum(bool(price and price.long_context) for price in prices) > 200


def test_steps_come_from_the_plain_keys_only(tmp_path):
    row = {"input_cost_per_token": 2.0, "output_cost_per_token": 8.0, "cache_read_input_token_cost": 0.5}
    row |= {"cache_creation_input_token_cost": 3.0, "input_cost_per_token_above_200k_tokens": 4.0}
    row |= {"output_cost_per_token_above_128k_tokens": 9.0, "input_cost_per_token_above_272k_tokens_priority": 99.0}
    row |= {"cache_creation_input_token_cost_above_1hr": 5.0, "input_cost_per_image_above_64k_tokens": 7.0}
    price = table_of(tmp_path, m=row).price("m")
    # A step inherits what it does not list; cache prices keep their ratio to the input price.
    assert price.long_context == (Step(128_000, 2.0, 0.5, 3.0, 9.0), Step(200_000, 4.0, 1.0, 6.0, 8.0))
    assert price.cache_write_1h == 5.0


def test_cache_prices_that_are_not_listed_are_the_input_price(tmp_path):
    row = {"input_cost_per_token": 2.0, "output_cost_per_token": 8.0, "cache_creation_input_token_cost": 0.0}
    price = table_of(tmp_path, m=row).price("m")
    assert (price.cached_read, price.cache_write, price.cache_write_1h) == (2.0, 2.0, 2.0)


def test_a_free_cached_read_stays_free(tmp_path):
    row = {"input_cost_per_token": 2.0, "output_cost_per_token": 8.0, "cache_read_input_token_cost": 0.0}
    assert table_of(tmp_path, m=row).price("m").cached_read == 0.0


@pytest.mark.parametrize("row", [7, None, [], {}, {"input_cost_per_token": "2"}, {"output_cost_per_token": 1.0}])
def test_a_row_that_makes_no_sense_is_no_price(tmp_path, row):
    assert table_of(tmp_path, m=row).price("m") is None


def test_the_file_is_read_once(tmp_path):
    table = table_of(tmp_path, m={"input_cost_per_token": 2.0, "output_cost_per_token": 8.0})
    first = table.price("m")
    (tmp_path / "prices.json").unlink()
    assert table.price("m") == first is not None


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{"])
def test_a_table_that_cannot_be_read_says_so(tmp_path, content):
    path = tmp_path / "prices.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TokenDataUnavailable, match=r"prices\.json"):
        PriceTable.load(path).price("gpt-5")


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_a_cost_is_the_sum_of_its_parts_at_one_step(uncached, cached, written, output):
    price = Price(1.0, 0.25, 1.25, 2.0, 4.0, (Step(1000, 2.0, 0.5, 2.5, 6.0), Step(9000, 3.0, 1.0, 4.0, 8.0)))
    total = uncached + cached + written
    rate = 3 if total > 9000 else 2 if total > 1000 else 1
    reads = {1: (1.0, 0.25, 1.25, 4.0), 2: (2.0, 0.5, 2.5, 6.0), 3: (3.0, 1.0, 4.0, 8.0)}[rate]
    parts = zip(reads, (uncached, cached, written, output), strict=True)
    cost = price.cost(uncached=uncached, cached=cached, written=written, output=output)
    assert cost == pytest.approx(sum(usd * tokens for usd, tokens in parts))
