"""What the sessions in memory carry now."""

from __future__ import annotations

from ctxgc.core.journal import Recovery
from ctxgc.core.state import State
from ctxgc.telemetry import Figures

from .helpers import Session, price


def live(*sessions: Session) -> dict[str, int]:
    return sessions[0].figures.live()


def test_the_newest_request_of_each_session_counts_as_it_was_sent():
    first = Session()
    second = Session(first.figures)
    call = first.ask([("user_turn", 10)], [("tool_result:bash", 100)], tools=[("tool_schema:bash", 50)])
    first.collect(call, (2, 30))
    first.settle(call)
    second.settle(second.ask([("tool_result:read", 7)], [("my own", 3)]))
    assert live(first, second) == {"user_turn": 10, "tool_result": 37, "tool_schema": 50, "other": 3}
    first.settle(first.ask([("agent_reply", 5)]))
    assert live(first, second)["agent_reply"] == 5
    assert live(first, second)["user_turn"] == 10


def test_a_request_under_way_counts_when_it_has_ended_however_it_does():
    session = Session()
    call = session.ask([("user_turn", 10)])
    assert live(session) == {}
    session.tell(Recovery(at=0.0, call=call))
    assert live(session) == {"user_turn": 10}


def test_a_helper_call_does_not_stand_for_its_session():
    session = Session()
    session.settle(session.ask([("user_turn", 1)], parent=-1, continues=False))
    session.settle(session.ask([("user_turn", 10)]))
    session.settle(session.ask([("user_turn", 500)], parent=-1, continues=False))
    assert live(session) == {"user_turn": 11}


def test_only_sessions_in_memory_count():
    held: list[State] = []
    session = Session(Figures(price, live=lambda: held))
    session.settle(session.ask([("user_turn", 10)]))
    assert live(session) == {}
    held.append(session.state)
    assert live(session) == {"user_turn": 10}


def test_sessions_that_cannot_be_listed_are_no_figures():
    session = Session(Figures(price, live=lambda: 1 // 0))  # type: ignore[arg-type,return-value]
    session.settle(session.ask([("user_turn", 10)]))
    assert live(session) == {}
