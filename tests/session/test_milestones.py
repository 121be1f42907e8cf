"""Milestones: the host says that something is done, the period closes, and what led there may be compacted."""

from __future__ import annotations

from typing import Any

import pytest

from ctxgc.core.compaction import Milestone
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.errors import LedgerError
from ctxgc.ledger import quotes
from ctxgc.session.errands import Closing
from ctxgc.session.watching import Watch
from tests.session.compacted import Long, books, long, post
from tests.session.growing import FREE
from tests.session.scripts import agent, body, memory, send, system, user

AMPLE = 1_000_000
"""A budget that is never reached."""


def milestones(talk: Long) -> list[Milestone]:
    return [entry for entry in talk.entries() if isinstance(entry, Milestone)]


def relaxed(store: Any, **changes: Any) -> Long:
    """A conversation that has all the room it wants."""
    return long(store, **{"quality": AMPLE, **changes})


def test_what_led_to_a_milestone_is_compacted_as_soon_as_that_costs_nothing() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(20)
        end = len(talk.messages)
        assert talk.session.milestone("rows read") is None, "without a ledger there is no period"
        assert [one.name for one in milestones(talk)] == ["rows read"]
        talk.one()
        (made,) = talk.compactions
        assert made.trigger == "milestone"
        assert talk.gone[-1] < end
        assert talk.broken == []
        talk.check()


def test_with_a_warm_cache_it_waits_until_the_rent_has_come_to_the_price() -> None:
    with memory() as store:
        talk = relaxed(store, tariff=lambda _: Tariff(least=0), pacer=Pacer(regret=0.5))
        talk.rows(20)
        talk.session.milestone("rows read")
        talk.one()
        assert talk.compactions == []
        talk.rows(10)
        made = talk.compactions
        assert made
        assert made[0].trigger == "milestone"
        talk.check()


def test_without_a_milestone_nothing_is_compacted_while_there_is_room() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(40)
        assert talk.compactions == []


def test_what_comes_behind_it_stays() -> None:
    with memory() as store:
        now = [0.0]
        talk = relaxed(store, tariff=lambda _: Tariff(least=0, ttl=10.0), clock=lambda: now[0])
        talk.rows(14)
        talk.session.milestone("first part")
        end = len(talk.messages)
        talk.rows(14)
        assert talk.compactions == []
        now[0] += 60.0
        talk.one()
        assert talk.compactions, "the cache is cold"
        assert talk.gone[-1] == end - 1
        assert talk.broken == []


def test_a_milestone_is_compacted_once() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(20)
        talk.session.milestone("rows read")
        talk.rows(20)
        assert len(talk.compactions) == 1
        talk.session.milestone("more rows read")
        talk.rows(2)
        assert [made.trigger for made in talk.compactions] == ["milestone", "milestone"]
        assert talk.broken == []


def test_a_milestone_of_another_branch_is_none_of_this_one() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(20)
        talk.session.milestone("rows read")
        talk.branch(20, agent("no"), user("otherwise"))
        talk.rows(3)
        assert talk.compactions == []


def test_a_restart_between_the_milestone_and_the_next_request_changes_nothing() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(20)
        talk.session.milestone("rows read")
        talk.restart()
        talk.one()
        assert [made.trigger for made in talk.compactions] == ["milestone"]


def test_a_helper_call_before_it_takes_no_milestone_away() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.rows(20)
        send(talk.session, body([system("name this conversation"), user("it is about rows")]))
        talk.session.milestone("rows read")
        talk.one()
        assert [made.trigger for made in talk.compactions] == ["milestone"]


# With a ledger


def test_a_milestone_closes_the_period() -> None:
    with memory() as store:
        ledger = books(store)
        talk = relaxed(store, ledger=lambda _key: ledger)
        post(ledger, "the port is 5433")
        talk.rows(20)
        period = talk.session.milestone("rows read")
        assert period is not None
        assert (period.milestone, period.balance) == ("rows read", ("F1",))
        talk.one()
        assert talk.compactions
        assert talk.session.errands() == [], "it is closed already"
        assert "the port is 5433" in talk.record


def test_a_close_that_is_refused_books_no_milestone() -> None:
    with memory() as store:
        ledger = books(store)
        talk = relaxed(store, ledger=lambda _key: ledger)
        fact = post(ledger, "the port is 5433", criticality="critical")
        talk.one()

        def refused(_name: str) -> Any:
            raise LedgerError(f"{fact.id} does not agree")

        ledger.close = refused  # type: ignore[method-assign, assignment]
        with pytest.raises(LedgerError, match="F1"):
            talk.session.milestone("rows read")
        assert milestones(talk) == []


def test_as_an_errand_it_closes_and_is_booked_when_it_is_run() -> None:
    with memory() as store:
        ledger = books(store)
        talk = relaxed(store, ledger=lambda _key: ledger)
        talk.rows(20)
        closing = talk.session.closing("rows read")
        assert milestones(talk) == []
        talk.session.ran(closing.run())
        assert [one.name for one in milestones(talk)] == ["rows read"]
        assert [one.milestone for one in ledger.books.periods] == ["rows read"]
        talk.one()
        assert talk.compactions


def test_a_result_that_a_verifier_passes_is_a_milestone() -> None:
    with memory() as store:
        ledger = books(store)
        watch = Watch("tests pass", "run_tests(*", quotes("39 passed"))
        talk = relaxed(store, ledger=lambda _key: ledger, milestones=(watch,))
        talk.say("38 passed, 1 failed", tool="run_tests")
        assert talk.session.errands() == []
        talk.say("39 passed", tool="read_log")
        assert talk.session.errands() == [], "another tool's words are not the host's word"
        talk.say("39 passed", tool="run_tests")
        (closing,) = talk.session.errands()
        assert closing == Closing(ledger, "tests pass")
        talk.session.ran(closing.run())
        assert [one.name for one in milestones(talk)] == ["tests pass"]


def test_a_session_that_was_never_used_can_reach_one() -> None:
    with memory() as store:
        talk = relaxed(store)
        talk.session.milestone("\ud800 odd \x00 name")
        assert len(milestones(talk)) == 1
        talk.rows(3)
        talk.check()


def test_control_with_room_and_a_free_cache_only_the_milestone_makes_the_difference() -> None:
    with memory() as store:
        talk = relaxed(store, tariff=lambda _: FREE)
        talk.rows(20)
        talk.one()
        assert talk.compactions == []
