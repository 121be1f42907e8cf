"""Figures of collections: why they were made, what they were predicted to cost, what was billed, and what is left."""

from __future__ import annotations

import pytest
from msgspec import structs

from ctxgc.core.journal import Allocation, Pace, Usage
from ctxgc.core.state import fold
from ctxgc.lab.gc_log import gc_log
from ctxgc.store import open_store
from ctxgc.telemetry import Figures
from ctxgc.telemetry.labels import COLLECTED_BY, TRIGGERS
from tests.lab.collected import LEAST, bodies, collecting, collecting_kit, entries, run

from .helpers import PRICE, Session, count, new_figures, price

COLLECTIONS = "ctxgc_collections_total"
COST = "ctxgc_collection_cost_tokens_total"
FORECAST = "ctxgc_collection_forecast_tokens_total"
INPUT = "ctxgc_input_cost_usd_total"
USD = "ctxgc_cost_usd_total"


def pace(trigger: str = "", *, live: int = 0, paid: float = 0.0, untouched: float = 0.0) -> Pace:
    usd = PRICE.cache_write
    return Pace(trigger=trigger, live=live, read=PRICE.cached_read, write=usd, paid=paid, untouched=untouched)


def grown(trigger: str = "rent") -> tuple[Session, bytes]:
    """A session whose second request rewrites 300 of the 2,000 tokens before its own 500; 1,000 of 2,900 went."""
    session = Session()
    session.settle(session.ask([("user_turn", 1400)], [("tool_result:bash", 1000)], [("agent_reply", 500)]))
    call = session.ask([("user_turn", 500)], pace=pace(trigger, live=300))
    session.collect(call, (1, 100), generation="minor")
    return session, call


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_collection_of_what_was_sent_counts_under_its_trigger_and_generation(trigger: str) -> None:
    session, _ = grown(trigger)
    assert session.count(COLLECTIONS, trigger=trigger, generation="minor", outcome="collected") == 1
    assert session.count(COLLECTIONS, outcome="collected") == 1


def test_what_was_never_sent_counts_as_eden() -> None:
    session = Session()
    call = session.ask([("tool_result:bash", 100)], pace=pace("rent", live=5))
    session.collect(call, (0, 10))
    assert session.count(COLLECTIONS, trigger="eden", generation="eden") == 1
    assert session.count(COLLECTIONS, trigger="rent") == 0


@pytest.mark.parametrize(("generation", "trigger"), [("oldest", "rent"), ("major", "whim"), ("", "")])
def test_no_journal_makes_other_labels_than_the_known_ones(generation: str, trigger: str) -> None:
    session = Session()
    call = session.ask([("tool_result:bash", 100)], pace=pace(trigger))
    session.collect(call, (0, 10), generation=generation)
    assert set(session.figures.board().counters[COLLECTIONS].values) == set(COLLECTED_BY)


def test_what_is_rewritten_and_what_is_saved_count_when_the_request_ends() -> None:
    session, call = grown()
    assert session.count(COST) == 0
    session.settle(call)
    assert session.count(COST, kind="rewritten") == 300
    assert session.count(COST, kind="saved") == 900
    session.settle(session.ask([("user_turn", 1)], pace=pace()))
    assert session.count(COST, kind="rewritten") == 300
    assert session.count(COST, kind="saved") == 1800  # not sent once more


def test_what_was_predicted_stands_beside_what_was_billed() -> None:
    session, call = grown()
    session.settle(call, Usage(uncached=700, cached=1650, written=150))
    assert session.count(FORECAST, kind="read", by="predicted") == 2000 - 300
    assert session.count(FORECAST, kind="written", by="predicted") == 300 + 500
    assert session.count(FORECAST, kind="read", by="billed") == 1650
    assert session.count(FORECAST, kind="written", by="billed") == 850


def test_control_requests_without_a_collection_or_without_a_bill_are_not_compared() -> None:
    session, call = grown(trigger="")
    session.settle(call, Usage(uncached=700, cached=1650))
    other, call = grown()
    other.settle(call)
    assert session.count(FORECAST) == other.count(FORECAST) == 0


