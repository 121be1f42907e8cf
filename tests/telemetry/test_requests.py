"""What requests carry: the context metrics."""

from __future__ import annotations

import pytest

from ctxgc.core.journal import Recovery
from ctxgc.telemetry import requests

from .helpers import Session, observed

CONTEXT = "ctxgc_context_tokens_total"
COLLECTIONS = "ctxgc_collections_total"


def test_the_first_request_is_fresh_and_the_second_replays_it():
    session = Session()
    session.settle(session.ask([("user_turn", 10)]))
    assert session.count(CONTEXT, stage="received", residency="fresh") == 10
    assert session.count(CONTEXT, stage="received", residency="replayed") == 0
    session.settle(session.ask([("agent_reply", 5)], [("user_turn", 7)]))
    assert session.count(CONTEXT, stage="received", residency="fresh") == 22
    assert session.count(CONTEXT, stage="received", residency="replayed") == 10
    assert session.count(CONTEXT, stage="received", tag="agent_reply") == 5


def test_the_same_request_again_is_all_replayed():
    session = Session()
    session.settle(session.ask([("user_turn", 10)]))
    session.settle(session.ask())
    assert session.count(CONTEXT, stage="forwarded", residency="replayed") == 10


def test_a_branch_replays_only_what_it_shares():
    session = Session()
    session.settle(session.ask([("system_prompt", 100)], [("user_turn", 10)]))
    session.settle(session.ask([("user_turn", 20)], parent=0))
    assert session.count(CONTEXT, stage="received", tag="user_turn", residency="replayed") == 0
    assert session.count(CONTEXT, stage="received", tag="system_prompt", residency="replayed") == 100


def test_a_new_tool_list_is_fresh_and_is_replayed_after():
    session = Session()
    session.settle(session.ask([("user_turn", 1)], tools=[("tool_schema:bash", 50)]))
    session.settle(session.ask([("user_turn", 1)], toolset=0))
    for stage in ("received", "forwarded"):
        for residency in ("fresh", "replayed"):
            assert session.count(CONTEXT, stage=stage, source="bash", residency=residency) == 50


def test_what_a_request_s_own_collection_took_is_not_forwarded():
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 30))
    session.settle(call)
    assert session.count(CONTEXT, stage="received") == 100
    assert session.count(CONTEXT, stage="forwarded") == 30


def test_what_was_collected_once_stays_away_on_every_replay():
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 30))
    session.settle(call)
    session.settle(session.ask([("user_turn", 1)]))
    assert session.count(CONTEXT, stage="forwarded", tag="tool_result", residency="replayed") == 30
    assert session.count(CONTEXT, stage="received", tag="tool_result", residency="replayed") == 100


def test_what_a_later_request_collects_was_still_forwarded_by_the_earlier_one():
    session = Session()
    first = session.ask([("tool_result:bash", 100)])
    second = session.ask([("user_turn", 1)])
    session.collect(second, (0, 30))
    session.settle(second)
    assert session.count(CONTEXT, stage="forwarded", tag="tool_result") == 30
    session.settle(first)
    assert session.count(CONTEXT, stage="forwarded", tag="tool_result") == 130


def test_a_request_counts_when_it_ends_and_only_once():
    session = Session()
    call = session.ask([("user_turn", 10)])
    assert session.count(CONTEXT) == 0
    session.settle(call)
    session.settle(call)
    session.tell(Recovery(at=0.0, call=call))
    assert session.count(CONTEXT, stage="received") == 10


def test_a_request_that_is_closed_by_a_recovery_was_sent_too():
    session = Session()
    session.tell(Recovery(at=0.0, call=session.ask([("user_turn", 10)])))
    assert session.count(CONTEXT, stage="forwarded") == 10
    assert session.count("ctxgc_requests_total") == 0


def test_a_refused_request_was_forwarded_as_it_came():
    session = Session()
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (0, 30))
    session.bypass("refused: 400", call, plain=True)
    session.settle(call)
    assert session.count(CONTEXT, stage="forwarded") == 100


def test_requests_that_never_end_are_not_kept_forever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(requests, "LIMIT", 2)
    session = Session()
    calls = [session.ask([("user_turn", 10)]) for _ in range(4)]
    assert session.count(CONTEXT, stage="received") == 10 + 20
    for call in calls:
        session.settle(call)
    assert session.count(CONTEXT, stage="received") == 10 + 20 + 30 + 40


def test_the_size_of_a_request_and_its_share_of_the_window():
    session = Session()
    call = session.ask([("tool_result:bash", 500)], tools=[("tool_schema:bash", 100)])
    session.collect(call, (1, 150))  # cell 0 is the tool's schema
    session.settle(call)
    for stage, tokens in (("received", 600), ("forwarded", 250)):
        assert observed(session.figures, "ctxgc_request_context_tokens", stage, "gpt-x") == (1, tokens)
        share = observed(session.figures, "ctxgc_context_window_utilization_ratio", stage, "gpt-x")
        assert share == (1, tokens / 1000)


def test_a_model_without_a_known_window_has_no_share_of_it():
    session = Session()
    session.settle(session.ask([("user_turn", 10)], model="made-up"))
    assert observed(session.figures, "ctxgc_request_context_tokens", "received", "other") == (1, 10)
    assert not session.figures.board().histograms["ctxgc_context_window_utilization_ratio"].values


def test_each_request_is_one_collection_whatever_came_of_it():
    session = Session()
    session.settle(session.ask([("user_turn", 10)]))
    assert session.count(COLLECTIONS, outcome="noop") == 1
    call = session.ask([("tool_result:bash", 100)])
    session.collect(call, (1, 30))
    session.settle(call)
    assert session.count(COLLECTIONS, outcome="collected") == 1
    assert session.count(COLLECTIONS) == 2


def test_a_collection_whose_result_broke_a_rule_is_aborted():
    session = Session()
    session.bypass("validator: pairs", b"call 0 of %d" % id(session))
    session.settle(session.ask([("tool_result:bash", 100)]))
    assert session.count(COLLECTIONS, outcome="aborted", trigger="none") == 1
    assert session.count(COLLECTIONS) == 1
