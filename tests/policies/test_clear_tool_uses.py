from __future__ import annotations

import pytest

from ctxgc.core.block import Kind
from ctxgc.policies.clear_tool_uses import ClearToolUses
from tests.heaps import arrival
from tests.policies.residents import cells, heap, proposed, resident

FOUND = [resident(cell, tokens=20_000, tool="search" if cell % 2 else "Memory_View") for cell in range(6)]


def test_above_the_trigger_all_but_the_last_three_go_at_once() -> None:
    found = proposed(ClearToolUses(), heap(*FOUND))
    assert [verdict.cell for verdict in found] == [0, 1, 2]
    assert {(verdict.excerpt, verdict.urgency, verdict.action) for verdict in found} == {(0.0, "now", "stub")}
    assert found[0].reason == "context over 100000 tokens"


def test_at_the_trigger_nothing_goes() -> None:
    assert cells(ClearToolUses(), heap(*FOUND[:5])) == []


def test_everything_sent_counts_towards_the_trigger() -> None:
    text = resident(9, kind=Kind.TEXT, tokens=1)
    assert cells(ClearToolUses(), heap(*FOUND[:5], text)) == [0, 1]
    assert cells(ClearToolUses(), heap(*FOUND[:5], eden=[arrival("four")])) == [0, 1, 2]
    assert cells(ClearToolUses(), heap(*(resident(cell, tokens=20_000, sent=30) for cell in range(6)))) == []


def test_what_just_arrived_is_among_the_last() -> None:
    assert cells(ClearToolUses(), heap(*FOUND, eden=[arrival("x")] * 3)) == [0, 1, 2, 3, 4, 5]


def test_unless_enough_would_go_nothing_does() -> None:
    freed = 3 * (20_000 - 48)
    assert cells(ClearToolUses(clear_at_least=freed), heap(*FOUND)) == [0, 1, 2]
    assert cells(ClearToolUses(clear_at_least=freed + 1), heap(*FOUND)) == []


def test_some_tools_stay() -> None:
    assert cells(ClearToolUses(exclude_tools=("memory_*",)), heap(*FOUND)) == [1]


def test_nothing_is_kept_where_nothing_is_to_be() -> None:
    assert cells(ClearToolUses(keep=0), heap(*FOUND)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("wrong", [{"trigger": -1}, {"keep": -1}, {"clear_at_least": -1}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is at least 0"):
        ClearToolUses(**wrong)