def test_both_bills_rise_with_each_request() -> None:
    session = Session()
    session.ask([("user_turn", 1)], pace=pace(paid=0.5, untouched=0.5))
    session.ask([("user_turn", 1)], pace=pace(paid=0.7, untouched=1.0))
    assert session.count(INPUT, kind="paid") == pytest.approx(0.7)
    assert session.count(INPUT, kind="untouched") == pytest.approx(1.0)


def test_collecting_may_have_cost_more_than_it_brought_and_no_counter_falls_for_it() -> None:
    session = Session()
    session.ask([("user_turn", 1)], pace=pace(paid=0.5, untouched=0.5))
    session.ask([("user_turn", 1)], pace=pace("rent", paid=1.5, untouched=0.6))
    assert session.count(INPUT, kind="untouched") - session.count(INPUT, kind="paid") == pytest.approx(-0.9)


def test_what_rewriting_cost_is_a_penalty_in_dollars_where_the_model_has_a_price() -> None:
    dear = Pace(trigger="rent", live=300, price=0.25, write=PRICE.cache_write)
    for model, write, penalty in (("gpt-x", dear.write, 0.25), ("gpt-x", 1.25, 0), ("unheard-of", dear.write, 0)):
        session = Session()
        session.settle(session.ask([("user_turn", 1)], model=model, pace=structs.replace(dear, write=write)))
        session.settle(session.ask([("user_turn", 1)], model=model, pace=structs.replace(dear, trigger="")))
        assert session.count(USD, kind="cache_penalty") == penalty


def test_a_collection_that_cost_nothing_more_is_no_penalty() -> None:
    session = Session()
    session.settle(session.ask([("user_turn", 1)], pace=Pace(trigger="cold", price=-0.25, write=PRICE.cache_write)))
    assert session.count(USD) == 0


def test_relative_prices_are_not_counted_as_dollars() -> None:
    session = Session()
    session.ask([("user_turn", 1)], pace=Pace(write=1.25, paid=100.0, untouched=200.0))
    session.ask([("user_turn", 1)], pace=pace(paid=100.5, untouched=200.5), model="unheard-of")
    assert session.count(INPUT) == 0


def test_of_a_restored_session_that_is_met_before_it_goes_on_every_request_is_counted() -> None:
    session = Session()
    session.ask([("user_turn", 1)], pace=pace(paid=0.5, untouched=0.6))
    session.figures = new_figures()  # which never saw what was before
    session.figures.request_started(state=session.state)
    session.ask([("user_turn", 1)], pace=pace(paid=0.7, untouched=1.0))
    assert session.count(INPUT, kind="paid") == pytest.approx(0.2)
    assert session.count(INPUT, kind="untouched") == pytest.approx(0.4)


def test_a_restored_session_starts_from_where_it_stands() -> None:
    figures = new_figures()
    session = Session(figures)
    session.ask([("user_turn", 1)], pace=pace(paid=0.5, untouched=0.6))
    again = Session(figures)
    again.state = fold(())
    again.state.calls = 1  # restored: what came before was counted by another process
    again.ask([("user_turn", 1)], pace=pace(paid=0.9, untouched=1.0))
    assert session.count(INPUT, kind="paid") == pytest.approx(0.5)
    again.ask([("user_turn", 1)], pace=pace(paid=1.0, untouched=1.2))
    assert session.count(INPUT, kind="paid") == pytest.approx(0.6)


def test_the_figures_are_those_of_the_log_of_the_same_session() -> None:
    figures = Figures(price)
    store = open_store("sqlite://")
    try:
        run(collecting_kit(store, observe=figures.observe), bodies(16))
        log = entries(store)
    finally:
        store.close()
    found = gc_log(log, price, lambda _: LEAST)
    assert count(figures, COST, kind="rewritten") == found.rewritten > 0
    assert count(figures, COST, kind="saved") == found.saved > 0
    assert count(figures, COLLECTIONS, trigger="rent") == len(collecting(log)) == 1
    (made,) = [one for one in found.made if one.predicted and one.billed]
    assert made.predicted is not None
    assert count(figures, FORECAST, kind="written", by="predicted") == made.predicted.written
    assert sum(isinstance(entry, Allocation) for entry in log) == found.requests
