"""What is predicted of a request, by the rule that the session is charged by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.journal import Pace, Usage
from ctxgc.lab.forecasts import Split, billed, in_usd, predicted
from tests.telemetry.helpers import PRICE

SIZES = st.integers(0, 10_000)


@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans())
def test_every_token_is_read_or_written(base: int, fresh: int, live: int, cold: bool, tools: bool) -> None:
    split = predicted(Pace(trigger="rent", live=live, cold=cold), base, base + fresh, fresh_tools=tools, least=1024)
    assert sum(split) == base + fresh
    assert min(split) >= 0


def test_what_stands_behind_the_oldest_collected_is_written_again() -> None:
    assert predicted(Pace(trigger="rent", live=300), 1000, 1200, fresh_tools=False) == Split(700, 500)
    assert predicted(Pace(live=300), 1000, 1200, fresh_tools=False) == Split(1000, 200)  # control: nothing went


@pytest.mark.parametrize("case", [{"cold": True}, {"tools": True}, {"least": 1001}])
def test_nothing_is_read_from_a_cold_cache_behind_new_tools_or_of_a_short_prefix(case: dict[str, int]) -> None:
    pace = Pace(cold=bool(case.get("cold")))
    found = predicted(pace, 1000, 1200, fresh_tools=bool(case.get("tools")), least=case.get("least", 0))
    assert found == Split(0, 1200)


def test_a_bill_has_all_that_was_not_read_as_written() -> None:
    assert billed(Usage(uncached=5, cached=70, written=20, output=9)) == Split(70, 25)


def test_prices_are_in_usd_where_they_are_the_list_prices() -> None:
    assert in_usd(PRICE.cache_write, PRICE)
    assert not in_usd(1.25, PRICE)
    assert not in_usd(PRICE.cache_write, None)
