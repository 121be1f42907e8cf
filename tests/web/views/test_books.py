"""The books: what stands and what does not, what it rests on, and that looking changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxgc.errors import LedgerError
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.web.views import books_document, reconcile_document, trace_document
from tests.web.views import shapes


@pytest.fixture
def ledger(tmp_path: Path):
    with open_ledger(f"sqlite:///{tmp_path / 'books.db'}", clock=lambda: 1_000.0, root=tmp_path) as opened:
        yield opened


def posted(ledger: Ledger, statement: str, supersedes: str = "") -> str:
    voucher = ledger.vault.store(ref=statement, content=f"{statement}\n")
    return ledger.post(statement, [ledger.verify(voucher, statement)], supersedes=supersedes).id


def books(ledger: Ledger) -> shapes.Books:
    return shapes.typed(books_document(ledger), shapes.Books)


def test_facts_say_whether_they_stand(ledger: Ledger) -> None:
    old, gone = posted(ledger, "the port is 80"), posted(ledger, "the host is up")
    ledger.close("looked around")
    new = posted(ledger, "the port is 81", supersedes=old)
    ledger.supersede(gone, "", "it went down")
    claim = ledger.claim("it will be fine").id
    found = {fact.id: fact for fact in books(ledger).facts}
    assert {name: fact.status for name, fact in found.items()} == {
        old: "superseded",
        gone: "withdrawn",
        new: "current",
        claim: "claim",
    }
    assert (found[old].superseded_by, found[new].superseded_by) == (new, "")
    period = ledger.books.periods[0].id
    assert {name: fact.period for name, fact in found.items()} == {old: period, gone: period, new: "", claim: ""}
    assert [(one.id, one.milestone, one.facts) for one in books(ledger).periods] == [(period, "looked around", 2)]


def test_vouchers_say_how_many_facts_rest_on_them(ledger: Ledger) -> None:
    fact = posted(ledger, "the port is 80")
    ledger.vault.store(ref="nobody asks", content="unused")
    found = books(ledger)
    assert [(one.ref, one.facts) for one in found.vouchers] == [("the port is 80", 1), ("nobody asks", 0)]
    assert found.facts[0].source[0].artifact == found.vouchers[0].id
    assert found.vouchers[0].sha256 == ledger.books.artifacts[found.vouchers[0].id].hash.removeprefix("sha256:")
    assert fact == found.facts[0].id


def test_a_fact_is_traced_to_its_bytes_and_their_hash_is_recomputed(ledger: Ledger) -> None:
    fact = posted(ledger, "the port is 80")
    source = shapes.typed(trace_document(ledger, fact), shapes.Trace).sources[0]
    assert (source.agree, source.slice) == (True, "the port is 80")
    assert source.sha256 == source.recomputed != ""
    assert shapes.typed(trace_document(ledger, fact, content=False), shapes.Trace).sources[0].slice is None
    with pytest.raises(LedgerError):
        trace_document(ledger, "F99")


def test_reconciling_for_the_page_books_nothing(ledger: Ledger) -> None:
    fact, before = posted(ledger, "the port is 80"), ledger.version
    found = shapes.typed(reconcile_document(ledger), shapes.Reconcile)
    assert (found.ok, [(row.fact, row.state) for row in found.rows]) == (True, [(fact, "match")])
    assert (ledger.version, books(ledger).reconciled) == (before, None)


def test_the_newest_reconciliation_is_told(ledger: Ledger) -> None:
    posted(ledger, "the port is 80")
    ledger.reconcile()
    found = books(ledger).reconciled
    assert found is not None
    assert (found.match, found.findings, found.whole) == (1, {}, True)
