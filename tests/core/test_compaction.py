"""The fold of compactions: which messages a history is sent without, what it then takes, and how that is taken back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.compaction import Compaction, Item, Milestone, Summary
from ctxgc.core.history import History
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Insertion, NewCell, NewNode, decode, encode
from ctxgc.core.state import State, fold

HANDLE = "a" * 16
TOKENS = 10
"""Of each message; those of a record are 3."""


def cell(number: int, tokens: int = TOKENS, tag: str = "user_turn") -> NewCell:
    return NewCell("text", tag, "user", tokens, number.to_bytes(16, "big"), False)


def node(number: int, parent: int, role: str = "user", turn: int = 0) -> NewNode:
    return NewNode(parent, number.to_bytes(32, "big"), b"", b"blob", b"", role, turn, (cell(number),), True)


def allocation(first: int, count: int, parent: int, call: bytes = b"a") -> Allocation:
    """A request with so many new messages behind ``parent``."""
    nodes = tuple(node(first + at, parent if at == 0 else first + at - 1) for at in range(count))
    return Allocation(
        at=0, call=call, model="m", parent=parent, head=first + count - 1, continues=parent >= 0, received=b"",
        sent=b"", before=(), after=(), nodes=nodes, variants=(), toolset=-1, tools=b"", schemas=None,
    )  # fmt: skip


def compaction(after: int, upto: int, kept: Sequence[int] = (), **more: object) -> Compaction:
    fields = {
        "at": 0.0, "call": b"a", "after": after, "upto": upto, "kept": tuple(kept), "messages": (b"{}",),
        "cells": (cell(99, 3, "summary"),), "record": b"r" * 32, "handle": HANDLE, "handles": {"b" * 16: after + 1},
        "before": 0, "tokens": 3, "trigger": "quality",
    }  # fmt: skip
    return Compaction(**{**fields, **more})  # type: ignore[arg-type]


def state(*entries: AnyEntry) -> State:
    """A history of ten messages, and what follows in the journal."""
    return fold([allocation(0, 10, -1), *entries])


def shown(found: State, head: int) -> list[int]:
    return [one.id for one in found.shown(head)]


def sent(found: State, head: int) -> int:
    return sum(found.node(head).sent.values())


def test_histories_through_the_end_of_the_span_go_without_it() -> None:
    found = state(compaction(1, 6, kept=[3]))
    assert shown(found, 9) == [0, 1, 3, 7, 8, 9]
    assert shown(found, 6) == [0, 1, 3]
    assert sent(found, 9) == 6 * TOKENS + 3
    assert sum(found.node(9).received.values()) == 10 * TOKENS


def test_a_history_that_leaves_inside_the_span_has_all_of_it() -> None:
    found = state(compaction(1, 6), allocation(10, 2, 4, b"b"))
    assert shown(found, 11) == [0, 1, 2, 3, 4, 10, 11]
    assert sent(found, 11) == 7 * TOKENS
    assert found.node(11).compacted is None


def test_what_is_appended_later_is_behind_the_record() -> None:
    found = state(compaction(1, 6), allocation(10, 2, 9, b"b"), allocation(12, 1, 7, b"c"))
    assert shown(found, 11) == [0, 1, 7, 8, 9, 10, 11]
    assert shown(found, 12) == [0, 1, 7, 12]
    assert sent(found, 11) == 7 * TOKENS + 3
    assert sent(found, 12) == 4 * TOKENS + 3


def test_a_second_one_stands_for_the_first_ones_span_too() -> None:
    found = state(compaction(1, 4), compaction(1, 7, kept=[2], handle="c" * 16))
    assert shown(found, 9) == [0, 1, 2, 8, 9]
    assert sent(found, 9) == 5 * TOKENS + 3
    made = found.node(9).compacted
    assert made is not None
    assert made.number == 2
    branch = state(compaction(1, 4), compaction(1, 7), allocation(10, 1, 5, b"b"))
    assert shown(branch, 10) == [0, 1, 5, 10], "what leaves between the two ends is without the first span only"
    assert branch.node(10).compacted.number == 1  # type: ignore[union-attr]


def test_handles_lead_to_the_cells_and_to_the_record() -> None:
    found = state(compaction(1, 6))
    record = found.by_handle[HANDLE]
    assert found.records == {record: b"r" * 32}
    assert found.cells[record].tokens == 0, "it never came"
    assert found.cells[record].sent == 3
    assert found.cells[record].pinned
    assert found.by_handle["b" * 16] == 2
    again = state(compaction(1, 4), compaction(1, 6))
    assert len(again.records) == 1, "the same record is the one that is there"


def test_what_is_ours_behind_the_span_stays_and_what_is_inside_goes() -> None:
    def told(head: int) -> Insertion:
        return Insertion(at=0, call=b"a", head=head, messages=(b"{}",), cells=(cell(50, 7, "recall"),))

    inside = state(told(3), allocation(10, 1, 3, b"b"), allocation(11, 1, 9, b"c"), compaction(1, 6))
    assert sent(inside, 11) == 6 * TOKENS + 3
    behind = state(told(9), allocation(10, 1, 9, b"b"), compaction(1, 6))
    assert sent(behind, 10) == 6 * TOKENS + 3 + 7
    before = fold([allocation(0, 2, -1), told(1), allocation(2, 8, 1, b"b"), compaction(1, 6)])
    assert sent(before, 9) == 5 * TOKENS + 3 + 7


def test_a_provider_that_refuses_takes_all_of_it_back() -> None:
    found = state(compaction(1, 6), Bypass(at=0, call=b"a", reason="400", plain=True))
    assert shown(found, 9) == list(range(10))
    assert sent(found, 9) == 10 * TOKENS
    assert found.by_handle[HANDLE] in found.records, "what was once sent can still be read back"


def test_plans_made_before_are_known_to_be_old() -> None:
    before = state().marked
    assert state(compaction(1, 6)).marked > before
    assert state(Milestone(at=0, name="done", head=4)).marked > before
    summary = Summary(at=0, after=1, upto=6, model="m", outcome="taken", items=(Item("facts", "x", 3),))
    assert state(summary).marked > before


def test_what_a_history_was_told_of_the_ledger_goes_with_it() -> None:
    found = state(compaction(1, 6, told=7), allocation(10, 1, 9, b"b"), allocation(11, 1, 4, b"c"))
    assert found.told(10) == 7
    assert found.told(11) == -1, "a branch inside the span has no record"


@pytest.mark.parametrize(("after", "upto"), [(6, 6), (7, 3), (9, 4)])
def test_what_is_no_span_of_one_history_is_refused(after: int, upto: int) -> None:
    with pytest.raises(ValueError, match="no span"):
        state(compaction(after, upto))


def test_a_node_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no span"):
        state(compaction(1, 50))


def test_a_span_across_branches_is_refused() -> None:
    with pytest.raises(ValueError, match="no span"):
        state(allocation(10, 2, 4, b"b"), compaction(6, 11))


@given(st.data())
def test_tokens_are_those_of_what_is_shown_whatever_is_compacted(data: st.DataObject) -> None:
    entries: list[AnyEntry] = []
    nodes = 10
    for number in range(data.draw(st.integers(1, 5))):
        found = state(*entries)
        if data.draw(st.booleans()):
            upto = data.draw(st.integers(2, nodes - 1))
            inside = [one.id for one in found.path(upto) if one.depth > 1]
            if inside:
                kept = data.draw(st.lists(st.sampled_from(inside), unique=True, max_size=3))
                entries.append(compaction(1, upto, kept))
        else:
            parent = data.draw(st.integers(1, nodes - 1))
            entries.append(allocation(nodes, 2, parent, bytes([number])))
            nodes += 2
    found = state(*entries)
    for head in range(nodes):
        record = 3 if found.node(head).compacted else 0
        assert sent(found, head) == TOKENS * len(found.shown(head)) + record
        assert sum(found.node(head).received.values()) == TOKENS * len(found.path(head))
        made = found.node(head).compacted
        if made is not None:
            assert {one.id for one in found.path(head)} >= {made.after, made.following, made.upto}
    assert fold([allocation(0, 10, -1), *entries]).nodes == found.nodes


def test_entries_are_the_same_when_they_are_read_back() -> None:
    item = Item("facts", "x", 3, "quote", True, "F1")
    entries: list[AnyEntry] = [
        compaction(1, 6, kept=[2], by="m", told=4),
        Milestone(at=0, name="done", head=-1),
        Summary(at=0, after=1, upto=6, model="m", outcome="taken", items=(item,), resolved=(1,)),
    ]
    assert [decode(encode(entry)) for entry in entries] == entries


def test_control_a_fold_that_forgets_what_was_kept_does_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(History, "hidden", History.inside)
    found = state(compaction(1, 6, kept=[3]))
    assert sent(found, 9) != TOKENS * len(found.shown(9)) + 3
