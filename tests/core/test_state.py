"""The fold: what each entry does to the state, what does not fit, and that states are equal where journals are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.collector import Edit
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    NewCell,
    NewNode,
    Open,
    Recall,
    Recovery,
    Settlement,
    decode,
    encode,
    kind,
)
from ctxgc.core.nodes import ROOT, Toolset, add
from ctxgc.core.state import State, edit_tokens, fold

OPEN = Open(at=0.0, scope=bytes(32), origin="test", codec="openai_chat")


def cell(tag: str = "user_turn", tokens: int = 10, block: str = "text", **more: Any) -> NewCell:
    return NewCell(block, tag, more.pop("site", "user"), tokens, more.pop("content", tag.encode()), **more)


def node(parent: int, name: str, *cells: NewCell, turn: int = 0) -> NewNode:
    return NewNode(parent, name.encode(), name.encode(), name.encode(), b",", "user", turn, cells or (cell(),))


def allocation(head: int, *nodes: NewNode, call: bytes = b"c1", **more: Any) -> Allocation:
    return Allocation(
        at=1.0,
        call=call,
        model="m",
        parent=more.pop("parent", -1),
        head=head,
        continues=False,
        received=bytes(32),
        sent=bytes(32),
        before=(),
        after=(),
        nodes=nodes,
        **more,
    )


def edit(number: int, after: int = 3, before: int = 9, handle: str = "h" * 16) -> Edit:
    return Edit(number, "truncate", "truncate", "over", f"text {number}", handle, before, after)


def collection(*edits: Edit) -> Collection:
    return Collection(at=1.0, call=b"c1", generation="eden", edits=edits)


RESULT = cell("tool_result:f", 20, "tool_result", site="f({})", call_id="c")
TREE = allocation(
    2,
    node(-1, "a", cell("system_prompt", 5)),
    node(0, "b", RESULT),
    node(1, "c", cell("agent_reply", 7, "tool_call", site="f({})", call_id="d"), cell("agent_reply", 1)),
)
BRANCH = allocation(3, node(0, "d", RESULT), call=b"c2", parent=0)


def test_nodes_and_cells_are_numbered_in_order() -> None:
    state = fold([OPEN, TREE, BRANCH])
    assert [(one.id, one.parent, one.depth) for one in state.nodes] == [(0, -1, 0), (1, 0, 1), (2, 1, 2), (3, 0, 1)]
    assert [one.cells for one in state.nodes] == [(0,), (1,), (2, 3), (4,)]
    assert state.owners == [0, 1, 2, 2, 3]


def test_tallies_are_those_of_the_whole_path() -> None:
    state = fold([OPEN, TREE, BRANCH])
    assert state.nodes[2].received == {"system_prompt": 5, "tool_result:f": 20, "agent_reply": 8}
    assert state.nodes[3].received == {"system_prompt": 5, "tool_result:f": 20}
    assert state.tokens(2, -1, sent=False) == state.tokens(2, -1, sent=True) == 33


def test_an_edit_changes_what_is_sent_on_every_path_through_its_node() -> None:
    state = fold([OPEN, TREE, collection(edit(1, after=3, before=9))])
    assert state.cells[1].sent == 20 - 9 + 3
    assert [sum(one.sent.values()) for one in state.nodes] == [5, 19, 27]
    assert [sum(one.received.values()) for one in state.nodes] == [5, 25, 33]
    assert state.nodes[1].edits == {0: "text 1"}


def test_an_edit_on_one_branch_leaves_the_other_alone() -> None:
    state = fold([OPEN, TREE, BRANCH, collection(edit(4))])
    assert state.nodes[2].sent == state.nodes[2].received
    assert state.nodes[3].sent == {"system_prompt": 5, "tool_result:f": 14}


def test_tool_sets_are_counted_with_a_request() -> None:
    schemas = (cell("tool_schema:f", 30, "tool_schema"), cell("tool_schema:g", 4, "tool_schema"))
    state = fold([OPEN, allocation(0, node(-1, "a"), tools=b"t", schemas=schemas, toolset=0)])
    assert state.toolset(0) == Toolset((0, 1), {"tool_schema:f": 30, "tool_schema:g": 4})
    assert state.nodes[0].cells == (2,)
    assert state.tokens(0, 0, sent=True) == 44
    assert state.toolset(-1) == Toolset((), {})


def test_paths() -> None:
    state = fold([OPEN, TREE, BRANCH])
    assert [one.id for one in state.path(2)] == [0, 1, 2]
    assert [one.id for one in state.path(3)] == [0, 3]
    assert state.path(-1) == []
    assert state.node(-1) is ROOT


def test_what_is_looked_up() -> None:
    state = fold([OPEN, TREE, collection(edit(1, handle="a" * 16))])
    assert state.by_chain == {b"a": 0, b"b": 1, b"c": 2}
    assert state.by_blob == {(-1, b"a"): 0, (0, b"b"): 1, (1, b"c"): 2}
    assert state.by_handle == {"a" * 16: 1}
    assert state.call_sites == {(2, "d"): 2}
    assert state.results == {("f({})", RESULT.content): [1]}


def test_calls_are_open_until_they_are_settled_or_recovered() -> None:
    state = fold([OPEN, TREE, BRANCH])
    assert set(state.unsettled) == {b"c1", b"c2"}
    state.apply(Settlement(at=2.0, call=b"c1", outcome="ok", status=200))
    state.apply(Recovery(at=2.0, call=b"c2"))
    assert state.unsettled == {}
    assert state.calls == 2


def test_going_plain_takes_all_edits_back_and_keeps_their_handles() -> None:
    state = fold([OPEN, TREE, collection(edit(1)), Bypass(at=2.0, call=b"c1", reason="refused", plain=True)])
    untouched = fold([OPEN, TREE])
    assert state.plain
    assert (state.nodes, state.cells, state.edits) == (untouched.nodes, untouched.cells, {})
    assert state.by_handle == {"h" * 16: 1}


def test_recalls_are_counted_per_cell() -> None:
    recalls = [Recall(at=2.0, handle="h" * 16, by="model", cell=1)] * 2
    lost = Recall(at=2.0, handle="x" * 16, by="host", found=False)
    assert fold([OPEN, TREE, *recalls, lost]).resurrected == {1: 2}


@pytest.mark.parametrize("entry", [Gap(at=1.0, calls=1, since=0.0, reason="r"), Bypass(at=1.0, call=b"c", reason="r")])
def test_entries_that_change_nothing(entry: AnyEntry) -> None:
    assert vars(fold([OPEN, TREE, entry])) == vars(fold([OPEN, TREE]))


@pytest.mark.parametrize(
    "wrong", [allocation(3), allocation(-2), allocation(9, node(2, "x")), allocation(2, toolset=0)]
)
def test_what_does_not_fit_is_refused_and_changes_nothing(wrong: Allocation) -> None:
    state = fold([OPEN, TREE])
    with pytest.raises(ValueError, match="never journalled"):
        state.apply(wrong)
    assert vars(state) == vars(fold([OPEN, TREE]))


@st.composite
def journals(draw: st.DrawFn) -> list[AnyEntry]:
    """Any journal that fits together: a tree that grows, with edits on its results."""
    entries: list[AnyEntry] = [OPEN]
    nodes, results, cells = 0, [], 0
    for number in range(draw(st.integers(1, 6))):
        new = []
        for _ in range(draw(st.integers(0, 3))):
            parent = draw(st.integers(-1, nodes + len(new) - 1))
            kinds = draw(st.lists(st.sampled_from(["text", "tool_result"]), min_size=1, max_size=3))
            for block in kinds:
                results += [cells] if block == "tool_result" else []
                cells += 1
            found = [cell(f"tag {block}", draw(st.integers(1, 99)), block) for block in kinds]
            new.append(node(parent, f"{number}/{len(new)}", *found))
        nodes += len(new)
        head = draw(st.integers(-1, nodes - 1))
        entries.append(allocation(head, *new, call=b"%d" % number))
        if results and draw(st.booleans()):
            entries.append(collection(edit(draw(st.sampled_from(results)), after=0, before=1)))
        if draw(st.integers(0, 9)) == 0:
            entries.append(Bypass(at=1.0, call=b"x", reason="r", plain=True))
    return entries


def agrees(state: State) -> bool:
    """Whether every tally is the sum over its path."""
    return all(
        (dict(one.received), dict(one.sent))
        == tuple(
            add({}, ((state.cells[at].tag, form(state.cells[at])) for step in state.path(one.id) for at in step.cells))
            for form in (lambda found: found.tokens, lambda found: found.sent)
        )
        for one in state.nodes
    )


@given(journals())
def test_tallies_are_the_sums_of_their_cells(entries: list[AnyEntry]) -> None:
    assert agrees(fold(entries))


@given(journals())
def test_a_journal_read_back_folds_to_the_same_state(entries: list[AnyEntry]) -> None:
    again = [decode(encode(entry)) for entry in entries]
    assert again == entries
    assert vars(fold(again)) == vars(fold(entries))
    assert [kind(entry) for entry in entries[:2]] == ["open", "allocation"]


def test_control_a_tally_that_is_off_is_noticed() -> None:
    state = fold([OPEN, TREE])
    state.nodes[2].received["agent_reply"] += 1  # type: ignore[index]
    assert not agrees(state)


def test_an_edits_tokens_leave_the_framing() -> None:
    state = fold([OPEN, TREE])
    assert edit_tokens(state.cells[1], edit(1, before=16, after=2)) == 20 - 16 + 2
