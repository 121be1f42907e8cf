"""The first check: within the budget, flat, and nothing of an earlier transcript; each with an agent that is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ctxgc.core.opening import Opening
from ctxgc.examples import play as plays
from ctxgc.examples.bounded import FULL, Sizes, flat, sizes, slope
from ctxgc.examples.chat import Message, content
from ctxgc.examples.play import Plan, Played
from ctxgc.examples.scripted import reply
from ctxgc.examples.window import PINS, Window, begin
from tests.examples.conftest import Playing

SIZES = Sizes(tasks=500, budget=4_000, largest=1_900, beginning=1_000, full=490, slope=0.01, carried=0)


def test_windows_of_fifty_sub_tasks_are_bounded_flat_and_their_own(playing: Playing) -> None:
    found = sizes(playing(50))
    assert found.ok
    assert found.beginning < found.largest <= found.budget == 4_000
    assert found.full >= FULL
    assert found.slope is not None
    assert found.carried == 0


def test_a_short_task_says_nothing_of_a_slope(five: Played) -> None:
    assert sizes(five).slope is None
    assert sizes(five).ok


def test_control_an_agent_that_keeps_its_transcript(playing: Playing) -> None:
    def kept(opening: str, text: str, earlier: Sequence[Window]) -> tuple[Message, ...]:
        system, user = begin(opening, text)
        return system, *(message for window in earlier for message in window.messages[1:]), user

    found = sizes(playing(10, begun=kept))
    assert found.carried == 9
    assert not found.ok
    assert found.largest > found.budget


def test_control_one_line_of_an_earlier_transcript_is_noticed(playing: Playing) -> None:
    def summing(opening: str, text: str, earlier: Sequence[Window]) -> tuple[Message, ...]:
        said = " ".join(content(message) for window in earlier[1:2] for message in window.messages[2:])
        return begin(f"{opening}\nSo far: {said[-120:]}", text)

    found = sizes(playing(5, begun=summing))
    assert found.carried == 3
    assert not found.ok


def test_control_an_opening_without_a_budget(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    def unbounded(closed: object, plan: Plan, scale: plays.Scale) -> Opening:
        return opened(closed, replace(plan, budget=10**9), scale)  # type: ignore[arg-type]

    opened = plays.opened
    monkeypatch.setattr(plays, "opened", unbounded)
    found = sizes(playing(100))
    assert found.largest > found.budget
    assert not found.ok


def test_what_recall_gives_back_is_no_transcript_and_an_echo_of_the_own_beginning_is_none(playing: Playing) -> None:
    def echoing(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        said = reply(messages, tools)
        return said if said["content"] is None else {**said, "content": f"Done: {content(messages[1])} {PINS[0]}"}

    assert sizes(playing(10, echoing)).carried == 0


@pytest.mark.parametrize(
    "wrong", [{"largest": 4_001}, {"slope": 0.5}, {"slope": -0.5}, {"carried": 1}], ids=lambda wrong: "".join(wrong)
)
def test_each_figure_can_fail(wrong: dict[str, float]) -> None:
    assert SIZES.ok
    assert not replace(SIZES, **wrong).ok  # type: ignore[arg-type]


def test_longer_tasks_have_no_larger_windows() -> None:
    shorter = replace(SIZES, tasks=50, full=40)
    assert flat([shorter, SIZES])
    assert not flat([shorter, replace(SIZES, largest=2_500)])
    assert flat([replace(shorter, full=0, largest=700), SIZES])  # its openings were not full yet


def test_the_slope_is_that_of_the_line() -> None:
    assert slope([(0, 3), (1, 5), (2, 7)]) == 2.0
    assert slope([(5, 9), (6, 9), (9, 9)]) == pytest.approx(0, abs=1e-9)
