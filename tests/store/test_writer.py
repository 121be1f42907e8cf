"""Group commit and what happens to acknowledgements when the database fails."""

import threading

import pytest

from ctxgc.store import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreUnavailable, open_store
from ctxgc.store.connection import Place
from ctxgc.store.engine import Engine
from ctxgc.store.opening import prepare
from ctxgc.store.writer import Limits, Writer

from .helpers import SESSION, record


class Tape:
    """A database that survives its connections: what is on it, what it fails with next, who opened it."""

    def __init__(self, *faults):
        self.idems: list[bytes] = []
        self.faults = list(faults)
        self.opened: list[bool] = []
        self.transactions: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.reads_back = True

    def connect(self, recover):
        self.opened.append(recover)
        return self

    def write(self, appends):
        self.gate.wait()
        self.transactions.append(len(appends))
        fault, stored = self.faults.pop(0) if self.faults else (None, True)
        for each in (each for append in appends for each in append if stored):
            if not (self.reads_back and each.idem in self.idems):
                self.idems.append(each.idem)
        if fault:
            raise fault
        return [None] * len(appends)

    def close(self):
        pass


LOST = (StoreUnavailable("disk"), False)
STORED = (StoreUnavailable("disk"), True)


def written(tape, *records, limits=None):
    writer = Writer(tape.connect, limits or Limits())
    future = writer.append(records or [record(1)])
    error = future.exception()
    writer.close()
    return error


def test_what_waits_goes_into_one_transaction():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect)
    futures = [writer.append([record(number)]) for number in range(50)]
    tape.gate.set()
    writer.close()
    assert all(future.exception() is None for future in futures)
    assert sum(tape.transactions) == 50
    assert len(tape.transactions) <= 2
    assert tape.idems == [record(number).idem for number in range(50)]


def test_a_transaction_is_bounded():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect, Limits(transaction=100))
    for number in range(10):
        writer.append([record(number, body=b"x" * 60)])
    tape.gate.set()
    writer.close()
    assert tape.transactions == [1] * 10


@pytest.mark.parametrize("fault", [LOST, STORED])
def test_an_unknown_outcome_is_read_again_on_a_new_connection_and_written_once(fault):
    tape = Tape(fault)
    assert written(tape) is None
    assert tape.idems == [record(1).idem]
    assert tape.opened == [False, True]


def test_without_reading_back_it_would_be_written_twice():
    tape = Tape(STORED)
    tape.reads_back = False
    assert written(tape) is None
    assert tape.idems == [record(1).idem] * 2


@pytest.mark.parametrize("second", [LOST, STORED, (StoreBusy("locked"), False)])
def test_a_second_failure_leaves_the_outcome_unknown_and_says_so(second):
    error = written(Tape(LOST, second))
    assert type(error) is StoreUnavailable
    assert "not known to be stored, append again with the same idem" in str(error)


def test_after_a_failure_the_next_append_recovers_first():
    tape = Tape(LOST, LOST)
    writer = Writer(tape.connect)
    assert isinstance(writer.append([record(1)]).exception(), StoreUnavailable)
    assert writer.append([record(2)]).exception() is None
    writer.close()
    assert tape.opened == [False, True, True]


def test_a_lock_is_not_waited_for_twice():
    tape = Tape((StoreBusy("locked"), False))
    assert isinstance(written(tape), StoreBusy)
    assert tape.transactions == [1]
    assert tape.opened == [False]


def test_a_full_disk_fails_as_such_and_does_not_stop_the_writer():
    full = (StoreFull("full"), False)
    tape = Tape(full, full)
    writer = Writer(tape.connect)
    assert isinstance(writer.append([record(1)]).exception(), StoreFull)
    assert writer.append([record(1)]).exception() is None
    writer.close()


def test_a_bug_fails_its_appends_and_not_the_thread():
    tape = Tape((ZeroDivisionError("oops"), False))
    writer = Writer(tape.connect)
    error = writer.append([record(1)]).exception()
    assert isinstance(error, StoreError)
    assert "report this bug" in str(error)
    assert writer.append([record(2)]).exception() is None
    writer.close()


def test_the_queue_is_bounded_and_takes_more_when_it_has_drained():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect, Limits(records=2))
    futures = [writer.append([record(number)]) for number in range(3)]
    assert "2 records wait to be written: slow down" in str(futures[2].exception())
    tape.gate.set()
    writer.flush()
    assert writer.append([record(4)]).exception() is None
    writer.close()


def test_the_queue_is_bounded_in_bytes_but_one_append_always_fits():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect, Limits(bytes=100))
    large = writer.append([record(1, blobs=(bytes(1000),))])
    assert isinstance(writer.append([record(2)]).exception(), StoreUnavailable)
    tape.gate.set()
    writer.close()
    assert large.exception() is None


def test_a_caller_that_stops_waiting_does_not_stop_the_write():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect)
    writer.append([record(1)])
    future = writer.append([record(2)])
    assert not future.cancel()
    tape.gate.set()
    writer.close()
    assert record(2).idem in tape.idems


def test_closing_writes_what_waits_and_refuses_what_comes_later():
    tape = Tape()
    tape.gate.clear()
    writer = Writer(tape.connect)
    future = writer.append([record(1)])
    tape.gate.set()
    writer.close()
    writer.close()
    writer.flush()
    assert future.done()
    assert "closed" in str(writer.append([record(2)]).exception())


def test_an_error_on_opening_surfaces_at_once():
    def connect(recover):
        raise StoreCorrupt("broken")

    with pytest.raises(StoreCorrupt):
        Writer(connect)


class CommitsThenFails(Engine):
    """Whose first transaction is stored, though it reports an error."""

    broken = 1

    def write(self, appends):
        outcomes = super().write(appends)
        if CommitsThenFails.broken:
            CommitsThenFails.broken -= 1
            raise StoreUnavailable("fsync failed")
        return outcomes


def test_on_sqlite_an_unknown_outcome_is_resolved_by_idem(path, url):
    place = Place(path)
    prepare(place, create=True, now=1)
    writer = Writer(lambda recover: CommitsThenFails(place, lambda: 1, recover=recover))
    assert writer.append([record(1), record(2)]).exception() is None
    writer.close()
    store = open_store(url)
    assert [entry.idem for entry in store.entries(SESSION)] == [record(1).idem, record(2).idem]
    store.close()
