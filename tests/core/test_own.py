"""What is ctxgc's own in a history: for whom it stands behind a node, and with which request it left first."""

from __future__ import annotations

from ctxgc.core.journal import Insertion, decode, encode
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


def test_what_is_taken_back_stands_nowhere_and_keeps_its_place() -> None:
    own = Own()
    own.insert(3, Inserted(5, (b"{}",), (7,), asked=b"c1"))
    own.insert(3, Inserted(5, (b"{}",), (8,), asked=b"c2"))
    assert own.withdraw(3, b"c1") == (7,)
    assert [each.cells for each in own.behind(3)] == [(), (8,)]
    assert own.withdraw(3, b"c1") == own.withdraw(3, b"c9") == own.withdraw(4, b"c2") == ()


VOID = Insertion(at=1.0, call=b"c1", head=2, messages=(), cells=(), void=True)


def test_a_history_is_as_if_nothing_had_been_inserted_when_that_is_taken_back() -> None:
    before, after = fold([OPEN, TREE]), fold([OPEN, TREE, RECALLED, ONCE_MORE, VOID])
    assert after.sent(2) == before.sent(2)
    assert (after.fresh(2), after.cells[-1].sent, after.owners[-1]) == (0, 0, -1)
    assert [each.messages for each in after.own.behind(2)] == [()]


def test_histories_that_went_on_from_it_are_counted_anew() -> None:
    more = allocation(3, node(2, "more"), call=b"c3", parent=2)
    before, after = fold([OPEN, TREE, RECALLED, more]), fold([OPEN, TREE, RECALLED, more, VOID])
    assert sum(before.node(3).sent.values()) - sum(after.node(3).sent.values()) == 8
    assert after.node(3).sent == fold([OPEN, TREE, more]).node(3).sent


def test_what_was_inserted_for_another_request_stays() -> None:
    other = Insertion(at=1.0, call=b"c2", head=2, messages=(), cells=(), void=True)
    assert fold([OPEN, TREE, RECALLED, other]).fresh(2) == 8


def test_plans_that_counted_it_are_made_anew() -> None:
    assert fold([OPEN, TREE, RECALLED, VOID]).marked > fold([OPEN, TREE, RECALLED]).marked


def test_an_insertion_of_an_earlier_version_is_none_that_is_taken_back() -> None:
    written = encode(RECALLED)
    assert b"void" not in written
    assert decode(written) == RECALLED
    assert decode(encode(VOID)) == VOID


def test_the_tokens_of_a_request_are_those_of_the_client_where_nothing_of_ours_is() -> None:
    state: State = fold([OPEN, TREE])
    assert state.tokens(2, -1, sent=True, offered=True) == state.tokens(2, -1, sent=True) == 33
