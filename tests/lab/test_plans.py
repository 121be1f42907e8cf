"""The plan that is shown is the plan that was applied: made again for every request, it comes to the same edits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.core.journal import Collection
from ctxgc.core.pacer import Pacer
from ctxgc.lab.moments import moment
from ctxgc.lab.plans import rebuild
from ctxgc.policies import from_config, preset
from ctxgc.session import Session
from ctxgc.store import Store, open_store
from tests.lab.collected import KEY, SOON, bodies, collecting_kit, entries, run, turn
from tests.session.scripts import Dict, agent, body, restored, send, system, user

REQUESTS = 22


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    run(collecting_kit(opened), bodies(REQUESTS))
    yield opened
    opened.close()


def collected(log: list) -> list[int]:
    """The requests with which residents went."""
    found = (moment(log, number) for number in range(1, moment(log, -1).requests + 1))
    return [
        one.number
        for one in found
        if any(isinstance(entry, Collection) and entry.generation != "eden" for entry in one.own)
    ]


def test_every_plan_comes_to_the_edits_and_the_figures_that_were_applied(store: Store) -> None:
    log = entries(store)
    assert len(collected(log)) == 2
    for number in range(1, REQUESTS + 1):
        at = moment(log, number)
        again, pace = rebuild(at, collecting_kit(store), KEY), at.entry.pace
        assert again.agrees, number
        assert pace is not None
        made = (again.decision.trigger, again.decision.dead, again.decision.live, len(again.offers))
        assert made == (pace.trigger, pace.dead, pace.live, pace.candidates)


@pytest.mark.parametrize(
    "changes",
    [
        {"policies": preset("eden")},
        {"policies": from_config("generational@generational.old_keep=0.3")},
        {"pacer": Pacer(regret=0.0)},
    ],
)
def test_control_with_other_policies_or_patience_the_plan_is_another_and_says_so(
    store: Store, changes: dict[str, object]
) -> None:
    log = entries(store)
    again = [rebuild(moment(log, number), collecting_kit(store, **changes), KEY) for number in collected(log)]
    assert not any(one.agrees for one in again)


def test_the_offers_are_those_that_went_and_those_that_wait(store: Store) -> None:
    log = entries(store)
    (number, *_) = collected(log)
    before, then = (rebuild(moment(log, at), collecting_kit(store), KEY) for at in (number - 1, number))
    assert before.offers
    assert not any(offer.taken for offer in before.offers)
    assert sum(offer.taken for offer in then.offers) == then.decision.taken
    for offer in before.offers:
        assert offer.figures is not None
        assert offer.figures.rent < SOON.patience * offer.figures.price or offer.figures.price > 0


def test_the_state_is_that_of_the_request_as_it_left(store: Store) -> None:
    log = entries(store)
    (number, *_) = collected(log)
    at = moment(log, number)
    again = rebuild(at, collecting_kit(store), KEY)
    edits = [edit for entry in at.own if isinstance(entry, Collection) for edit in entry.edits]
    assert all(again.state.edits[edit.cell] == edit for edit in edits)


def winding() -> list[bytes | None]:
    """Retries, helper calls, a branch from the middle, and a restart, among enough turns for something to go."""
    messages: list[Dict] = [system(), user("find the bug")]
    script: list[bytes | None] = [body(messages)]
    for number in range(1, 20):
        messages = [*messages, *turn(number)]
        script.append(body(messages))
        if number == 6:
            script += [body([system("name this"), user("a title")]), script[-1]]
        if number == 10:
            script.append(body([*messages[:-4], agent("otherwise"), user("start anew")]))
        if number == 16:
            script.append(None)
    return script


def test_also_where_a_session_branches_is_retried_and_restarts() -> None:
    with_store = open_store("sqlite://")
    try:
        used = collecting_kit(with_store)
        session = Session(KEY, b"s" * 32, "test", used)
        for text in winding():
            if text is None:
                session.flush()
                session = restored(used, KEY)
            else:
                send(session, text)
        session.flush()
        log = entries(with_store)
        assert collected(log)
        for number in range(1, moment(log, -1).requests + 1):
            assert rebuild(moment(log, number), collecting_kit(with_store), KEY).agrees, number
    finally:
        with_store.close()
