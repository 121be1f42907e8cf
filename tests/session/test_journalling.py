"""A session's way to the store: order, second attempts, what is said of them, and what can never be stored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.core.journal import AnyEntry, Gap, Recall, Settlement, decode
from ctxgc.session import journalling
from ctxgc.session.journalling import Broken, Journal, Overdue
from ctxgc.store import Node, StoreBusy, StoreError, StoreRefused
from tests.session.faults import FaultyStore
from tests.session.scripts import KEY, memory


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    with memory() as real:
        yield FaultyStore(real)


@pytest.fixture
def journal(store: FaultyStore) -> Journal:
    return Journal(store, KEY, lambda: 5.0)


def entry(number: int) -> Settlement:
    return Settlement(at=float(number), call=b"%d" % number, outcome="ok", status=200)


def write(journal: Journal, *numbers: int):
    return journal.write(*(journal.record(entry(number)) for number in numbers), call=b"%d" % numbers[0])


def stored(store: FaultyStore) -> list[AnyEntry]:
    return [decode(one.body) for one in store.entries(KEY)]


def refused(journal: Journal) -> Recall:
    """Write what the store refuses: a node that no blob belongs to."""
    node = Node(0, -1, bytes(32), bytes(32), bytes(32))
    return journal.write(journal.record(entry(0), nodes=[node]), call=b"0")


def test_entries_are_stored_in_order(store, journal) -> None:
    for number in range(50):
        write(journal, number)
    journal.flush()
    assert stored(store) == [entry(number) for number in range(50)]
    assert not journal.waiting


def test_entries_written_together_are_stored_together(store, journal) -> None:
    write(journal, 1, 2).result()
    assert store.appends == [("settlement", "settlement")]


def test_one_batch_is_under_way_at_a_time(store, journal) -> None:
    store.held = []
    for number in range(4):
        write(journal, number)
    assert store.appends == [("settlement",)]
    store.release()
    assert store.appends == [("settlement",), ("settlement",) * 3]
    store.release()
    assert stored(store) == [entry(number) for number in range(4)]


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("error", [StoreBusy("later"), OSError("no such disk")])
def test_what_could_not_be_stored_is_stored_later_and_the_journal_says_so(store, journal, raises, error) -> None:
    store.error, store.raises = error, raises
    late = [write(journal, number) for number in range(3)]
    store.error = None
    assert [future.exception() for future in late] == [error] * 3
    write(journal, 3).result()
    gap = Gap(at=5.0, calls=3, since=5.0, reason=f"stored late: {type(error).__name__}")
    assert stored(store) == [*(entry(number) for number in range(4)), gap]
    assert not journal.broken


def test_a_call_that_is_late_twice_is_one_call(store, journal) -> None:
    store.error = StoreBusy("later")
    write(journal, 1)
    write(journal, 1)
    store.error = None
    write(journal, 2).result()
    assert stored(store)[-1].calls == 1


def test_a_gap_is_told_once(store, journal) -> None:
    store.error = StoreBusy("later")
    write(journal, 1)
    store.error = None
    write(journal, 2).result()
    write(journal, 3).result()
    assert [type(one) for one in stored(store)].count(Gap) == 1


def test_flush_tries_once_more(store, journal) -> None:
    store.error = StoreBusy("later")
    write(journal, 1)
    store.error = None
    journal.flush()
    assert stored(store)[0] == entry(1)


def test_flush_raises_what_the_store_says(store, journal) -> None:
    store.error = StoreBusy("later")
    write(journal, 1)
    with pytest.raises(StoreBusy):
        journal.flush()
    assert journal.waiting


def test_a_refused_record_breaks_the_journal(store, journal) -> None:
    with pytest.raises(StoreRefused):
        refused(journal).result()
    assert journal.broken
    assert not journal.waiting
    with pytest.raises(Broken):
        journal.flush()


def test_nothing_follows_what_was_lost(store, journal) -> None:
    write(journal, 1).result()
    refused(journal).exception()
    with pytest.raises(Broken):
        write(journal, 2).result()
    assert stored(store) == [entry(1)]


def test_what_waits_behind_a_refused_record_is_not_left_waiting(store, journal) -> None:
    store.held, store.error = [], StoreRefused("no")
    futures = [write(journal, number) for number in range(3)]
    store.release()
    assert [type(future.exception(timeout=0)) for future in futures] == [StoreRefused] * 3


def test_a_store_that_takes_nothing_does_not_fill_the_memory(store, journal, monkeypatch) -> None:
    monkeypatch.setattr(journalling, "LIMIT", 500)
    store.held = []
    results = [write(journal, number) for number in range(20)]
    failed = [future.exception() for future in results if future.done()]
    assert isinstance(failed[0], Overdue)
    assert all(isinstance(error, StoreError) for error in failed)
    assert journal.broken
    while store.held:
        store.release()
    assert stored(store) == [entry(number) for number in range(20 - len(failed))]


def test_control_a_journal_out_of_order_is_noticed(store, journal) -> None:
    write(journal, 2).result()
    write(journal, 1).result()
    assert stored(store) != [entry(1), entry(2)]


def test_control_an_entry_that_is_lost_is_noticed(store, journal) -> None:
    store.error = StoreBusy("later")
    write(journal, 1)
    journal._waiting.clear()
    store.error = None
    write(journal, 2).result()
    assert entry(1) not in stored(store)
