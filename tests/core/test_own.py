"""What is ctxgc's own in a history: for whom it stands behind a node, and with which request it left first."""

from __future__ import annotations

from ctxgc.core.journal import Insertion
from ctxgc.core.own import Inserted, Own
from ctxgc.core.state import State, fold
from tests.core.test_state import OPEN, TREE, allocation, cell, node

RECALLED = Insertion(at=1.0, call=b"c1", head=2, messages=(b"{}",), cells=(cell("recall", 8),))
ONCE_MORE = allocation(2, call=b"c2", parent=2, again=True)


def test_it_stands_behind_a_node_for_those_who_come_after_it() -> None:
    own = Own()
    own.insert(3, Inserted(5, (b"{}",), (7,)))
    assert own.behind(3, 4) == ()
    assert own.behind(3, 5) == own.behind(3) != ()
    assert own.behind(2) == ()


def test_it_leaves_with_one_request_first() -> None:
    own = Own()
    own.insert(3, Inserted(5, (b"{}",), (7,)))
    own.leave((2, 3), b"first")
    own.leave((3,), b"second")
    own.insert(3, Inserted(6, (b"{}",), (8,)))
    assert [each.call for each in own.behind(3)] == [b"first", b""]


def test_it_is_fresh_until_a_request_has_left_with_it() -> None:
    before, after = fold([OPEN, TREE, RECALLED]), fold([OPEN, TREE, RECALLED, ONCE_MORE])
    assert [state.fresh(2) for state in (before, after)] == [8, 0]
    assert before.left(2) == before.node(2).sent
    assert after.left(2) == after.sent(2) == before.sent(2)
    assert after.left(2, ONCE_MORE.call) == before.left(2)


def test_a_request_through_another_branch_does_not_take_it_along() -> None:
    state = fold([OPEN, TREE, RECALLED, allocation(3, node(0, "d"), call=b"c2", parent=0)])
    assert state.fresh(2) == 8


def test_the_tokens_of_a_request_are_those_of_the_client_where_nothing_of_ours_is() -> None:
    state: State = fold([OPEN, TREE])
    assert state.tokens(2, -1, sent=True, offered=True) == state.tokens(2, -1, sent=True) == 33
