"""``ctxgc ledger`` as JSON: what a ledger holds, as plain values.

Rule: the keys are the same whatever there is, and what there is none of is null, empty or 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgc.cli._output import when

if TYPE_CHECKING:
    from ctxgc.core.bookings import Artifact, Evidence, Fact, Period
    from ctxgc.core.books import Books
    from ctxgc.ledger import Ledger, Report, Source, Trace

    Document = dict[str, object]

STATES = ("match", "drift", "missing", "corrupt")
EXCERPT = 400
"""Characters of a slice that are shown."""


def document(command: str, ledger: Ledger, **more: object) -> Document:
    """What every answer begins with, and what is its own."""
    return {"schema": f"ctxgc.ledger.{command}/1", "ledger": ledger.name, **more}


def status(books: Books, fact: Fact) -> str:
    """``claim``, ``current`` or ``superseded``."""
    return "claim" if fact.type == "claim" else books.status(fact.id)


def fact_document(books: Books, fact: Fact) -> Document:
    """A fact or claim. ``superseded_by`` is an id, empty for a fact that was withdrawn, and null for a current one."""
    return {
        "id": fact.id,
        "at": when(fact.at),
        "kind": fact.type,
        "status": status(books, fact),
        "statement": fact.statement,
        "criticality": fact.criticality,
        "author": fact.author,
        "pointer": fact.pointer,
        "quote": fact.quote,
        "of": fact.of,
        "superseded_by": books.superseded_by.get(fact.id),
        "source": [evidence_document(evidence) for evidence in fact.source],
    }


def evidence_document(evidence: Evidence) -> Document:
    """What a verifier saw: bytes from 0, the end excluded, and lines from 1, both included."""
    return {
        "artifact": evidence.artifact,
        "bytes": [evidence.first, evidence.last],
        "lines": [evidence.line_first, evidence.line_last],
        "slice": evidence.slice,
        "verifier": evidence.verifier,
        "version": evidence.version,
        "asked": evidence.asked,
    }


def voucher_document(artifact: Artifact) -> Document:
    """A voucher without its content."""
    return {
        "id": artifact.id,
        "at": when(artifact.at),
        "kind": artifact.type,
        "ref": artifact.ref,
        "hash": artifact.hash,
        "size": artifact.size,
        "lines": artifact.lines,
        "exit_status": artifact.exit_status,
    }


def period_document(period: Period) -> Document:
    """A period that is closed."""
    return {
        "id": period.id,
        "closed_at": when(period.at),
        "milestone": period.milestone,
        "window_from": period.window_from,
        "window_to": period.window_to,
        "opening_balance_ref": period.opening_balance_ref,
        "balance": list(period.balance),
        "lossy": period.lossy,
    }


def report_document(report: Report) -> Document:
    """What a reconciliation found: how many of each state, and each fact with its own."""
    counts = {state: sum(row.state == state for row in report.rows) for state in STATES}
    keys = ("fact", "state", "detail", "critical")
    rows = [{key: getattr(row, key) for key in keys} for row in report.rows]
    return {"ok": report.ok, "whole": report.whole, **counts, "rows": rows}


def trace_document(books: Books, traced: Trace) -> Document:
    """A fact, followed to what it rests on. ``period`` is null for one that was posted since the last was closed."""
    return {
        "agree": traced.agree,
        "fact": fact_document(books, traced.fact),
        "position": traced.position,
        "period": traced.period or None,
        "balances": list(traced.balances),
        "detail": traced.detail,
        "sources": [_source(source) for source in traced.sources],
    }


def _source(source: Source) -> Document:
    """What was booked of voucher and slice beside what their bytes give now; the hashes are empty if there are none."""
    return {
        "agree": source.agree,
        "detail": source.detail,
        "voucher": voucher_document(source.artifact),
        "voucher_recomputed": source.hash,
        "evidence": evidence_document(source.evidence),
        "slice_recomputed": source.slice_hash,
        "excerpt": excerpt(source.slice),
    }


def excerpt(content: bytes, size: int = EXCERPT) -> str:
    """The first characters of a slice; what is no UTF-8 becomes U+FFFD."""
    return content[: size * 4].decode("utf-8", "replace")[:size]
