from __future__ import annotations

from dataclasses import replace

import pytest

from ctxgc.telemetry.models import MODELS, Model, Models
from ctxgc.tokens import Price, PriceTable, TokenDataUnavailable

from .helpers import PRICE, price

UNKNOWN = Model("other", "other", None)


@pytest.fixture(scope="module")
def table() -> PriceTable:
    return PriceTable.load()


def test_a_model_with_a_price_has_labels_of_its_own():
    assert Models(price).find("gpt-x") == Model("openai", "gpt-x", PRICE)


def test_names_of_any_length_are_looked_up_and_only_short_ones_are_kept():
    models = Models(lambda name: PRICE if name.startswith("gpt-x") else None)
    for size in (10, 100_000):
        assert models.find("gpt-x" + "y" * size).price == PRICE
    assert [len(name) for name in models._known] == [15]


@pytest.mark.parametrize("names", [(), ("",), ("made-up",), ("made-up", "also made-up")])
def test_any_other_is_other(names: tuple[str, ...]):
    assert Models(price).find(*names) == UNKNOWN


def test_the_first_name_with_a_price_counts():
    assert Models(price).find("my-deployment", "gpt-x").model == "gpt-x"


def test_spellings_of_one_model_are_one_label(table: PriceTable):
    models = Models(table.price)
    names = (
        "gpt-4o",
        "GPT-4o",
        "openai/gpt-4o",
        "gpt-4o-2024-08-06",
        "gpt-4o-9999-12-31",
        "ft:gpt-4o:me::1",
        "x/gpt-4o",
    )
    assert {models.find(name).model for name in names} == {"gpt-4o"}


def test_a_dated_model_with_a_price_of_its_own_is_a_label_of_its_own(table: PriceTable):
    assert Models(table.price).find("gpt-4o-2024-05-13").model == "gpt-4o-2024-05-13"


def test_beyond_the_first_few_models_the_label_is_other_and_the_price_is_kept():
    models = Models(lambda name: PRICE)
    found = [models.find(f"m{letter}") for letter in "abcdefghijklm"]
    assert [model.model for model in found[:MODELS]] == ["ma", "mb", "mc", "md", "me"]
    assert set(found[MODELS:]) == {Model("other", "other", PRICE)}
    assert models.find("ma").model == "ma"


def test_one_model_at_two_providers_takes_two_places():
    models = Models(lambda name: replace(PRICE, provider=name.partition("/")[0]))
    assert models.find("a/m").labels == ("a", "m")
    assert models.find("b/m").labels == ("b", "m")


def test_a_table_that_cannot_be_read_knows_no_model():
    def missing(_: str) -> Price | None:
        raise TokenDataUnavailable("no table")

    assert Models(missing).find("gpt-x") == UNKNOWN


def test_the_table_is_asked_once_per_name():
    asked: list[str] = []

    def asking(name: str) -> Price | None:
        asked.append(name)

    models = Models(asking)
    for _ in range(3):
        models.find("nobody")
    assert asked == ["nobody"]
