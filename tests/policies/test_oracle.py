from __future__ import annotations

import pytest

from ctxgc.core.block import Kind
from ctxgc.policies import PolicyError, build
from ctxgc.policies.oracle import Oracle
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_a_result_is_dead_after_the_turn_that_needs_it_last() -> None:
    assert lifetime(Oracle(needs=((0, 9),)), resident(turn=5), until=13) == [10, 11, 12]
    (verdict,) = proposed(Oracle(needs=((0, 9),)), heap(resident(turn=5)))
    assert (verdict.excerpt, verdict.urgency, verdict.since) == (0.0, "priced", 10)
    assert verdict.reason == "needed last in turn 9"


def test_a_result_that_nothing_needs_is_dead_after_its_turn() -> None:
    assert lifetime(Oracle(needs=((7, 9),)), resident(turn=5), until=8) == [6, 7]
    assert proposed(Oracle(needs=((7, 9),)), heap(resident(turn=5)))[0].reason == "never needed"


def test_of_several_needs_the_last_counts() -> None:
    assert lifetime(Oracle(needs=((0, 9), (0, 7))), resident(turn=5), until=12) == [10, 11]


def test_results_are_numbered_as_the_model_reads_them() -> None:
    words = resident(1, kind=Kind.TEXT)
    found = [resident(0, pinned=True), words, resident(2), resident(3)]
    assert cells(Oracle(needs=((1, 99),)), heap(*found)) == [3]
    assert cells(Oracle(needs=((1, 99),)), heap(*reversed(found))) == [3]


def test_it_takes_even_what_an_edit_may_quote() -> None:
    assert cells(Oracle(needs=((3, 9),)), heap(resident(quotable=True))) == [0]


def test_without_a_recorded_future_there_is_no_oracle() -> None:
    with pytest.raises(PolicyError, match="replay only"):
        build([{"name": "oracle"}])


@pytest.mark.parametrize("wrong", [(-1, 3), (3, -1)])
def test_what_makes_no_sense_is_refused(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="is at least 0, not -1"):
        Oracle(needs=(wrong,))
