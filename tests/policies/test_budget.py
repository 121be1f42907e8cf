from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies.budget import Budget
from ctxgc.policies.pin import Pin
from tests.policies.residents import Careless, cells, heap, proposed, resident, residents


def test_nothing_goes_unless_something_must() -> None:
    assert cells(Budget(), heap(resident(turn=0))) == []


def test_what_goes_is_forced() -> None:
    (verdict,) = proposed(Budget(), heap(resident(turn=10), surplus=100))
    assert (verdict.urgency, verdict.excerpt, verdict.since) == ("forced", 0.0, 20)
    assert verdict.reason == "1000 tokens unused for 10 turns: 100 too many"


def test_the_largest_of_the_longest_idle_go_first() -> None:
    large, long, both = resident(0, turn=15, tokens=3000), resident(1, turn=1), resident(2, turn=9, tokens=2000)
    assert cells(Budget(), heap(large, long, both, surplus=9000)) == [2, 1, 0]


def test_no_more_goes_than_must() -> None:
    found = [resident(cell, turn=cell) for cell in range(10)]
    assert cells(Budget(), heap(*found, surplus=952)) == [0]
    assert cells(Budget(), heap(*found, surplus=953)) == [0, 1]


def test_the_newest_turn_goes_last_and_only_if_it_must() -> None:
    old, newest = resident(0, turn=2, tokens=500), resident(1, turn=19, tokens=50_000)
    assert cells(Budget(), heap(old, newest, surplus=400)) == [0]
    assert cells(Budget(), heap(old, newest, surplus=10_000)) == [0, 1]
    assert cells(Budget(), heap(newest, surplus=10_000)) == [1]


def test_even_what_an_edit_may_quote_goes() -> None:
    assert cells(Budget(), heap(resident(quotable=True), surplus=1)) == [0]


def test_pointers_go_along_where_something_must_and_make_no_room() -> None:
    pointers = resident(1, turn=19, tokens=3000, sent=9, points=True), resident(2, tokens=3000, sent=9, points=True)
    target, other = resident(0, turn=2), resident(3, turn=3)
    assert cells(Budget(), heap(target, *pointers, other, surplus=952)) == [1, 2, 0]
    assert cells(Budget(), heap(target, *pointers, other, surplus=953)) == [1, 2, 0, 3]
    assert cells(Budget(), heap(target, *pointers)) == []


def test_pointers_leave_nothing_of_their_own() -> None:
    pointer = resident(1, turn=19, tokens=3000, sent=9, points=True)
    along, forced = proposed(Budget(keep=0.3), heap(resident(0), pointer, surplus=100))
    assert (along.cell, along.action, along.excerpt, along.urgency) == (1, "stub", 0.0, "forced")
    assert (forced.cell, forced.action, forced.excerpt) == (0, "excerpt", 0.3)


def test_a_pinned_pointer_stays() -> None:
    pinned = resident(1, sent=9, points=True, pinned=True)
    assert cells(Budget(), heap(resident(0), pinned, surplus=100)) == [0]


def wrong(policy: Policy, found: Heap) -> list[str]:
    """What a policy takes that it must not or need not, and what it leaves that it should have taken.

    Where anything must go, each pointer is named, once for what it points at; it may be named again for its own tokens.
    """
    may_go = {one.id: one.sent - stub.TOKENS for one in found.residents if _may_go(one) and one.sent > stub.TOKENS}
    along = [one.id for one in found.residents if _may_go(one) and one.points and found.surplus]
    taken = cells(policy, found)
    out = [] if set(along) <= set(taken) else ["a pointer stays"]
    for cell in set(along) & set(taken):
        taken.remove(cell)
    out += [] if set(taken) <= set(may_go) else ["pinned, or nothing to gain"]
    out += [] if len(set(taken)) == len(taken) else ["named twice"]
    if taken and sum(may_go.get(cell, 0) for cell in taken[:-1]) >= found.surplus:
        out.append("more than must")
    if sum(may_go.get(cell, 0) for cell in taken) < found.surplus and set(may_go) > set(taken):
        out.append("less than must")
    return out


def _may_go(one: Resident) -> bool:
    return one.kind is Kind.TOOL_RESULT and not one.pinned


@given(residents(), st.integers(0, 9000))
def test_what_goes_is_enough_and_the_last_of_it_was_needed(found: list[Resident], surplus: int) -> None:
    assert wrong(Budget(), heap(*found, surplus=surplus)) == []


def test_the_check_notices_a_policy_that_takes_all_or_nothing() -> None:
    pinned, small, large = resident(1, pinned=True), resident(2, sent=9), resident(3)
    assert "pinned, or nothing to gain" in wrong(Careless(), heap(pinned, surplus=100))
    assert "pinned, or nothing to gain" in wrong(Careless(), heap(small, surplus=100))
    assert wrong(Careless(), heap(large, resident(4), surplus=100)) == ["more than must"]
    assert wrong(Pin(), heap(large, surplus=100)) == ["less than must"]


def test_the_check_notices_a_pointer_that_stays_or_goes_for_nothing() -> None:
    pointer = resident(5, sent=9, points=True)
    assert wrong(Pin(), heap(pointer, surplus=100)) == ["a pointer stays"]
    assert wrong(Careless(), heap(pointer, surplus=100)) == []
    assert wrong(Careless(), heap(pointer, surplus=0)) == ["pinned, or nothing to gain", "more than must"]
    assert "pinned, or nothing to gain" in wrong(Careless(), heap(replace(pointer, pinned=True), surplus=100))


def test_the_check_notices_what_is_named_twice() -> None:
    class Insistent(Careless):
        def propose(self, heap: Heap) -> Iterable[Verdict]:
            return [verdict for verdict in Careless.propose(self, heap) for _ in range(2)]

    assert "named twice" in wrong(Insistent(), heap(resident(3), surplus=100))


@pytest.mark.parametrize("parameters", [{"target": -1}, {"keep": 2}])
def test_what_makes_no_sense_is_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is at least|is a share"):
        Budget(**parameters)
