"""What a ledger refuses, and why: the rules that every entry of its log is held against.

Rule: a refusal follows from the entry and the books before it, takes the same time however long they are (but for the
one comparison of a balance), and is one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxgc.core.bookings import Artifact, Evidence, Fact, Period, Reconciliation, Restoration, Supersession

if TYPE_CHECKING:
    from ctxgc.core.books import Books

TYPES = ("file", "query", "test", "tool_result")
"""What a voucher can be of."""
STATES = ("drift", "corrupt", "missing")
"""What a reconciliation can find where a fact does not agree."""
CLAIM, VERIFIED = "claim", "verified"
_AUTHORS = ("host", "agent", "summariser")
_CRITICALITIES = ("normal", "critical")
_HANDLE = re.compile(r"[a-z2-7]{16}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_SHOWN = 40


def refusal(books: Books, entry: Any) -> str:
    """Why ``entry`` cannot be the next one of ``books``; empty where it can."""
    match entry:
        case Artifact():
            return _artifact(books, entry)
        case Fact(type="verified"):
            return _fact(books, entry)
        case Fact(type="claim"):
            return _claim(books, entry)
        case Fact():
            return f"{shown(entry.type)} is no type of fact: use {CLAIM} or {VERIFIED}"
        case Supersession():
            return _supersession(books, entry)
        case Restoration():
            return _restoration(books, entry)
        case Period():
            return _period(books, entry)
        case Reconciliation():
            return _reconciliation(books, entry)
    return f"{type(entry).__name__} is no entry of a ledger"


def shown(name: str) -> str:
    """A name from an entry as it can stand in a line: plain ones as they are, others shortened and escaped."""
    plain = 0 < len(name) <= _SHOWN and name.isprintable()
    return name if plain else ascii(name[:_SHOWN])


def visible(text: str) -> bool:
    """Whether anything of a text would be seen: spaces, controls and hidden characters say nothing."""
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def _artifact(books: Books, entry: Artifact) -> str:
    if not _HANDLE.fullmatch(entry.id):
        return f"{shown(entry.id)} is no handle: a voucher needs 16 characters of a-z2-7"
    if entry.id in books.artifacts:
        return f"the voucher {entry.id} is there already: facts can point at it"
    if entry.type not in TYPES:
        return f"{shown(entry.type)} is no type of voucher: use one of {', '.join(TYPES)}"
    if not _HASH.fullmatch(entry.hash) or entry.size < 0 or entry.lines < 0:
        return f"the voucher {entry.id} has no sha256 hash, size and number of lines"
    return ""


def _fact(books: Books, entry: Fact) -> str:
    if not entry.source:
        return f"{shown(entry.id)} has no evidence: only a claim may stand without"
    if entry.of and not _is_claim(books, entry.of):
        return f"{shown(entry.id)} is to come from {shown(entry.of)}, which is no claim"
    said = _stated(entry, books.next_fact())
    return said or next(filter(None, (_evidence(books, entry.id, one) for one in entry.source)), "")


def _claim(books: Books, entry: Fact) -> str:
    if entry.source or entry.of:
        return f"{shown(entry.id)} is a claim, which has no evidence and comes from no other: post it as verified"
    return _stated(entry, books.next_claim())


def _is_claim(books: Books, name: str) -> bool:
    known = books.facts.get(name)
    return known is not None and known.type == CLAIM


def _stated(entry: Fact, due: str) -> str:
    """What claims and facts have in common; ``due`` is the id that comes next."""
    if entry.id != due:
        return f"{shown(entry.id)} comes where {due} is next: read the ledger on, then post again"
    if not visible(entry.statement):
        return f"{entry.id} states nothing"
    if entry.criticality not in _CRITICALITIES:
        return f"{entry.id} is of the criticality {shown(entry.criticality)}: use one of {', '.join(_CRITICALITIES)}"
    if entry.author not in _AUTHORS:
        return f"{entry.id} has the author {shown(entry.author)}: use one of {', '.join(_AUTHORS)}"
    return ""


def _evidence(books: Books, fact: str, seen: Evidence) -> str:
    voucher = books.artifacts.get(seen.artifact)
    if voucher is None:
        return f"{fact} points into the voucher {shown(seen.artifact)}, which is not there: store it first"
    if not 0 <= seen.first <= seen.last <= voucher.size or (seen.first == seen.last and voucher.size):
        return f"{fact} points at bytes {seen.first} to {seen.last} of {voucher.id}, which has {voucher.size}"
    if not 1 <= seen.line_first <= seen.line_last <= max(voucher.lines, 1):
        lines = f"lines {seen.line_first} to {seen.line_last}"
        return f"{fact} points at {lines} of {voucher.id}, which has {voucher.lines}"
    if not _HASH.fullmatch(seen.slice) or not seen.verifier:
        return f"{fact} does not say which verifier saw what of {voucher.id}"
    if seen.last - seen.first == voucher.size and seen.slice != voucher.hash:
        return f"{fact} gives the whole of {voucher.id} another hash than it has"
    return ""


def _supersession(books: Books, entry: Supersession) -> str:
    if entry.old == entry.new:
        return f"{shown(entry.old)} cannot be superseded by itself"
    # What is current has nothing behind it that supersedes it, so no circle can close here.
    return _not_current(books, entry.old) or (_not_current(books, entry.new) if entry.new else "")


def _not_current(books: Books, name: str) -> str:
    fact = books.facts.get(name)
    if fact is None:
        return f"there is no fact {shown(name)}"
    if fact.type != VERIFIED:
        return f"{name} is a claim: only facts supersede and are superseded"
    if name in books.superseded_by:
        return f"{name} is superseded already{_by(books.superseded_by[name])}: restore it first"
    return ""


def _by(name: str) -> str:
    return f" by {name}" if name else " (withdrawn)"


def _restoration(books: Books, entry: Restoration) -> str:
    if entry.fact in books.superseded_by:
        return ""
    known = books.facts.get(entry.fact)
    if known is None:
        return f"there is no fact {shown(entry.fact)}"
    return f"{entry.fact} is {'current already' if known.type == VERIFIED else 'a claim: verify and post it'}"


def _period(books: Books, entry: Period) -> str:
    if entry.id != books.next_period():
        return f"{shown(entry.id)} comes where {books.next_period()} is next: read the ledger on, then close again"
    if (entry.window_from, entry.window_to) != books.window():
        first, last = books.window()
        return f"{entry.id} covers {entry.window_from} to {entry.window_to}, where {first} to {last} is open"
    if entry.opening_balance_ref not in books.artifacts:
        return f"{entry.id} names the list {shown(entry.opening_balance_ref)}, which is no voucher: store it first"
    if entry.balance != books.balance():
        return f"the balance of {entry.id} is not the facts that are current"
    return ""


def _reconciliation(books: Books, entry: Reconciliation) -> str:
    if entry.match < 0:
        return f"{entry.match} facts cannot agree"
    for name, found in entry.findings.items():
        fact = books.facts.get(name)
        if fact is None or fact.type != VERIFIED:
            return f"there is no fact {shown(name)} to be reconciled"
        if not found.startswith(STATES):
            return f"{name} was found {shown(found)}: say one of {', '.join(STATES)}"
    return ""
