"""Recalls whose round the provider refused: the journal takes them back, and everything rebuilds all the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.journal import Insertion, Settlement
from ctxgc.core.state import State
from ctxgc.lab.carried import carried
from ctxgc.session import Kit, Prepared, Session
from ctxgc.session.recalling import UNFIT, Refused
from tests.session import checks
from tests.session.recalls import again, ask, asking, entries, recalling
from tests.session.scripts import (
    Script,
    agent,
    body,
    exchange,
    fresh,
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


def refuse(session: Session, prepared: Prepared, asked_in: bytes, *handles: str, once_more: bool) -> None:
    """The provider refused a round that carried the answers to the recalls in the reply to ``asked_in``."""
    found = asking(session.kit, *handles)
    refused = Refused(found.message, found.uses, found.alone, asked_in, once_more)
    session.tracks.clear()
    session.settle(Settlement(at=1.0, call=prepared.call, outcome="error", status=400), b"", refused)


def handles_of(session: Session) -> list[str]:
    session.admit()
    return list(session.state.by_handle)[-1:]


def play(script: Script, used: Kit, refusals: list[int]) -> Session:
    """Run a script in which the model recalls wherever it can, and so many forms of the round are refused."""
    session = fresh(used)
    for number, text in enumerate(script):
        if text is None:
            session.flush()
            session = restored(used) if session.state.opened else fresh(used)
            continue
        prepared = session.prepare(text)
        handles = handles_of(session)
        if not (handles and prepared.answered):
            settle(session, prepared)
            continue
        ask(session, prepared, *handles)
        rounds = [prepared, again(session, text)]
        for refusal in range(refusals[number % len(refusals)]):
            refuse(session, rounds[-1], rounds[-2].call, *handles, once_more=refusal == 0)
            rounds += [again(session, text)] if refusal == 0 else []
        if refusals[number % len(refusals)] < 2:
            settle(session, rounds[-1])
    session.flush()
    return session


@given(scripts(own=True), st.lists(st.integers(0, 2), min_size=1, max_size=5))
@settings(max_examples=60)
def test_a_session_with_refused_recalls_holds_together(script: Script, refusals: list[int]) -> None:
    with memory() as store:
        used = recalling(store)
        session = play(script, used, refusals)
        checks.rebuilds(session, used)
        checks.originals(session, used)
        checks.attribution(session.state)
        found = carried(entries(used, session))
        assert sum(found.sent_turns) == sum(request.total_sent for request in found.requests)
        for request in found.requests:
            assert 0 <= request.fresh_sent <= request.total_sent
            assert 0 <= request.prefix_sent <= request.total_sent


def refused_twice(used: Kit) -> tuple[Session, list[Prepared]]:
    session = fresh(used)
    rounds = [session.prepare(body(OPENING))]
    handles = handles_of(session)
    ask(session, rounds[0], *handles)
    rounds.append(again(session, body(OPENING)))
    refuse(session, rounds[1], rounds[0].call, *handles, once_more=True)
    rounds.append(again(session, body(OPENING)))
    refuse(session, rounds[2], rounds[1].call, *handles, once_more=False)
    return session, rounds


def test_a_line_takes_the_place_of_the_content_and_then_nothing_does() -> None:
    with memory() as store:
        used = recalling(store)
        session, rounds = refused_twice(used)
        first, second, third = (values(prepared.body) for prepared in rounds)
        assert second[5]["content"].startswith("recalled from")
        assert (third[:5], third[5]["content"]) == (second[:5], UNFIT)
        assert again(session, body(OPENING)).body == rounds[0].body
        assert values(send(session, body([*OPENING, agent("so"), user("and?")])).body)[:4] == first
        assert [entry.void for entry in entries(used, session) if isinstance(entry, Insertion)] == [0, 1, 0, 1]
        checks.originals(session, used)


def test_the_check_finds_a_state_that_keeps_what_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "_withdraw", lambda self, entry: None)
    with memory() as store:
        _, rounds = refused_twice(recalling(store))
        assert len(values(rounds[2].body)) > len(values(rounds[1].body))


def test_histories_that_went_on_meanwhile_rebuild_before_and_after() -> None:
    """Another request of the history left with it, and was followed by one, before the round was refused."""
    with memory() as store:
        used = recalling(store)
        session = fresh(used)
        first = session.prepare(body(OPENING))
        handles = handles_of(session)
        ask(session, first, *handles)
        round_ = again(session, body(OPENING))
        longer = [*OPENING, agent("one"), user("and?")]
        carrying = values(send(session, body(longer)).body)
        refuse(session, round_, first.call, *handles, once_more=False)
        after = values(send(session, body([*longer, agent("two"), user("so?")])).body)
        assert (len(carrying), len(after)) == (8, 8)
        session.flush()
        checks.rebuilds(session, used)
        checks.originals(session, used)
        checks.attribution(session.state)


def test_what_is_new_counts_as_new_behind_what_was_taken_back() -> None:
    with memory() as store:
        used = recalling(store)
        session, _ = refused_twice(used)
        first, second, third = carried(entries(used, session)).requests
        assert second.fresh_sent == second.total_sent - first.total_sent > 0
        assert third.fresh_sent == third.total_sent - first.total_sent > 0
