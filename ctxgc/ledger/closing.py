"""Closing a period: what is critical is reconciled, the facts that stand are listed, and the next period begins.

Rule: a period closes on what agrees, or not at all; and its balance is exactly the facts that are current then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxgc.core.bookings import Artifact, Period, Reconciliation
from ctxgc.core.books import Books
from ctxgc.core.opening import Opening, full_list
from ctxgc.errors import LedgerError
from ctxgc.ledger import wording
from ctxgc.ledger.log import TRIES, Log
from ctxgc.ledger.reconcile import MATCH, Report, Row, reconciled
from ctxgc.ledger.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxgc.ledger.ledger import Ledger

_SHOWN = 5
"""Facts that a refusal names; there may be more that do not agree."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A period that is closed, and the ledger that it is one of."""

    period: Period
    ledger: Ledger

    @property
    def id(self) -> str:
        """Its number, such as ``P4``."""
        return self.period.id

    @property
    def at(self) -> float:
        """When it was closed, in Unix time."""
        return self.period.at

    @property
    def milestone(self) -> str:
        """What was done."""
        return self.period.milestone

    @property
    def window_from(self) -> int:
        """The position of the first entry it covers."""
        return self.period.window_from

    @property
    def window_to(self) -> int:
        """The position behind the last entry it covers."""
        return self.period.window_to

    @property
    def opening_balance_ref(self) -> str:
        """The handle of the full list of its facts."""
        return self.period.opening_balance_ref

    @property
    def balance(self) -> tuple[str, ...]:
        """The ids of its facts, in the order they were posted."""
        return self.period.balance

    @property
    def lossy(self) -> bool:
        """Whether claims were left behind that nobody had verified."""
        return self.period.lossy

    def opening(self, budget: int, pins: Sequence[str] = (), count: Callable[[str], int] | None = None) -> Opening:
        """The opening balance within ``budget`` tokens, by the books as they are now; see `Ledger.opening`."""
        return self.ledger.opening(budget, pins, count)


def closed(log: Log, vault: Vault, root: str, milestone: str) -> Period:
    """Close the period that is open. Raises ``LedgerError`` where a critical fact does not agree, and says which."""
    agreed: set[str] = set()
    milestone = wording.clean(milestone)

    def make(books: Books) -> list[Period]:
        for _ in range(TRIES):
            _reconcile(log, books, root, agreed)
            due, balance = books.next_period(), books.balance()
            listed = vault.store(ref=f"opening balance of {due}", content=full_list(books), kind="query")
            # What was booked here may have let others in first; then it is not the list of what stands now.
            if (books.next_period(), books.balance()) == (due, balance):
                return [_period(books, log.clock(), milestone, listed)]
        raise LedgerError("others are always faster to add to this ledger: close when there are fewer of them")

    (period,) = log.add(make)
    assert isinstance(period, Period)
    return period


def _period(books: Books, at: float, milestone: str, listed: Artifact) -> Period:
    first, last = books.window()
    return Period(
        at=at,
        id=books.next_period(),
        milestone=milestone,
        window_from=first,
        window_to=last,
        opening_balance_ref=listed.id,
        balance=books.balance(),
        lossy=bool(books.claims()),
    )


def _reconcile(log: Log, books: Books, root: str, agreed: set[str]) -> None:
    """Reconcile the critical facts that have not been yet, and book the result."""
    facts = [fact for fact in books.current() if fact.criticality == "critical" and fact.id not in agreed]
    if not facts:
        return
    report = Report(tuple(reconciled(log, books, facts, root)), whole=False)
    book(log, report)
    if report.critical:
        raise LedgerError(f"the period stays open: {'; '.join(map(_found, report.critical[:_SHOWN]))}")
    agreed |= {fact.id for fact in facts}


def book(log: Log, report: Report) -> None:
    """Book what a reconciliation found of facts."""
    findings = {row.fact: _line(row) for row in report.findings if row.fact}
    match = sum(row.state == MATCH for row in report.rows)
    log.add(lambda _books: [Reconciliation(at=log.clock(), match=match, findings=findings, whole=report.whole)])


def _line(row: Row) -> str:
    return f"{row.state}: {wording.clean(row.detail)}"


def _found(row: Row) -> str:
    return f"{row.fact or 'the log'} is {row.state} ({row.detail})"
