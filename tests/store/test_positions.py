"""Entries that must come at a position: whoever has not read what comes before is refused, and nobody else is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ctxgc.store import Store, StoreConflict, StoreCorrupt, StoreRefused, Stub, open_store
from ctxgc.store.connection import Place
from ctxgc.store.engine import Engine
from ctxgc.store.opening import prepare
from ctxgc.store.sqlite import SqliteStore

from .helpers import OTHER, SESSION, path_of_nodes, record, tamper


@pytest.fixture
def engine(path):
    prepare(Place(path), create=True, now=1)
    engine = Engine(Place(path), lambda: 2)
    yield engine
    engine.close()


@pytest.fixture
def reading(engine, path):
    store = SqliteStore(Place(path, read_only=True))
    yield store
    store.close()


def numbers(store, session=SESSION):
    return [int.from_bytes(entry.idem, "big") for entry in store.entries(session)]


def test_an_entry_gets_the_position_it_names(engine, reading):
    assert engine.write([[record(1, at=0), record(2, at=1)], [record(3)], [record(4, at=3)]]) == [None] * 3
    assert numbers(reading) == [1, 2, 3, 4]


@pytest.mark.parametrize("at", [0, 1, 3, 99, 1 << 80])
def test_a_position_that_is_not_next_is_a_conflict_and_says_which_is(engine, reading, at):
    engine.write([[record(1), record(2)]])
    (refused,) = engine.write([[record(3, at=at)]])
    assert isinstance(refused, StoreConflict)
    assert str(refused) == f"entry {at} comes where 2 is next: read the log again, then append anew"
    assert numbers(reading) == [1, 2]


def test_a_conflict_takes_its_whole_append_with_it_and_no_other(engine, reading):
    nodes = path_of_nodes([b"lost"])
    lost = [record(2, at=1), record(3, OTHER, blobs=(b"lost",), nodes=nodes, stubs=(Stub("a" * 16, 0),), at=7)]
    outcomes = engine.write([[record(1, at=0)], lost, [record(4, at=1)], [record(5, OTHER, at=0)]])
    assert [type(outcome) for outcome in outcomes] == [type(None), StoreConflict, type(None), type(None)]
    assert (numbers(reading), numbers(reading, OTHER)) == ([1, 4], [5])
    assert [row[1] for row in reading.rows().select("blob", 0, 99)] == []
    assert reading.resolve("a" * 16) is None
    assert list(reading.verify()) == []


def test_what_is_stored_already_is_no_conflict(engine, reading):
    engine.write([[record(1, at=0)], [record(2)]])
    tip = reading.tip()
    assert engine.write([[record(1, at=0)], [record(1, at=5)], [record(1)]]) == [None] * 3
    assert reading.tip() == tip


def test_an_idem_of_a_conflict_is_free_for_the_entry_that_is_made_anew(engine, reading):
    engine.write([[record(1)]])
    (refused,) = engine.write([[record(2, at=0, body=b"[1]")]])
    assert isinstance(refused, StoreConflict)
    assert engine.write([[record(2, at=1, body=b"[2]")]]) == [None]
    assert [entry.body for entry in reading.entries(SESSION)][1] == b"[2]"


def test_a_log_that_another_process_has_grown_meanwhile_is_looked_up_again(engine, reading, path):
    other = Engine(Place(path), lambda: 3)
    engine.write([[record(1, at=0)]])
    other.write([[record(2, at=1)]])
    (refused,) = engine.write([[record(3, at=1)]])
    assert isinstance(refused, StoreConflict)
    assert engine.write([[record(3, at=2)]]) == other.write([[record(4, at=3)]]) == [None]
    other.close()
    assert numbers(reading) == [1, 2, 3, 4]


def test_a_conflict_leaves_no_wrong_idea_of_where_a_log_ends(engine, reading):
    engine.write([[record(1)]])
    batch = [[record(2), record(3, at=9)], [record(4, at=1)], [record(5, at=1)], [record(6, at=2)]]
    assert [type(outcome) for outcome in engine.write(batch)] == [
        StoreConflict,
        type(None),
        StoreConflict,
        type(None),
    ]
    assert numbers(reading) == [1, 4, 6]


def counted(store: Store, number: int, *, careful: bool) -> None:
    """Append an entry that says how many came before it; a ``careful`` writer holds the store to that."""
    while True:
        length = len(list(store.entries(SESSION)))
        more = {"at": length} if careful else {}
        try:
            store.append([record(number, body=b"%d" % length, **more)]).result()
        except StoreConflict:
            continue
        return


@pytest.mark.parametrize("writers", [2, 6])
def test_many_writers_with_positions_build_on_one_another(url, writers):
    stores = [open_store(url) for _ in range(writers)]
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(lambda number: counted(stores[number % writers], number, careful=True), range(30)))
    assert [entry.body for entry in stores[0].entries(SESSION)] == [b"%d" % number for number in range(30)]
    for store in stores:
        store.close()


def test_without_positions_two_writers_take_the_same_place(url):
    one, other = open_store(url), open_store(url)
    lengths = [len(list(store.entries(SESSION))) for store in (one, other)]
    for number, (store, length) in enumerate(zip((one, other), lengths, strict=True)):
        store.append([record(number, body=b"%d" % length)]).result()
    assert [entry.body for entry in one.entries(SESSION)] == [b"0", b"0"]
    one.close()
    other.close()


# Reading on


@pytest.mark.parametrize("start", [0, 1, 63, 64, 65, 199, 200, 201, 5000])
def test_a_log_is_read_on_from_a_position(store, start):
    store.append([record(number) for number in range(200)]).result()
    whole = list(store.entries(SESSION))
    assert list(store.entries(SESSION, start)) == whole[start:]
    assert list(store.entries(SESSION, -3)) == whole


def test_earlier_entries_are_not_read(closed, url):
    """They are broken, and nobody notices; what is read is still hashed."""
    store = open_store(url)
    for number in range(100, 110):
        store.append([record(number)]).result()
    end = len(list(store.entries(SESSION)))
    store.close()
    tamper(closed, f"UPDATE entry SET body = zeroblob(9) WHERE seq < {end - 3}")
    store = open_store(url, read_only=True)
    assert [entry.seq for entry in store.entries(SESSION, end - 3)] == [end - 3, end - 2, end - 1]
    with pytest.raises(StoreCorrupt, match="does not match its leaf"):
        list(store.entries(SESSION, end - 4))
    store.close()


def test_an_entry_that_is_gone_is_missed_where_reading_begins(closed, url):
    store = open_store(url)
    end = len(list(store.entries(SESSION)))
    store.append([record(100), record(101)]).result()
    store.close()
    tamper(closed, f"DELETE FROM entry WHERE log = 1 AND seq = {end}")
    store = open_store(url, read_only=True)
    with pytest.raises(StoreCorrupt):
        list(store.entries(SESSION, end))
    store.close()


def test_a_conflict_is_a_refusal(engine):
    assert issubclass(StoreConflict, StoreRefused)
