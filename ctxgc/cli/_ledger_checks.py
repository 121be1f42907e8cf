"""The audit of a ledger beyond the store's own: do its rules take every entry, and is every fact borne out?

Rule: all facts are looked at, superseded ones too, and what cannot be read is a finding like what does not agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from ctxgc.core.bookings import AnyBooking, Artifact, Evidence
from ctxgc.core.books import Books
from ctxgc.core.journal import AnyEntry
from ctxgc.errors import LedgerError
from ctxgc.ledger.evidence import disagreement
from ctxgc.ledger.log import booking
from ctxgc.ledger.vault import digest_of, line_count
from ctxgc.store import Finding, Store, Stored, StoreError

Resting = dict[str, list[tuple[str, Evidence]]]
"""For each voucher, the facts that rest on it, each with what was seen of it."""


def check_ledger(store: Store, key: bytes) -> Iterator[Finding]:
    """Everything about one ledger that does not agree: its log, its vouchers, and what facts say of these."""
    books = Books()
    try:
        for stored in store.entries(key):
            books.apply(booking(stored.body))
    except (LedgerError, StoreError) as error:
        yield Finding("ledger", key.hex(), books.length, "", f"The ledger's log is taken up to here: {error}.")
    resting = _resting(books)
    for artifact in books.artifacts.values():
        for fact, detail in _voucher(store, artifact, resting.get(artifact.id, [])):
            yield Finding("voucher", key.hex(), books.posted_at.get(fact), artifact.id, detail)


def taken(entries: Iterable[tuple[Stored, AnyEntry]]) -> Iterator[tuple[Stored, AnyEntry, str]]:
    """The entries of a ledger's log, each with why it does not count; empty for those that the rules take."""
    books, why = Books(), ""
    for stored, entry in entries:
        if why:
            why = "it comes after one that is refused"
        else:
            try:
                books.apply(cast("AnyBooking", entry))
            except LedgerError as error:
                why = str(error)
        yield stored, entry, why


def _resting(books: Books) -> Resting:
    found: Resting = {}
    for fact in books.facts.values():
        for evidence in fact.source:
            found.setdefault(evidence.artifact, []).append((fact.id, evidence))
    return found


def _voucher(store: Store, artifact: Artifact, seen: list[tuple[str, Evidence]]) -> Iterator[tuple[str, str]]:
    """What is wrong with a voucher, and with what facts say of it: the fact (empty: the voucher itself), and a line."""
    try:
        content = store.blob(digest_of(artifact))
    except StoreError as error:
        yield "", f"The voucher {artifact.id} cannot be read: {error}{_facts(seen)}."
        return
    if (len(content), line_count(content)) != (artifact.size, artifact.lines):
        yield "", f"The voucher {artifact.id} is of another size than its entry says."
    for fact, evidence in seen:
        wrong = disagreement(evidence, artifact, content)
        if wrong:
            yield fact, f"{fact} is not borne out: {wrong}."


def _facts(seen: list[tuple[str, Evidence]]) -> str:
    names = list(dict.fromkeys(fact for fact, _ in seen))
    if not names:
        return ""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"; {', '.join(names[:5])}{more} rest{'s' if len(names) == 1 else ''} on it"
