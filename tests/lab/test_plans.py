"""The plan that is shown is the plan that was applied: made again for every request, it comes to the same edits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from ctxgc.core.journal import Collection
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.lab.explained import explained
from ctxgc.lab.moments import moment
from ctxgc.lab.plans import rebuild
from ctxgc.policies import preset
from ctxgc.policies.dedup import Dedup
from ctxgc.session import Session
from ctxgc.store import Store, open_store
from tests.lab.collected import KEY, Idle, bodies, collecting, collecting_kit, entries, run, turn
from tests.session.scripts import KEY as SCRIPTED
from tests.session.scripts import Dict, Script, agent, body, drive, memory, restored, scripts, send, system, user

REQUESTS = 22


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    run(collecting_kit(opened), bodies(REQUESTS))
    yield opened
    opened.close()


def test_every_plan_comes_to_the_edits_and_the_figures_that_were_applied(store: Store) -> None:
    log = entries(store)
    assert len(collecting(log)) >= 2
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
        {"policies": (Dedup(), Idle(keep=0.3))},
        {"pacer": Pacer(patience=50.0)},
    ],
)
def test_control_with_other_policies_or_patience_the_plan_is_another_and_says_so(
    store: Store, changes: dict[str, object]
) -> None:
    log = entries(store)
    again = [rebuild(moment(log, number), collecting_kit(store, **changes), KEY) for number in collecting(log)]
    assert not any(one.agrees for one in again)


def test_the_offers_are_those_that_went_and_those_that_wait(store: Store) -> None:
    log = entries(store)
    (number, *_) = collecting(log)
    before, then = (rebuild(moment(log, at), collecting_kit(store), KEY) for at in (number - 1, number))
    assert before.offers
    assert not any(offer.taken for offer in before.offers)
    assert sum(offer.taken for offer in then.offers) == then.decision.taken
    assert all(offer.figures is not None and offer.load.saved > 0 for offer in before.offers)
    assert [offer.figures.dead for offer in then.offers if offer.figures][then.decision.taken - 1] == then.decision.dead


def test_the_state_is_that_of_the_request_as_it_left(store: Store) -> None:
    log = entries(store)
    (number, *_) = collecting(log)
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
        assert collecting(log)
        for number in range(1, moment(log, -1).requests + 1):
            assert rebuild(moment(log, number), collecting_kit(with_store), KEY).agrees, number
    finally:
        with_store.close()


def at_once() -> dict[str, object]:
    """What makes a kit collect all that it may, however little that is."""
    policies, tariff = (Dedup(min_tokens=16), Idle(idle=1, keep=0.0)), Tariff(least=0)
    return {"policies": policies, "pacer": Pacer(patience=0.0, regret=10.0), "tariff": lambda _model: tariff}


@given(scripts())
@settings(max_examples=25, deadline=None)
def test_whatever_a_client_sends_the_plan_is_made_again_and_every_cell_has_its_verdict(script: Script) -> None:
    with memory() as opened:
        changes = at_once()
        drive(script, collecting_kit(opened, **changes))
        log = entries(opened, SCRIPTED)
        for number in range(1, moment(log, -1).requests + 1):
            at = moment(log, number)
            again = rebuild(at, collecting_kit(opened, **changes), SCRIPTED)
            assert again.agrees, number
            found = explained(at, again)
            tokens = again.state.tokens(at.entry.head, at.entry.toolset, sent=True)
            assert sum(line.sent for line in found) == tokens
