"""Following a fact to what it rests on.

Rule: every hash is computed anew from the bytes that the store has now; what cannot be read does not agree.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from hashlib import sha256

from ctxgc.core.bookings import Artifact, Evidence, Fact, Period
from ctxgc.core.books import Books
from ctxgc.errors import LedgerError
from ctxgc.ledger import wording
from ctxgc.ledger.evidence import disagreement
from ctxgc.ledger.log import Log
from ctxgc.ledger.reconcile import reread
from ctxgc.ledger.vault import digest_of
from ctxgc.store import StoreCorrupt, StoreMissing


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence, looked at again: the bytes, and the hashes (``sha256:``) of voucher and slice as they are
    now. ``detail`` says what does not agree, and is empty where everything does."""

    evidence: Evidence
    artifact: Artifact
    slice: bytes
    hash: str
    slice_hash: str
    detail: str

    @property
    def agree(self) -> bool:
        """Whether voucher and slice are what they were when the fact was posted."""
        return not self.detail


@dataclass(frozen=True, slots=True)
class Trace:
    """A fact and what it rests on. ``period`` is the one that it was posted in (empty: not closed yet), ``balances``
    are those that carried it, and ``detail`` says what is wrong with its entry, if anything."""

    fact: Fact
    status: str
    position: int
    sources: tuple[Source, ...]
    period: str
    balances: tuple[str, ...]
    detail: str

    @property
    def agree(self) -> bool:
        """Whether the entry, the vouchers and the slices all agree. A claim rests on nothing: it never does."""
        return bool(self.sources) and not self.detail and all(source.agree for source in self.sources)


def trace(log: Log, books: Books, name: str) -> Trace:
    """Follow a fact or claim. Raises ``LedgerError`` where there is none of that id."""
    fact = books.facts.get(name)
    if fact is None:
        raise LedgerError(f"this ledger has no fact {wording.shown(name)}")
    position = books.posted_at[name]
    return Trace(
        fact,
        "claim" if fact.type == "claim" else books.status(name),
        position,
        tuple(_source(log, books, evidence) for evidence in fact.source),
        next((period.id for period in books.periods if period.window_from <= position < period.window_to), ""),
        tuple(period.id for period in books.periods if _carried(books, period, position)),
        "".join(why for _, why in reread(log, [position])),
    )


def _carried(books: Books, period: Period, position: int) -> bool:
    """Whether the fact of that position is in a balance: those are in the order of posting."""
    at = bisect_left(period.balance, position, key=books.posted_at.__getitem__)
    return at < len(period.balance) and books.posted_at[period.balance[at]] == position


def _source(log: Log, books: Books, evidence: Evidence) -> Source:
    artifact = books.artifacts[evidence.artifact]
    try:
        content = log.store.blob(digest_of(artifact))
    except (StoreCorrupt, StoreMissing) as error:
        return Source(evidence, artifact, b"", "", "", str(error))
    part = content[evidence.first : evidence.last]
    return Source(evidence, artifact, part, _hash(content), _hash(part), disagreement(evidence, artifact, content))


def _hash(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"
