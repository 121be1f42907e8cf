from __future__ import annotations

import pytest

from ctxgc.core.block import Kind
from ctxgc.policies.window import Window
from tests.heaps import arrival
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_only_the_last_turns_stay() -> None:
    assert lifetime(Window(turns=3), resident(turn=5), until=12) == [9, 10, 11]
    found = heap(*(resident(turn, turn=turn) for turn in range(20)))
    assert cells(Window(turns=3), found) == list(range(17))


def test_what_is_older_becomes_a_stub_at_once() -> None:
    (verdict,) = proposed(Window(), heap(resident(turn=5, referenced=19, quotable=True)))
    assert (verdict.excerpt, verdict.urgency, verdict.action, verdict.reason) == (
        0.0, "now", "stub", "older than 10 turns",
    )  # fmt: skip


def test_or_only_the_last_blocks() -> None:
    found = [resident(number, kind=Kind.TEXT if number % 2 else Kind.TOOL_RESULT) for number in range(10)]
    assert cells(Window(messages=4), heap(*found)) == [0, 2, 4]
    assert cells(Window(messages=4), heap(*found, eden=[arrival("x")])) == [0, 2, 4, 6]
    assert cells(Window(messages=4), heap(*found, eden=[arrival("x")] * 9)) == [0, 2, 4, 6, 8]
    assert cells(Window(messages=99), heap(*found)) == []


@pytest.mark.parametrize("wrong", [{"messages": -1}, {"turns": 0}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is at least"):
        Window(**wrong)
