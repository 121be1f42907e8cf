"""The books of a ledger as the page has them: facts, vouchers, periods, what a fact rests on, and what does not agree.

Rule: looking books nothing; hashes are recomputed from the bytes that the store has now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from ctxgc.core.bookings import Evidence, Fact, Reconciliation
from ctxgc.core.books import CURRENT, Books
from ctxgc.web.views.plain import Document, cut, plain

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger, Source

CLAIM, WITHDRAWN, SUPERSEDED = "claim", "withdrawn", "superseded"


def books_document(ledger: Ledger, key: bytes = b"") -> Document:
    """``ctxgc.page.books/1``, of the session ``key`` (else its id is the ledger's). Raises ``StoreError`` and
    ``LedgerError``."""
    books = ledger.books
    resting = Counter(name for fact in books.facts.values() for name in {one.artifact for one in fact.source})
    return {
        "schema": "ctxgc.page.books/1",
        "id": (key or ledger.key).hex(),
        "ledger": plain(ledger.name),
        "facts": [_fact(books, fact) for fact in books.facts.values()],
        "vouchers": [
            {
                "id": one.id,
                "ref": plain(one.ref),
                "type": plain(one.type),
                "size": one.size,
                "sha256": one.hash.removeprefix("sha256:"),
                "at": one.at,
                "facts": resting[one.id],
            }
            for one in books.artifacts.values()
        ],
        "periods": [
            {
                "id": one.id,
                "milestone": plain(one.milestone),
                "at": one.at,
                "facts": len(one.balance),
                "lossy": one.lossy,
            }
            for one in books.periods
        ],
        "reconciled": _reconciled(books.reconciled),
    }


def trace_document(ledger: Ledger, fact: str, content: bool = True) -> Document:
    """``ctxgc.page.trace/1``; without ``content``, without the slices. Raises ``LedgerError`` for an unknown fact."""
    traced = ledger.trace(fact)
    sources = [_source(one, content=content) for one in traced.sources]
    return {"schema": "ctxgc.page.trace/1", "fact": _fact(ledger.books, traced.fact), "sources": sources}


def reconcile_document(ledger: Ledger) -> Document:
    """``ctxgc.page.reconcile/1``: vouchers and live files are read again, and nothing is booked of it."""
    report = ledger.reconcile(record=False)
    rows = [{"fact": row.fact, "state": row.state, "detail": plain(row.detail)} for row in report.rows]
    return {"schema": "ctxgc.page.reconcile/1", "rows": rows, "ok": report.ok}


def _fact(books: Books, fact: Fact) -> Document:
    return {
        "id": fact.id,
        "statement": cut(fact.statement)[0],
        "status": _status(books, fact),
        "type": plain(fact.type),
        "criticality": plain(fact.criticality),
        "at": fact.at,
        "author": plain(fact.author),
        "of": fact.of,
        "superseded_by": books.superseded_by.get(fact.id, ""),
        "period": _period(books, books.posted_at[fact.id]),
        "source": [_evidence(one) for one in fact.source],
    }


def _status(books: Books, fact: Fact) -> str:
    if fact.type == CLAIM:
        return CLAIM
    if fact.id not in books.superseded_by:
        return CURRENT
    return SUPERSEDED if books.superseded_by[fact.id] else WITHDRAWN


def _period(books: Books, position: int) -> str:
    """The period that an entry was made in; empty where that is not closed."""
    at = bisect_right(books.periods, position, key=lambda period: period.window_to)
    return books.periods[at].id if at < len(books.periods) else ""


def _evidence(one: Evidence) -> Document:
    return {
        "artifact": one.artifact,
        "first": one.first,
        "last": one.last,
        "line_first": one.line_first,
        "line_last": one.line_last,
        "verifier": plain(one.verifier),
        "version": plain(one.version),
    }


def _source(source: Source, *, content: bool) -> Document:
    evidence, artifact = source.evidence, source.artifact
    return {
        "artifact": artifact.id,
        "ref": plain(artifact.ref),
        "first": evidence.first,
        "last": evidence.last,
        "line_first": evidence.line_first,
        "line_last": evidence.line_last,
        "sha256": evidence.slice.removeprefix("sha256:"),
        "recomputed": source.slice_hash.removeprefix("sha256:"),
        "agree": source.agree,
        "slice": cut(source.slice.decode("utf-8", "replace"))[0] if content else None,
    }


def _reconciled(entry: Reconciliation | None) -> Document | None:
    if entry is None:
        return None
    findings = {plain(fact): plain(found) for fact, found in entry.findings.items()}
    return {"at": entry.at, "match": entry.match, "findings": findings, "whole": entry.whole}
