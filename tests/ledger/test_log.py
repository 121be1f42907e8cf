"""Adding to a log that others add to, in a store that does not always say whether it has something."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from ctxgc.core.bookings import Fact, Restoration
from ctxgc.errors import LedgerError
from ctxgc.ledger import Ledger, log, open_ledger
from ctxgc.store import Record, Store, StoreConflict, StoreCorrupt, StoreUnavailable, open_store


class Faulty:
    """A store whose appends raise, before or after they were written."""

    def __init__(self, store: Store, *faults: str) -> None:
        self._store = store
        self.faults = list(faults)
        self.idems: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, records: Sequence[Record]) -> Future[None]:
        self.idems.append(records[0].idem)
        fault = self.faults.pop(0) if self.faults else ""
        if fault != "lost":
            self._store.append(records).result()
        done: Future[None] = Future()
        done.set_exception(StoreUnavailable("who knows")) if fault else done.set_result(None)
        return done


class Blind(log.Log):
    """The defect that the fold must notice: a writer that does not say where its entry belongs."""

    def _record(self, *given: Any) -> Record:
        return replace(super()._record(*given), at=None)


def said(books: Any, statement: str) -> list[Fact]:
    return [Fact(at=0, id=books.next_claim(), type="claim", statement=statement, author="agent")]


@pytest.fixture
def store(url: str):
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.mark.parametrize("fault", ["lost", "stored"])
def test_an_outcome_that_nobody_knows_is_settled_by_the_same_record_again(store: Store, fault: str):
    faulty = Faulty(store, fault)
    ledger = open_ledger(faulty)  # type: ignore[arg-type]
    assert ledger.claim("once").id == "C1"
    assert ledger.version == 1
    assert len(set(faulty.idems)) == 1
    assert len(faulty.idems) == 2


def test_a_store_that_stays_away_is_reported(store: Store):
    faulty = Faulty(store, *["lost"] * log.AGAIN)
    with pytest.raises(StoreUnavailable):
        open_ledger(faulty).claim("never")  # type: ignore[arg-type]
    assert open_ledger(store).version == 0


@pytest.mark.parametrize("fault", ["lost", "stored"])
def test_somebody_else_may_come_in_between(store: Store, fault: str):
    ledger, other = open_ledger(Faulty(store, fault)), open_ledger(store)  # type: ignore[arg-type]
    tries = []

    def make(books: Any) -> list[Fact]:
        tries.append(books.length)
        if len(tries) == 1:
            other.claim("I was faster")
        return said(books, "slow")

    made = ledger._log.add(make) if fault == "lost" else None
    if made is None:  # stored, but not known to be, and then the log grows: the same record again changes nothing
        ledger.claim("slow")
        other.claim("I was faster")
        assert [fact.id for fact in ledger.books.claims()] == ["C1", "C2"]
    else:
        assert tries == [0, 1]
        assert [fact.statement for fact in ledger.books.claims()] == ["I was faster", "slow"]


def test_control_a_writer_without_a_position_breaks_the_log_and_the_fold_says_so(store: Store):
    other = open_ledger(store)
    blind = Blind(store, other.key, lambda: 0.0)

    def make(books: Any) -> list[Fact]:
        other.claim("I was faster")
        return said(books, "slow")

    with pytest.raises(LedgerError, match="C1 comes where C2 is next"):
        blind.add(make)
    with pytest.raises(LedgerError):
        open_ledger(store).refresh()


def test_whoever_is_never_first_gives_up(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log, "TRIES", 3)
    ledger, other = open_ledger(store), open_ledger(store)
    numbers = iter(range(100))

    def make(books: Any) -> list[Fact]:
        other.claim(f"faster {next(numbers)}")
        return said(books, "slow")

    with pytest.raises(LedgerError, match="always faster"):
        ledger._log.add(make)
    assert ledger.version == 3


def test_what_the_books_refuse_is_never_stored(store: Store):
    ledger = open_ledger(store)
    with pytest.raises(LedgerError):
        ledger._log.add(lambda _books: [Restoration(at=0, fact="F1")])
    with pytest.raises(LedgerError, match="together"):
        ledger._log.add(lambda books: said(books, "a") + said(books, "b"))
    assert list(store.entries(ledger.key)) == []


def test_threads_share_a_ledger(ledger: Ledger):
    def book(number: int) -> str:
        kept = ledger.vault.store(ref=f"q{number % 5}", content="text", kind="query")
        return ledger.post(f"fact {number}", [ledger.verify(kept, "text")]).id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(book, range(80)))
    assert len(set(ids)) == 80
    assert len(ledger.books.artifacts) == 5
    assert ledger.version == 85


def test_a_log_that_holds_something_else_is_refused(store: Store):
    ledger = open_ledger(store)
    gap = b'{"kind":"gap","at":0,"calls":1,"since":0,"reason":""}'
    store.append([Record(ledger.key, "gap", gap, bytes(16))]).result()
    with pytest.raises(LedgerError, match="no entry of a ledger"):
        ledger.refresh()


def test_a_log_that_was_cut_is_said_to_be_and_is_not_written_to(store: Store, monkeypatch: pytest.MonkeyPatch):
    ledger = open_ledger(store)
    ledger.claim("one")
    tries: list[int] = []

    def shorter(records: Sequence[Record]) -> Future[None]:
        tries.append(len(records))
        cut: Future[None] = Future()
        cut.set_exception(StoreConflict("entry 1 comes where 0 is next"))
        return cut

    monkeypatch.setattr(store, "append", shorter)
    with pytest.raises(StoreCorrupt, match="has lost entries: 1 were read"):
        ledger.claim("two")
    assert tries == [1]
