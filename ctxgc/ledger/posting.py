"""Claims and facts on their way into the log.

Rule: a fact is posted only after its evidence was looked at again in the voucher itself, and what is posted already is
not posted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ctxgc.core.bookings import Artifact, Evidence, Fact, Supersession
from ctxgc.core.books import Books
from ctxgc.errors import LedgerError, UnknownHandle
from ctxgc.ledger import wording
from ctxgc.ledger.evidence import disagreement
from ctxgc.ledger.log import Log
from ctxgc.ledger.vault import Vault

Struct = TypeVar("Struct", bound=msgspec.Struct)
Slices = frozenset[tuple[str, int, int, str, str, str]]


def claim(log: Log, draft: Fact) -> Fact:
    """Book what somebody says. The same claim again is the one that is there."""
    draft = _cleaned(draft)

    def make(books: Books) -> list[Fact]:
        if _same_claim(log, draft):
            return []
        return [msgspec.structs.replace(draft, id=books.next_claim(), at=log.clock())]

    log.add(make)
    found = _same_claim(log, draft)
    assert found is not None
    return found


def post(log: Log, vault: Vault, draft: Fact, supersedes: str = "") -> Fact:
    """Book a verified fact, and with it that it overturns another one.

    A fact with the same words, evidence and criticality that is current is returned as it is. Raises ``LedgerError``
    for evidence that is missing, or that the voucher does not bear out.
    """
    draft = _cleaned(draft)
    _look_again(vault, draft.source)
    booked: list[Fact] = []

    def make(books: Books) -> list[Fact | Supersession]:
        known = _same_fact(log, books, draft)
        settled = known is not None and draft.of in ("", known.of)
        if known is not None and settled:
            booked[:] = [known]
            return _overturn(log, books, supersedes, known)
        booked[:] = [msgspec.structs.replace(draft, id=books.next_fact(), at=log.clock())]
        # The same words for another claim: the new one stands in the place of the old one, or there were two of them.
        old = supersedes or (known.id if known else "")
        return [booked[0], *([Supersession(at=booked[0].at, old=old, new=booked[0].id)] if old else [])]

    log.add(make)
    return booked[0]


def _overturn(log: Log, books: Books, old: str, new: Fact) -> list[Fact | Supersession]:
    """The supersession that is still to be booked for a fact that is there."""
    if not old or old == new.id or books.superseded_by.get(old) == new.id:
        return []
    return [Supersession(at=log.clock(), old=old, new=new.id)]


def _look_again(vault: Vault, source: Sequence[Evidence]) -> None:
    contents: dict[str, tuple[Artifact, bytes]] = {}
    for evidence in source:
        handle = evidence.artifact
        if handle not in contents:
            try:
                contents[handle] = vault.get(handle), vault.read(handle)
            except UnknownHandle as error:
                raise LedgerError(f"the evidence does not hold: {error}") from error
        wrong = disagreement(evidence, *contents[handle])
        if wrong:
            raise LedgerError(f"the evidence does not hold: {wrong}")


def _cleaned(draft: Fact) -> Fact:
    source = tuple(_with_clean(one, ("verifier", "version", "asked")) for one in draft.source)
    fields = ("statement", "author", "pointer", "quote", "criticality", "of")
    return msgspec.structs.replace(_with_clean(draft, fields), source=source)


def _with_clean(value: Struct, fields: Sequence[str]) -> Struct:
    return msgspec.structs.replace(value, **{name: wording.clean(getattr(value, name)) for name in fields})


def _same_claim(log: Log, draft: Fact) -> Fact | None:
    """The newest claim of the same author in the same words, with the same pointer and quote."""
    for known in reversed(log.stating(draft.statement)):
        if known.type == draft.type and _claimed(known) == _claimed(draft):
            return known
    return None


def _claimed(fact: Fact) -> tuple[str, ...]:
    return fact.author, fact.pointer, fact.quote, fact.criticality


def _same_fact(log: Log, books: Books, draft: Fact) -> Fact | None:
    for known in reversed(log.stating(draft.statement)):
        same = known.type == draft.type and known.criticality == draft.criticality
        if same and known.id not in books.superseded_by and _slices(known) == _slices(draft):
            return known
    return None


def _slices(fact: Fact) -> Slices:
    return frozenset((one.artifact, one.first, one.last, one.slice, one.verifier, one.asked) for one in fact.source)
