from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.heap import Arrival
from ctxgc.core.policy import Policy
from ctxgc.policies.dedup import Dedup
from tests.heaps import arrival, collect, heap

LONG = "a result of some length\n" * 40


def test_the_same_result_becomes_a_pointer_to_the_first() -> None:
    (verdict,) = Dedup().propose(heap(arrival(LONG, cell=4), same=lambda _: 1))
    assert (verdict.cell, verdict.of, verdict.action) == (4, 1, "dedup")


def test_a_result_seen_for_the_first_time_stays() -> None:
    assert list(Dedup().propose(heap(arrival(LONG)))) == []


def test_a_result_does_not_point_to_itself() -> None:
    assert list(Dedup().propose(heap(arrival(LONG, cell=4), same=lambda _: 4))) == []


@pytest.mark.parametrize("text", ["", "ok", "x" * 60])
def test_short_results_stay_and_are_not_counted(text: str) -> None:
    def no_count(_text: str) -> int:
        raise AssertionError

    assert list(Dedup().propose(heap(arrival(text), same=lambda _: 1, count=no_count))) == []


def test_min_tokens_is_the_least_that_is_worth_it() -> None:
    found = heap(arrival("x" * 400), same=lambda _: 1)
    assert len(list(Dedup(min_tokens=100).propose(found))) == 1
    assert len(list(Dedup(min_tokens=101).propose(found))) == 0


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from((LONG, LONG + "!"))), max_size=8))
def test_only_the_same_call_with_the_same_result_is_a_duplicate(results: list[tuple[str, str]]) -> None:
    eden = [arrival(text, tool, cell=number) for number, (tool, text) in enumerate(results)]

    def same(one: Arrival) -> int | None:
        first = results.index(results[one.id])
        return first if first < one.id else None

    policy: Policy = Dedup()
    edits = {edit.cell: edit.of for edit in collect(heap(*eden, same=same), policy)}
    assert edits == {one.id: same(one) for one in eden if same(one) is not None}


def test_what_the_heap_does_not_call_the_same_is_not_pointed_to() -> None:
    eden = (arrival(LONG), arrival(LONG + "!", cell=1))
    claims = [verdict for verdict in Dedup().propose(heap(*eden, same=lambda one: one.id - 1)) if verdict.cell]

    class Careless:
        name = "careless"

        def propose(self, _heap: object) -> list[object]:
            return list(claims)

    assert len(claims) == 1
    assert collect(heap(*eden), Careless()) == ()  # type: ignore[arg-type]
