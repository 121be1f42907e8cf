"""The log of collections, on a session whose provider bills by the bytes it got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec import structs

from ctxgc.core.journal import Allocation, AnyEntry, Settlement
from ctxgc.lab.gc_log import GcLog, gc_log
from ctxgc.session import Session
from ctxgc.store import open_store
from tests.lab.collected import LEAST, STEP, bodies, collecting, collecting_kit, entries, run
from tests.telemetry.helpers import PRICE


@pytest.fixture(scope="module")
def recorded() -> Iterator[tuple[Session, list[AnyEntry]]]:
    store = open_store("sqlite://")
    session = run(collecting_kit(store), bodies(22))
    yield session, entries(store)
    store.close()


def read(log: list[AnyEntry]) -> GcLog:
    return gc_log(log, lambda _: None, lambda _: LEAST)


def test_each_collection_says_why_and_what(recorded: tuple[Session, list[AnyEntry]]) -> None:
    log = read(recorded[1])
    residents = [made for made in log.made if made.generation != "eden"]
    assert [made.turn for made in residents] == collecting(recorded[1])
    assert {made.trigger for made in residents} == {"rent"}
    assert [(made.turn, made.trigger) for made in log.made if made.generation == "eden"] == [(6, "")]
    for made in log.made:
        assert made.cells >= 1
        assert made.context_before - made.context_after == made.before - made.after > 0


def test_what_was_predicted_is_what_is_billed_but_for_the_steps_of_the_cache(
    recorded: tuple[Session, list[AnyEntry]],
) -> None:
    residents = [made for made in read(recorded[1]).made if made.generation != "eden"]
    assert residents
    for made in residents:
        assert made.predicted is not None
        assert made.billed is not None
        assert 0 <= made.predicted.read - made.billed.read < STEP
        assert sum(made.predicted) == sum(made.billed) == made.context_after


def test_control_a_cache_that_was_lost_is_seen(recorded: tuple[Session, list[AnyEntry]]) -> None:
    def lost(entry: AnyEntry) -> AnyEntry:
        if not isinstance(entry, Settlement) or entry.usage is None:
            return entry
        return structs.replace(entry, usage=structs.replace(entry.usage, cached=0, uncached=entry.usage.input))

    first = next(made for made in read([lost(entry) for entry in recorded[1]]).made if made.generation != "eden")
    assert first.predicted is not None
    assert first.billed is not None
    assert first.predicted.read - first.billed.read > STEP


def test_without_a_bill_there_is_none(recorded: tuple[Session, list[AnyEntry]]) -> None:
    log = [entry for entry in recorded[1] if not isinstance(entry, Settlement)]
    assert all(made.billed is None for made in read(log).made)


def test_the_sums_are_those_of_the_session(recorded: tuple[Session, list[AnyEntry]]) -> None:
    session, log = recorded
    found, state = read(log), session.state
    assert found.requests == state.calls == 22
    assert (found.paid, found.untouched) == (state.pace.paid, state.pace.untouched)
    assert found.net == found.untouched - found.paid
    heads = [(entry.head, entry.toolset) for entry in log if isinstance(entry, Allocation)]
    came = sum(state.tokens(head, toolset, sent=False) for head, toolset in heads)
    assert 0 < found.saved < came


def test_amounts_are_usd_only_by_list_prices(recorded: tuple[Session, list[AnyEntry]]) -> None:
    assert not read(recorded[1]).usd
    written = next(entry.pace.write for entry in recorded[1] if isinstance(entry, Allocation) and entry.pace)
    price = replace(PRICE, cache_write=written)
    assert gc_log(recorded[1], lambda _: price, lambda _: LEAST).usd


def test_an_empty_journal_has_no_collections() -> None:
    assert read([]) == GcLog(())
