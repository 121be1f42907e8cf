"""Lines in a budget: as many as fit, found with few counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core._fitting import Fit, most


def page(lines: list[int], last: int) -> Callable[[int], str]:
    """Lines of these lengths, and a last line while some are missing."""

    def text(number: int) -> str:
        return "".join("x" * length for length in lines[:number]) + ("y" * last if number < len(lines) else "")

    return text


@given(st.lists(st.integers(5, 40), max_size=60), st.integers(0, 20), st.integers(0, 900))
def test_it_is_the_largest_number_of_lines_that_fits(lines: list[int], last: int, budget: int) -> None:
    text = page(lines, last)
    fitting = [number for number in range(len(lines) + 1) if len(text(number)) <= budget]
    found = most(len(lines), text, budget, len)
    assert found == (Fit(fitting[-1], text(fitting[-1]), len(text(fitting[-1]))) if fitting else None)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(0, 90), st.integers(0, 900))
def test_whatever_the_lines_take_it_is_within_the_budget(lines: list[int], last: int, budget: int) -> None:
    found = most(len(lines), page(lines, last), budget, len)
    assert found is None or len(found.text) == found.tokens <= budget


@pytest.mark.parametrize(("total", "fit"), [(0, 0), (1, 1), (10, 10), (100_000, 99)])
def test_it_counts_seldom_and_never_much_more_than_fits(total: int, fit: int) -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    found = most(total, page([10] * total, 9), 1_000, count)
    assert found is not None
    assert found.lines == fit
    assert len(counted) <= 20
    assert max(counted) <= 2_100
