from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.heap import Resident
from ctxgc.policies.generational import Generational
from tests.policies.residents import heap, lifetime, proposed, resident


def said(one: Resident, now: int, policy: Generational | None = None) -> tuple[float | None, str, int] | None:
    found = proposed(policy or Generational(), heap(one, now=now))
    return (found[0].excerpt, found[0].reason, found[0].since) if found else None


def test_a_result_that_nothing_refers_to_dies_young() -> None:
    one = resident(turn=5)
    assert said(one, 7) is None
    assert said(one, 8) == (0.2, "young, unused for 3 turns", 8)


def test_one_that_was_used_early_lives_a_little_longer_and_leaves_more() -> None:
    one = resident(turn=5, referenced=7, references=1)
    assert said(one, 10) is None
    assert said(one, 11) == (0.3, "young, unused for 4 turns", 11)


def test_one_that_was_used_late_is_old_and_waits() -> None:
    one = resident(turn=5, referenced=10, references=1)
    assert said(one, 17) is None
    assert said(one, 18) == (0.1, "old, unused for 8 turns", 18)


def test_what_died_young_leaves_less_when_it_is_old() -> None:
    assert said(resident(turn=5), 13) == (0.1, "old, unused for 8 turns", 8)
    assert said(resident(turn=5, sent=200), 12) is None
    assert said(resident(turn=5, sent=200), 13) == (0.1, "old, unused for 8 turns", 13)


def test_a_reference_brings_it_back_to_life() -> None:
    assert said(resident(turn=5, referenced=12, references=2), 13) is None


def test_each_recall_of_a_tool_raises_its_limits() -> None:
    assert [lifetime(Generational(), resident(resurrected=times))[0] - 5 for times in (0, 1, 2, 9)] == [3, 5, 7, 12]
    assert lifetime(Generational(learn=0), resident(resurrected=9))[0] - 5 == 3


def test_limits_are_raised_to_four_times_at_most() -> None:
    assert said(resident(turn=5, referenced=10, resurrected=99), 10 + 31) is None
    assert said(resident(turn=5, referenced=10, resurrected=99), 10 + 32) is not None


def test_the_newest_view_of_a_resource_stays_longer() -> None:
    view = resident(turn=5, quotable=True)
    assert lifetime(Generational(), view)[0] == 17
    assert lifetime(Generational(quotable_idle=0), view) == []
    assert said(view, 20) == (0.1, "old, unused for 15 turns", 17)


@given(
    st.integers(0, 9), st.integers(0, 2), st.integers(0, 20), st.booleans(),
    st.builds(Generational, young=st.integers(0, 6), idle=st.integers(1, 9), old_idle=st.integers(1, 9)),
)  # fmt: skip
def test_what_is_dead_stays_dead_and_since_the_same_turn_or_none_before(
    later: int, references: int, resurrected: int, quotable: bool, policy: Generational
) -> None:
    one = resident(
        turn=5, referenced=5 + later, references=references, resurrected=resurrected, quotable=quotable
    )  # fmt: skip
    dead = lifetime(policy, one, until=60)
    assert dead == list(range(dead[0], 60))
    assert {said(one, now, policy)[2] for now in dead} == {dead[0]}  # type: ignore[index]


def test_a_limit_that_only_looks_at_age_would_bring_the_dead_back() -> None:
    def by_age(one: Resident, now: int) -> bool:
        young = now - one.turn <= 4
        return one.idle(now) >= (3 if young else 8)

    dead = [now for now in range(6, 20) if by_age(resident(turn=5), now)]
    assert dead != list(range(dead[0], 20))


@pytest.mark.parametrize(
    "wrong",
    [
        {"young": -1},
        {"idle": 0},
        {"idle_referenced": 0},
        {"old_idle": 0},
        {"learn": -1},
        {"keep": 1.5},
        {"keep_referenced": -1},
        {"old_keep": 2},
        {"quotable_idle": -1},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"^{name} is"):
        Generational(**wrong)
