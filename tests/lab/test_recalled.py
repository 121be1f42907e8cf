"""A session in which the model recalls what was collected, as the lab tells it: plans, cells, differences, the log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.lab.carried import carried
from ctxgc.lab.differences import difference
from ctxgc.lab.explained import explained
from ctxgc.lab.gc_log import gc_log
from ctxgc.lab.links import Links
from ctxgc.lab.moments import moment
from ctxgc.lab.plans import rebuild
from ctxgc.session import Kit
from ctxgc.store import Store, open_store
from tests.session.growing import LISTING
from tests.session.recalls import Reading, recalling
from tests.session.scripts import KEY
from tests.session.test_collected_recalls import OTHER, POLICIES, handle

WARM = Tariff(least=0)


def used(store: Store) -> Kit:
    return recalling(store, POLICIES, tariff=lambda _: WARM, pacer=Pacer(patience=0, regret=9))


@pytest.fixture(scope="module")
def told() -> Iterator[Reading]:
    store = open_store("sqlite://")
    story = Reading(used(store))
    story.say(LISTING)
    story.turns(6)
    story.recall(handle(story.sent))
    story.say(OTHER)
    story.turns(8)
    yield story
    store.close()


def log(told: Reading) -> list[AnyEntry]:
    return list(told.entries())


def test_every_plan_comes_to_what_was_applied(told: Reading) -> None:
    entries = log(told)
    assert len(told.collections()) >= 2
    for number in range(1, moment(entries, -1).requests + 1):
        again = rebuild(moment(entries, number), used(told.used.store), KEY)
        pace = moment(entries, number).entry.pace
        assert pace is not None
        assert again.agrees, number
        assert (again.decision.dead, again.decision.live) == (pace.dead, pace.live)


def test_the_cells_of_a_request_are_all_that_it_sent(told: Reading) -> None:
    entries = log(told)
    for request in carried(entries).requests:
        at = moment(entries, request.number)
        lines = explained(at, rebuild(at, used(told.used.store), KEY))
        assert sum(line.sent for line in lines) == request.total_sent
        assert difference(at, told.used.store, told.used.codec).sent == request.total_sent


def test_what_was_recalled_is_told_as_that(told: Reading) -> None:
    entries = log(told)
    at = moment(entries, -1)
    lines = [line for line in explained(at, rebuild(at, used(told.used.store), KEY)) if line.role == "recall"]
    assert [(line.tag, line.verdict, line.why) for line in lines] == [("recall", "kept", "what was recalled stays")] * 2
    assert len({line.arrived for line in lines}) == 1


def test_cells_are_counted_as_the_state_counts_them(told: Reading) -> None:
    entries = log(told)
    links, state = Links(moment(entries, -1)), told.session.state
    arrived = [links.arrived(cell) for cell in range(len(state.cells))]
    assert arrived == sorted(arrived)
    with pytest.raises(IndexError):
        links.arrived(len(state.cells))


def test_the_log_predicts_all_that_was_sent(told: Reading) -> None:
    entries = log(told)
    totals = {request.number: request for request in carried(entries).requests}
    made = [one for one in gc_log(entries, lambda _: None, lambda _: 0).made if one.generation != "eden"]
    assert made
    for one in made:
        assert one.predicted is not None
        assert sum(one.predicted) == totals[one.turn].total_sent
        assert one.predicted.read == totals[one.turn].prefix_sent
