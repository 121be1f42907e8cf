"""What the model recalled is a part of its history: in every later request, after a restart, and in the figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.journal import Allocation, Insertion, Recall
from ctxgc.core.own import Own
from ctxgc.core.state import State
from ctxgc.lab.carried import carried
from ctxgc.session import Kit, Session
from ctxgc.store import StoreBusy
from tests.session import checks
from tests.session.recalls import again, ask, entries, recalling
from tests.session.scripts import (
    LONG,
    Known,
    Script,
    agent,
    body,
    exchange,
    fresh,
    history,
    memory,
    restored,
    scripts,
    send,
    settle,
    system,
    user,
    values,
)

OPENING = [system(), user(), *exchange(1)]


def play(script: Script, used: Kit, recalls: list[bool]) -> tuple[Session, list[tuple[bytes, bytes]]]:
    """Run a script; where ``recalls`` says so, the model recalls the newest handle in its reply, and gets a round."""
    session, sent = fresh(used), []
    for number, text in enumerate(script):
        if text is None:
            session.flush()
            session = restored(used) if session.state.opened else fresh(used)
            continue
        prepared = session.prepare(text)
        sent.append((text, prepared.body))
        session.admit()
        handles = list(session.state.by_handle)[-1:]
        if not (handles and prepared.answered and recalls[number % len(recalls)]):
            settle(session, prepared)
            continue
        ask(session, prepared, *handles)
        further = again(session, text)
        assert further.bypass == ""
        assert further.body != prepared.body
        sent.append((text, further.body))
        settle(session, further)
    session.flush()
    return session, sent


RECALLS = st.lists(st.booleans(), min_size=1, max_size=5)


@given(scripts(own=True), RECALLS)
@settings(max_examples=60)
def test_a_session_with_recalls_holds_together(script: Script, recalls: list[bool]) -> None:
    with memory() as store:
        used = recalling(store)
        session, _ = play(script, used, recalls)
        checks.rebuilds(session, used)
        checks.originals(session, used)
        checks.attribution(session.state)
        figures(used, session)


def figures(used: Kit, session: Session) -> None:
    """What cells were sent for sums to what requests sent, and so do what came and what is sent for the first time."""
    found = carried(entries(used, session))
    assert sum(found.sent_turns) == sum(request.total_sent for request in found.requests)
    cells = found.state.cells
    assert sum(cell.tokens * times for cell, times in zip(cells, found.times, strict=True)) == sum(
        request.total for request in found.requests
    )
    for request in found.requests:
        assert 0 <= request.prefix_sent <= request.total_sent
        assert 0 <= request.fresh_sent <= request.total_sent
    assert found.resident() <= set(range(len(cells)))


@given(scripts(), RECALLS)
@settings(max_examples=40)
def test_a_restart_anywhere_changes_no_byte(script: Script, recalls: list[bool]) -> None:
    live = list(filter(None, script))
    forgetful = [step for text in live for step in (text, None)]
    with memory() as one, memory() as other:
        _, first = play(live, recalling(Known(one)), recalls)
        _, second = play(forgetful, recalling(Known(other)), [each for each in recalls for _ in "12"])
        assert [left for _, left in first] == [left for _, left in second]


@given(scripts(), RECALLS)
@settings(max_examples=40)
def test_what_was_sent_stays_a_prefix(script: Script, recalls: list[bool]) -> None:
    """Of two requests one of which came as a beginning of the other, it left as one too, if it left first."""
    with memory() as store:
        _, sent = play(script, recalling(store), recalls)
        for at, (came, left) in enumerate(sent):
            for later, after in sent[at + 1 : at + 4]:
                if history(later)[: len(history(came))] == history(came):
                    assert history(after)[: len(history(left))] == history(left)


@given(scripts(), RECALLS, st.integers(0, 6))
@settings(max_examples=30)
def test_going_plain_takes_the_tool_and_the_recalls_back(script: Script, recalls: list[bool], at: int) -> None:
    with memory() as store:
        used = recalling(store)
        session, _ = play(script, used, recalls)
        session.go_plain(bytes(16), "refused")
        for text in filter(None, script[: at + 1]):
            assert send(session, text).body == text
        session.flush()
        checks.rebuilds(session, used)
        checks.originals(session, used)
        checks.attribution(session.state)
        figures(used, session)


def test_the_answer_stands_behind_the_request_that_it_was_asked_in():
    with memory() as store:
        used = recalling(store)
        session = fresh(used)
        prepared = session.prepare(body(OPENING))
        (handle,) = _handles(session)
        ask(session, prepared, handle)
        settle(session, again(session, body(OPENING)))
        sent = values(send(session, body([*OPENING, agent("so"), user("and?")])).body)
        assert [message["role"] for message in sent[4:]] == ["assistant", "tool", "assistant", "user"]
        assert sent[5]["content"].endswith(LONG)
        assert [type(entry) for entry in entries(used, session)].count(Insertion) == 1


def _handles(session: Session) -> tuple[str, ...]:
    session.admit()
    return tuple(session.state.by_handle)


def branched(used: Kit) -> tuple[list[Any], list[Any]]:
    """What is sent for a branch before and after a recall was inserted where it leaves."""
    session = fresh(used)
    branch = body([*OPENING, agent("one"), user("and?")])
    send(session, body(OPENING))
    before = values(send(session, branch).body)
    ask(session, session.prepare(body(OPENING)), *_handles(session))
    return before, values(send(session, branch).body)


def test_what_was_sent_without_it_goes_on_without_it():
    with memory() as store:
        before, after = branched(recalling(store))
        assert before == after


def test_the_check_finds_an_insertion_in_what_was_sent(monkeypatch):
    monkeypatch.setattr(Own, "behind", lambda self, node, child=-1: self.inserted.get(node, ()))
    with memory() as store:
        before, after = branched(recalling(store))
        assert before != after


def test_limited_recalls_look_nothing_up():
    with memory() as store:
        session = fresh(recalling(store))
        prepared = session.prepare(body(OPENING))
        ask(session, prepared, *_handles(session), limited=True)
        assert session.state.resurrected == {}
        assert len(session.state.own.inserted) == 1
        assert not any(isinstance(entry, Recall) for entry in entries(session.kit, session))


def test_a_store_that_cannot_be_read_is_no_error():
    with memory() as store:
        session = fresh(recalling(Unreadable(store)))
        prepared = session.prepare(body(OPENING))
        ask(session, prepared, *_handles(session))
        (inserted,) = session.state.own.inserted[len(session.state.nodes) - 1]
        assert b"cannot be read now" in inserted.messages[1]


class Unreadable(Known):
    """A store that takes everything and gives no content."""

    def blob(self, digest: bytes) -> bytes:
        raise StoreBusy("later")


def test_calls_of_a_session_that_went_plain_are_not_answered():
    with memory() as store:
        session = fresh(recalling(store))
        prepared = session.prepare(body(OPENING))
        session.admit()
        session.go_plain(prepared.call, "refused")
        assert not session.answerable(prepared.call)
        ask(session, prepared, *session.state.by_handle)
        assert session.state.own.inserted == {}


def test_the_estimate_counts_the_tool_and_what_was_recalled():
    with memory() as store, memory() as other_store:
        used = recalling(Known(store))
        session, plain = fresh(used), fresh(replace(used, recall=False, store=Known(other_store)))
        prepared, other = session.prepare(body(OPENING)), plain.prepare(body(OPENING))
        with_tool = session.estimated(prepared.call)
        tool = session.state.cells[session.state.own.offers[0].cell].sent
        assert tool > 50
        assert with_tool == plain.estimated(other.call) + tool
        ask(session, prepared, *_handles(session))
        assert session.estimated(again(session, body(OPENING)).call) > with_tool + 100


def test_an_insertion_behind_no_node_is_refused():
    with pytest.raises(ValueError, match="never journalled"):
        State().apply(Insertion(at=1.0, call=b"", head=0, messages=(), cells=()))


def test_rounds_were_received_from_nobody():
    with memory() as store:
        used = recalling(store)
        session = fresh(used)
        prepared = session.prepare(body(OPENING))
        ask(session, prepared, *_handles(session))
        settle(session, again(session, body(OPENING)))
        first, second = carried(entries(used, session)).requests
        assert (first.total > 0, second.total) == (True, 0)
        assert second.sent["recall"] == second.fresh_sent > 0
        assert second.prefix_sent == first.total_sent
        assert [entry.again for entry in entries(used, session) if isinstance(entry, Allocation)] == [False, True]
