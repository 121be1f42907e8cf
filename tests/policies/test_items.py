from __future__ import annotations

import pytest

from ctxgc.policies.items import Items
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_of_a_used_result_little_more_than_what_was_used_stays() -> None:
    (verdict,) = proposed(Items(), heap(resident(turn=5, referenced=8, references=3, marks=(10, 90))))
    assert (verdict.excerpt, verdict.action, verdict.since) == (0.1, "excerpt", 14)
    assert verdict.reason == "used at 2 places, last 12 turns ago"


def test_a_result_that_was_never_used_is_for_other_policies() -> None:
    assert cells(Items(), heap(resident(turn=0))) == []


def test_what_was_used_lately_stays_whole() -> None:
    assert lifetime(Items(), resident(turn=5, referenced=7, marks=(1,)), until=15) == [13, 14]


def test_a_small_result_stays_whole() -> None:
    found = heap(resident(0, tokens=399, marks=(1,)), resident(1, tokens=400, marks=(1,)))
    assert cells(Items(), found) == [1]
    assert cells(Items(min_tokens=0), found) == [0, 1]


def test_what_an_edit_may_quote_stays_whole() -> None:
    assert cells(Items(), heap(resident(marks=(1,), quotable=True))) == []


@pytest.mark.parametrize("wrong", [{"idle": 0}, {"min_tokens": -1}, {"keep": 2}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is at least|is a share"):
        Items(**wrong)
