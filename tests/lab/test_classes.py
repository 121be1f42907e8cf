"""Price classes by number and by model."""

import pytest

from ctxgc.errors import ConfigError
from ctxgc.lab.classes import CLASSES, price_class
from ctxgc.tokens import Price

from .recordings import at_price


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "none"])
def test_a_class_is_named_by_what_a_rewrite_must_earn(name):
    one = at_price(name)
    assert one.write / one.read - 1 == pytest.approx(float(name))


def test_without_a_cache_all_tokens_cost_the_same():
    assert at_price("none").cost(10, 5) == 15


@pytest.mark.parametrize("name", ["my-model", "model:my-model"])
def test_a_model_has_its_own_price(name):
    price = Price(2.0, 0.2, 2.5, 2.5, 9.0)
    one = price_class(name, {"my-model": price}.get)
    assert (one.name, one.read, one.write) == ("model:my-model", 0.1, 1.25)


@pytest.mark.parametrize("free", [None, Price(0.0, 0.0, 0.0, 0.0, 0.0)])
def test_an_unknown_name_is_an_error_that_says_what_there_is(free):
    with pytest.raises(ConfigError, match=r"11\.5"):
        price_class("nobody's", lambda _: free)
