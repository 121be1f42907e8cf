from __future__ import annotations

import pytest

from ctxgc.policies.recency import Recency
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_what_arrived_long_ago_leaves_an_excerpt() -> None:
    (verdict,) = proposed(Recency(), heap(resident(7, turn=8)))
    assert (verdict.cell, verdict.excerpt, verdict.since, verdict.urgency) == (7, 0.15, 18, "priced")
    assert (verdict.policy, verdict.action, verdict.reason) == ("recency", "excerpt", "arrived 12 turns ago")


def test_it_is_dead_from_a_turn_on_and_stays_so() -> None:
    assert lifetime(Recency(turns=3), resident(turn=5), until=12) == [8, 9, 10, 11]


def test_a_reference_does_not_save_it() -> None:
    assert cells(Recency(), heap(resident(turn=5, referenced=19))) == [0]


def test_the_newest_view_of_a_resource_stays_until_it_is_idle() -> None:
    view = resident(turn=5, referenced=6, quotable=True)
    assert lifetime(Recency(), view)[0] == 18
    assert lifetime(Recency(quotable_idle=0), view) == []
    assert proposed(Recency(), heap(view))[0].since == 18


@pytest.mark.parametrize("wrong", [{"turns": 0}, {"keep": 1.1}, {"keep": -0.1}, {"quotable_idle": -1}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is at least|is a share"):
        Recency(**wrong)
