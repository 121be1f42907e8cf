"""One transaction: what is refused, what is written once, what a failure leaves behind."""

from dataclasses import replace

import apsw
import pytest

from ctxgc.store import StoreBusy, StoreCorrupt, StoreFull, StoreRefused, Stub, open_store
from ctxgc.store.connection import Place
from ctxgc.store.engine import Engine
from ctxgc.store.opening import prepare
from ctxgc.store.sqlite import SqliteStore

from .helpers import OTHER, SESSION, noise, path_of_nodes, record, tamper


@pytest.fixture
def engine(path):
    prepare(Place(path), create=True, now=1)
    engine = Engine(Place(path, busy_ms=20), lambda: 2)
    yield engine
    engine.close()


@pytest.fixture
def reading(engine, path):
    store = SqliteStore(Place(path, read_only=True))
    yield store
    store.close()


def numbers(store, session=SESSION):
    return [int.from_bytes(entry.idem, "big") for entry in store.entries(session)]


def test_records_are_written_in_order(engine, reading):
    assert engine.write([[record(1), record(2)], [record(3)]]) == [None, None]
    assert numbers(reading) == [1, 2, 3]


def test_a_record_written_again_is_not_written_twice(engine, reading):
    nodes = path_of_nodes([b"a"])
    again = record(1, blobs=(b"a",), nodes=nodes, stubs=(Stub("a" * 16, 0),))
    engine.write([[again]])
    tip = reading.tip()
    assert engine.write([[again], [again, again]]) == [None, None]
    assert numbers(reading) == [1]
    assert reading.tip() == tip


def test_the_same_idem_in_another_session_is_another_record(engine, reading):
    engine.write([[record(1)], [record(1, OTHER)]])
    assert numbers(reading, OTHER) == [1]


def test_an_idem_used_for_another_entry_is_refused_not_swallowed(engine):
    engine.write([[record(1)]])
    (refused,) = engine.write([[record(1, body=b"[]")]])
    assert isinstance(refused, StoreRefused)
    assert "idem belongs to another entry" in str(refused)


@pytest.mark.parametrize(
    "poison",
    [
        record(9, kind="gossip"),
        record(9, body=None),
        record(9, stubs=(Stub("a" * 16, 1 << 70),)),
        record(9, stubs=(Stub("a" * 16, 1), Stub("a" * 16, 2))),
        record(9, nodes=path_of_nodes([b"absent"])),
        record(9, blobs=(b"a", b"b"), nodes=path_of_nodes([b"a", b"b"])[1:]),
        record(9, blobs=(b"a",), nodes=(replace(path_of_nodes([b"a"])[0], chain=bytes(32)),)),
        "not a record",
    ],
)
def test_a_poisoned_append_fails_alone_and_leaves_no_trace(engine, reading, poison):
    first, refused, last = engine.write([[record(1)], [record(2, blobs=(b"lost",)), poison], [record(3)]])
    assert (first, last) == (None, None)
    assert isinstance(refused, StoreRefused)
    assert numbers(reading) == [1, 3]
    assert [row[1] for row in reading.rows().select("blob", 0, 99)] == []
    assert list(reading.verify()) == []


def test_a_session_that_has_grown_meanwhile_refuses_the_older_view(engine):
    a, b = path_of_nodes([b"a", b"b"])
    engine.write([[record(1, blobs=(b"a", b"b"), nodes=(a, b))]])
    (refused,) = engine.write([[record(2, nodes=(b,))]])
    assert "2 is next: read the session again" in str(refused)


def test_a_stub_may_be_written_again_but_not_moved(engine):
    stub = Stub("a" * 16, 1)
    assert engine.write([[record(1, stubs=(stub,))], [record(2, stubs=(stub,))]]) == [None, None]
    (refused,) = engine.write([[record(3, OTHER, stubs=(stub,))]])
    assert "stands for another cell" in str(refused)


def test_a_lock_held_too_long_is_busy_and_nothing_is_written(engine, reading, path):
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="locked by another process"):
        engine.write([[record(1)]])
    other.close()
    assert numbers(reading) == []
    assert engine.write([[record(1)]]) == [None]


def test_a_full_disk_says_so_and_the_rest_stays_good(engine, reading):
    engine.write([[record(1)]])
    engine._db.authorizer = None
    engine._db.pragma("max_page_count", 30)
    with pytest.raises(StoreFull, match="no space left"):
        engine.write([[record(2, blobs=(noise(1, 200_000),))]])
    assert list(reading.verify()) == []
    engine._db.pragma("max_page_count", 3000)
    assert engine.write([[record(3)]]) == [None]
    assert numbers(reading) == [1, 3]


@pytest.mark.parametrize("statement", ["DELETE FROM entry WHERE id > 7", "DELETE FROM seal"])
def test_a_cut_store_takes_no_more_records(closed, statement):
    tamper(closed, statement)
    engine = Engine(Place(closed), lambda: 2)
    with pytest.raises(StoreCorrupt, match="rows and seals disagree: run verify"):
        engine.write([[record(1, b"n" * 32)]])
    engine.close()


def test_recovery_makes_what_it_reads_durable_in_the_main_file_first(engine, path, tmp_path):
    engine.write([[record(1)]])

    def copy_without_the_log():
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        store = open_store(f"sqlite:///{copy}")
        found = numbers(store)
        store.close()
        return found

    assert copy_without_the_log() == []
    recovered = Engine(Place(path), lambda: 2, recover=True)
    assert copy_without_the_log() == [1]
    recovered.close()


def test_two_engines_share_one_file(engine, reading, path):
    other = Engine(Place(path), lambda: 3)
    for number in range(20):
        (engine, other)[number % 2].write([[record(number)]])
    other.close()
    assert numbers(reading) == list(range(20))
    assert list(reading.verify()) == []


def test_a_content_that_came_with_a_refused_append_is_stored_when_it_comes_again(engine, reading):
    (node,) = path_of_nodes([b"again"])
    refused = [record(1, blobs=(b"again",)), replace(record(2), kind="unheard of")]
    accepted = [record(3, blobs=(b"another",)), record(4, blobs=(b"again",), nodes=(node,))]
    outcomes = engine.write([refused, accepted])
    assert isinstance(outcomes[0], StoreRefused)
    assert outcomes[1] is None
    assert reading.blob(node.blob) == b"again"
    assert [found.blob for found in reading.nodes(SESSION)] == [node.blob]
    assert list(reading.verify()) == []


def test_a_row_before_the_first_cannot_be_added_beside_the_triggers(closed, path):
    for table, values in (
        ("entry", "-1, 2, 99, kind, randomblob(16), leaf, enc, body"),
        ("log", "0, randomblob(32), 1"),
    ):
        with pytest.raises(apsw.ConstraintError):
            tamper(path, f"INSERT INTO {table} SELECT {values} FROM {table} LIMIT 1", unguarded=False)
