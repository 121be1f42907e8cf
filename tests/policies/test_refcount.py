from __future__ import annotations

import pytest

from ctxgc.policies.refcount import Refcount
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_what_nothing_refers_to_leaves_an_excerpt() -> None:
    (verdict,) = proposed(Refcount(), heap(resident(turn=5, referenced=13)))
    assert (verdict.excerpt, verdict.since, verdict.urgency) == (0.15, 19, "priced")
    assert verdict.reason == "unused for 7 turns"


def test_a_reference_keeps_it_alive() -> None:
    assert cells(Refcount(), heap(resident(turn=1, referenced=15))) == []
    assert cells(Refcount(), heap(resident(turn=1, referenced=14))) == [0]


def test_it_is_dead_until_it_is_referred_to_again() -> None:
    assert lifetime(Refcount(idle=2), resident(turn=5), until=10) == [7, 8, 9]


def test_eager_goes_at_once() -> None:
    assert proposed(Refcount(eager=True), heap(resident()))[0].urgency == "now"


def test_the_newest_view_of_a_resource_stays_longer() -> None:
    view = resident(turn=5, quotable=True)
    assert lifetime(Refcount(), view)[0] == 17
    assert lifetime(Refcount(quotable_idle=0), view) == []
    assert lifetime(Refcount(idle=14), view)[0] == 19
    assert proposed(Refcount(idle=14), heap(view))[0].since == 19


@pytest.mark.parametrize("wrong", [{"idle": 0}, {"keep": 2}, {"quotable_idle": -1}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is at least|is a share"):
        Refcount(**wrong)
