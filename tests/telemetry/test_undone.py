"""What it costs the cache that a session goes plain."""

from __future__ import annotations

import pytest

from ctxgc.core.journal import Insertion, NewCell, Pace

from .helpers import PRICE, Session
from .test_compactions import compact

INVALIDATED = "ctxgc_cache_invalidated_tokens_total"
COST = "ctxgc_collection_cost_tokens_total"


def grown() -> tuple[Session, bytes]:
    """Messages of 10, 1,000 and 100 tokens, of the second of which 100 are sent since the request that brought 7."""
    session = Session()
    session.settle(session.ask([("user_turn", 10)], [("tool_result:bash", 1000)], [("agent_reply", 100)]))
    call = session.ask([("user_turn", 7)], pace=Pace(trigger="rent", live=107, write=PRICE.cache_write))
    session.collect(call, (1, 100), generation="minor")
    return session, call


def plain(session: Session) -> float:
    return session.count(INVALIDATED, cause="plain", provider="openai")


def test_all_that_was_sent_behind_the_first_change_is_sent_anew():
    session, call = grown()
    session.settle(call)
    call = session.ask([("user_turn", 3)])
    session.bypass("refused: 400", call, plain=True)
    assert plain(session) == 0
    session.settle(call)
    assert plain(session) == 1000 + 100 + 7


def test_what_was_changed_with_the_very_request_that_was_refused_had_never_left_in_that_form():
    session, call = grown()
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert plain(session) == 0


def test_what_was_changed_before_it_was_ever_sent_counts_from_the_next_request_on():
    session = Session()
    first = session.ask([("user_turn", 10)], [("tool_result:bash", 1000)])
    session.collect(first, (1, 100))
    session.settle(first)
    call = session.ask([("user_turn", 3)])
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert plain(session) == 1000


def test_another_history_that_nothing_was_changed_in_pays_nothing():
    session, call = grown()
    session.settle(call)
    call = session.ask([("user_turn", 3)], parent=0)
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert plain(session) == 0


def test_what_stood_of_ours_in_a_history_or_in_place_of_a_span_counts_from_there_on():
    session, call = grown()
    session.settle(call)
    call = session.ask([("user_turn", 5)])
    compact(session, call, 0, 2)
    session.settle(call)
    ours = NewCell("text", "ledger", "ledger", 9, b"n")
    other = session.ask([("user_turn", 8)], parent=-1)
    session.tell(Insertion(at=0.0, call=other, head=session.head, messages=(b"{}",), cells=(ours,), told=1))
    session.settle(other)
    call = session.ask([("agent_reply", 20)])
    session.settle(call)
    call = session.ask([("user_turn", 1)])
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert plain(session) == 20  # what stands behind the news


def test_where_the_cache_was_cold_nothing_is_lost():
    session, call = grown()
    session.settle(call)
    call = session.ask([("user_turn", 3)], pace=Pace(cold=True))
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert plain(session) == 0


@pytest.mark.parametrize("trigger", ["cold", "rent", "window", "quality", "asked", "milestone"])
def test_what_a_collection_rewrites_counts_under_its_cause(trigger: str):
    session = Session()
    session.settle(session.ask([("user_turn", 10)], pace=Pace(trigger=trigger, live=55)))
    assert session.count(INVALIDATED, cause=trigger) == session.count(COST, kind="rewritten") == 55


def test_a_cause_that_is_not_known_is_no_label():
    session = Session()
    session.settle(session.ask([("user_turn", 10)], pace=Pace(trigger="whim", live=55)))
    assert session.count(INVALIDATED, cause="rent") == 55
