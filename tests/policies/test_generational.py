"""Generational: how long a result may be idle, what it leaves then, and from when on it counts as dead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies.generational import Generational
from tests.policies.residents import cells, heap, lifetime, proposed, resident

SIZE = 2500
"""Tokens of a result for which the limits are what they are set to."""
GIVEN = Generational(
    idle=4, idle_referenced=5, old_idle=22, density=0.055, density_referenced=0.03, old_density=0.4, keep=0.4,
    early=0.6, min_tokens=100, learn=2, quotable_idle=12,
)  # fmt: skip
"""The figures that are tried here, whatever the defaults are."""
PUNCTUAL = replace(GIVEN, early=1)
"""Names nothing before it is dead."""


LEFT = "generational: excerpt"
"""How a result is marked of which an excerpt is left."""


def said(one: Resident, now: int, policy: Generational | None = None) -> Verdict | None:
    found = proposed(policy or GIVEN, heap(one, now=now))
    return found[0] if found else None


def limit(one: Resident, policy: Generational = PUNCTUAL) -> int:
    """After how many idle turns a result is dead."""
    return lifetime(policy, one, until=200)[0] - one.referenced


# The young generation


def test_a_result_that_nothing_refers_to_dies_young() -> None:
    one = resident(7, turn=5, tokens=SIZE)
    assert said(one, 8, PUNCTUAL) is None
    reason = "young, unused for 4 turns"
    assert proposed(PUNCTUAL, heap(one, now=9)) == [
        Verdict(7, "generational", "excerpt", reason, excerpt=0.4, density=0.055, since=9)
    ]


def test_one_that_was_used_lives_a_little_longer_and_keeps_more_lines() -> None:
    one = resident(turn=5, referenced=7, references=1, tokens=SIZE)
    assert said(one, 11, PUNCTUAL) is None
    verdict = said(one, 12, PUNCTUAL)
    assert verdict is not None
    assert (verdict.density, verdict.since, verdict.reason) == (0.03, 12, "young, unused for 5 turns")


def test_a_reference_brings_it_back_to_life() -> None:
    assert said(resident(turn=5, referenced=12, references=2), 13) is None


def test_what_is_nearly_dead_goes_along_with_others() -> None:
    one = resident(turn=5, tokens=SIZE)
    assert lifetime(GIVEN, one)[0] == 8
    verdict = said(one, 8)
    assert verdict is not None
    assert (verdict.since, verdict.urgency) == (9, "priced"), "not due before the turn to come"


@pytest.mark.parametrize(("early", "first"), [(0.0, 6), (0.1, 6), (0.5, 7), (0.6, 8), (1.0, 9)])
def test_how_near_is_a_share_of_the_limit(early: float, first: int) -> None:
    policy, one = replace(GIVEN, early=early), resident(turn=5, tokens=SIZE)
    assert lifetime(policy, one)[0] == first
    assert {verdict.since for now in range(first, 10) if (verdict := said(one, now, policy))} == {9}


# The old generation


def test_what_is_left_of_it_goes_when_it_is_old() -> None:
    left = resident(turn=5, tokens=SIZE, sent=900, edited=LEFT)
    assert said(left, 5 + 21, PUNCTUAL) is None
    verdict = said(left, 5 + 22, PUNCTUAL)
    assert verdict is not None
    assert (verdict.density, verdict.excerpt) == (0.4, 0.4)
    assert (verdict.since, verdict.reason) == (27, "old, unused for 22 turns")


def test_one_that_was_used_is_old_as_late_as_any() -> None:
    used = resident(turn=5, referenced=9, references=3, tokens=SIZE, sent=900, edited=LEFT)
    verdict = said(used, 9 + 22, PUNCTUAL)
    assert verdict is not None
    assert (verdict.density, verdict.since) == (0.4, 31)


def test_what_is_left_waits_for_its_own_time_and_goes_along_from_its_share_on() -> None:
    left = resident(turn=5, tokens=SIZE, sent=900, edited=LEFT)
    named = lifetime(GIVEN, left)
    assert named[0] == 5 + 14
    assert {verdict.since for now in named if (verdict := said(left, now))} == {5 + 22}


def test_a_whole_one_that_is_old_leaves_as_little_but_has_been_due_since_it_was_dead() -> None:
    whole = resident(turn=5, tokens=SIZE)
    before, after = said(whole, 5 + 21), said(whole, 5 + 22)
    assert before is not None
    assert after is not None
    assert (before.density, after.density) == (0.055, 0.4)
    assert before.since == after.since == 9


def withdrawn(policy: Policy, one: Resident) -> bool:
    """Whether what was due at some turn is not due any more at a later one, though nothing referred to it."""
    found = (verdict.since for now in range(6, 60) for verdict in policy.propose(heap(one, now=now)))
    return len(set(found)) > 1


@pytest.mark.parametrize("early", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("edited", ["", LEFT, "truncate: truncate"])
def test_what_is_due_stays_due(early: float, edited: str) -> None:
    assert not withdrawn(replace(GIVEN, early=early), resident(turn=5, tokens=SIZE, edited=edited))


def test_the_check_notices_that_what_is_due_is_so_anew_when_it_is_old() -> None:
    class Forgetful(Generational):
        def _judge(self, one: Resident, now: int) -> Iterator[Verdict]:
            idle = 4 if one.idle(now) < 14 else 22
            yield Verdict(one.id, self.name, "excerpt", "x", excerpt=0.4, since=one.referenced + idle)

    assert withdrawn(Forgetful(), resident(turn=5, tokens=SIZE))


# Sizes

LIMITS = [(0, 6, 33), (100, 6, 33), (600, 6, 33), (1000, 5, 29), (SIZE, 4, 22), (5000, 3, 18), (20_000, 2, 12)]


@pytest.mark.parametrize(("tokens", "young", "old"), [*LIMITS, (10**6, 1, 4)])
def test_a_large_result_waits_less_and_a_small_one_half_as_long_again_at_most(
    tokens: int, young: int, old: int
) -> None:
    one = resident(tokens=tokens, sent=500)
    assert limit(one) == young
    assert limit(replace(one, edited=LEFT)) == old


def test_what_counts_is_the_size_as_it_came() -> None:
    assert limit(resident(tokens=20_000, sent=200)) == limit(resident(tokens=20_000))
    assert limit(resident(tokens=20_000, sent=200)) != limit(resident(tokens=200))


def later_for_larger(policy: Generational, sizes: list[int]) -> bool:
    """Whether a larger result ever has to wait longer than a smaller one."""
    limits = [limit(resident(tokens=tokens, sent=1000), policy) for tokens in sorted(sizes)]
    return limits != sorted(limits, reverse=True)


@given(st.lists(st.integers(0, 10**7), min_size=2, max_size=4), st.integers(1, 9), st.integers(0, 9))
def test_no_larger_result_waits_longer(sizes: list[int], idle: int, learn: int) -> None:
    assert not later_for_larger(replace(GIVEN, early=1, idle=idle, learn=learn), sizes)


def test_the_check_notices_that_a_larger_one_waits_longer() -> None:
    class Patient(Generational):
        def _limit(self, one: Resident, idle: int) -> int:
            return idle + one.tokens // 1000

    assert later_for_larger(Patient(early=1), [100, 5000])


def test_small_results_stay_whole_but_not_pointers() -> None:
    found = [resident(0, sent=99), resident(1, sent=100), resident(2, sent=9, points=True), resident(3, sent=0)]
    assert cells(GIVEN, heap(*found)) == [1, 2]
    assert cells(replace(GIVEN, min_tokens=0), heap(*found)) == [0, 1, 2, 3]
    assert cells(replace(GIVEN, min_tokens=10**6), heap(*found)) == [2]


# What is learned, and what an edit may quote


def test_each_recall_of_a_tool_raises_its_limits() -> None:
    assert [limit(resident(tokens=SIZE, resurrected=times)) for times in (0, 1, 2, 5)] == [4, 6, 8, 14]
    assert limit(resident(tokens=SIZE, resurrected=9), replace(GIVEN, early=1, learn=0)) == 4


def test_limits_are_raised_to_four_times_at_most() -> None:
    assert limit(resident(tokens=SIZE, resurrected=99)) == 16
    assert limit(resident(tokens=SIZE, references=1, resurrected=99)) == 20


def test_the_newest_view_of_a_resource_stays_longer() -> None:
    view = resident(turn=5, tokens=SIZE, quotable=True)
    assert lifetime(GIVEN, view)[0] == 5 + 12
    first = said(view, 5 + 12)
    assert first is not None
    assert first.since >= 5 + 12
    assert lifetime(replace(GIVEN, quotable_idle=0), view) == lifetime(GIVEN, resident(turn=5, tokens=SIZE))


# What holds of all


def policies() -> st.SearchStrategy[Generational]:
    return st.builds(
        Generational,
        idle=st.integers(1, 9),
        idle_referenced=st.integers(1, 9),
        old_idle=st.integers(1, 30),
        early=st.floats(0, 1),
        learn=st.integers(0, 3),
        quotable_idle=st.integers(0, 20),
    )


def ones() -> st.SearchStrategy[Resident]:
    return st.builds(
        lambda later, **more: resident(turn=5, referenced=5 + later, sent=500, **more),
        st.integers(0, 9),
        tokens=st.integers(0, 50_000),
        references=st.integers(0, 2),
        resurrected=st.integers(0, 20),
        quotable=st.booleans(),
        edited=st.sampled_from(("", LEFT)),
    )


@given(ones(), policies())
def test_what_is_named_stays_named_until_it_is_referred_to(one: Resident, policy: Generational) -> None:
    named = lifetime(policy, one, until=180)
    assert named == list(range(named[0], 180))


def test_a_limit_that_only_looks_at_age_would_bring_the_dead_back() -> None:
    def by_age(one: Resident, now: int) -> bool:
        young = now - one.turn <= 4
        return one.idle(now) >= (3 if young else 8)

    dead = [now for now in range(6, 20) if by_age(resident(turn=5), now)]
    assert dead != list(range(dead[0], 20))


def too_early(one: Resident, policy: Generational) -> list[int]:
    """The turns at which a result is named before its share of the time it has until it is dead."""
    found = ((now, said(one, now, policy)) for now in range(one.referenced, 100))
    return [
        now for now, verdict in found if verdict and one.idle(now) < policy.early * (verdict.since - one.referenced)
    ]


@given(ones(), policies())
def test_nothing_is_named_before_its_share_of_the_time_is_over(one: Resident, policy: Generational) -> None:
    wait = policy.quotable_idle if one.quotable else 0
    assert all(one.idle(now) >= wait for now in too_early(one, policy))
    assert one.quotable or not too_early(one, policy)


def test_the_check_notices_what_is_named_too_early() -> None:
    class Hasty(Generational):
        def propose(self, heap: Heap) -> Iterator[Verdict]:
            for one in heap.residents:
                yield Verdict(one.id, self.name, "excerpt", "now", since=one.referenced + 9)

    assert too_early(resident(turn=5), Hasty(early=0.6)) == [5, 6, 7, 8, 9, 10]


def test_nothing_is_named_beyond_results() -> None:
    others = [resident(n, kind=kind) for n, kind in enumerate((Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL))]
    assert cells(GIVEN, heap(*others, resident(8, pinned=True), resident(9))) == [9]


@pytest.mark.parametrize(
    "wrong",
    [
        {"idle": 0},
        {"idle_referenced": 0},
        {"old_idle": 0},
        {"learn": -1},
        {"min_tokens": -1},
        {"quotable_idle": -1},
        {"keep": 1.5},
        {"early": -0.1},
        {"early": float("nan")},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"^{name} is"):
        Generational(**wrong)


@pytest.mark.parametrize("name", ["density", "density_referenced", "old_density"])
@pytest.mark.parametrize("value", [-0.1, float("nan")])
def test_a_density_below_nothing_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match="density"):
        Generational(**{name: value})  # type: ignore[arg-type]
