"""How long work takes: only while it works, and told only when it is done."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from ctxgc.session import drain
from ctxgc.session.timing import PHASES, Untimed
from ctxgc.telemetry.phases import Stopwatch
from tests.lab.collected import bodies, collecting_kit, run
from tests.session.scripts import memory

from .helpers import new_figures, observed

DURATION = "ctxgc_collection_duration_seconds"


class Hand:
    """A clock that is moved by hand, and what the stopwatch told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[tuple[str, float]] = []
        self.watch = Stopwatch(lambda: self.now, lambda phase, seconds: self.told.append((phase, seconds)))

    def slices(self, *seconds: float) -> Generator[None, None, str]:
        for each in seconds:
            self.now += each
            yield
        return "done"


def test_slices_are_timed_without_what_goes_on_between_them():
    hand = Hand()
    steps = hand.watch.steps("mark", hand.slices(1, 2))
    next(steps)
    hand.now += 100
    assert drain(steps) == "done"
    assert hand.told == [("mark", 3)]


def test_control_a_clock_that_is_only_looked_at_twice_would_time_that_too():
    hand = Hand()
    with hand.watch.span("mark"):
        steps = hand.slices(1, 2)
        next(steps)
        hand.now += 100
        drain(steps)
    assert hand.told == [("mark", 103)]


def failing(hand: Hand) -> Iterator[None]:
    hand.now += 1
    yield
    raise KeyError


def test_work_that_fails_or_is_left_is_not_told():
    hand = Hand()
    with pytest.raises(KeyError):
        drain(hand.watch.steps("mark", failing(hand)))  # type: ignore[arg-type]
    with pytest.raises(KeyError), hand.watch.span("rewrite"):
        raise KeyError
    left = hand.slices(1, 2)
    steps = hand.watch.steps("mark", left)
    next(steps)
    steps.close()
    assert not hand.told
    assert left.gi_frame is None  # it was closed, too


def test_nobody_s_timer_is_the_work_itself():
    steps = Hand().slices(1)
    assert Untimed().steps("mark", steps) is steps
    with Untimed().span("mark"):
        pass


def test_a_session_times_each_phase_of_its_requests():
    figures, clock = new_figures(), iter(range(10**9))
    figures.timer = Stopwatch(lambda: float(next(clock)), figures._took)
    with memory() as store:
        run(collecting_kit(store, observe=figures.observe, timer=figures.timer), bodies(16))
    found = {phase: observed(figures, DURATION, phase) for phase in PHASES}
    assert all(seconds > 0 for _, seconds in found.values())
    assert found["tokenize"][0] == found["mark"][0] == 16
    assert 1 <= found["rewrite"][0] < 16  # only requests that changed something
