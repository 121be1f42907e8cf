"""The books: all that a ledger knows, as a fold of its entries.

Rule: nothing here is changed but by ``apply``, and ``apply`` takes no entry that the rules refuse: a forged log cannot
be folded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from ctxgc.core._booking_rules import CLAIM, refusal, shown
from ctxgc.core._matters import Matters
from ctxgc.core.bookings import (
    AnyBooking,
    Artifact,
    Fact,
    Period,
    Reconciliation,
    Restoration,
    Supersession,
)
from ctxgc.errors import LedgerError

CURRENT, SUPERSEDED = "current", "superseded"


@dataclass(frozen=True, slots=True)
class News:
    """What has changed between a position and now, as it is now; each in the order of posting.

    ``superseded`` are facts that are overturned, each with the one that stands in its place (None: withdrawn).
    """

    posted: tuple[Fact, ...] = ()
    superseded: tuple[tuple[Fact, Fact | None], ...] = ()
    restored: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.posted or self.superseded or self.restored)


class Books:
    """The state of a ledger. Each entry takes constant time on average, but for what a balance lists.

    ``length`` is how many entries were taken, and so the position of the next one. ``facts`` holds claims too, in the
    order of posting. ``superseded_by`` has the facts that are not current: by which one, or ``""`` if withdrawn.
    ``posted_at`` has the position of each fact's entry, ``reconciled`` is the newest reconciliation.

    Facts that overturned one another are about one matter, and at most one of them is current. A restored fact
    supersedes the one at the end of its matter, whether that is current or withdrawn.
    """

    def __init__(self) -> None:
        self.length = 0
        self.artifacts: dict[str, Artifact] = {}
        self.facts: dict[str, Fact] = {}
        self.superseded_by: dict[str, str] = {}
        self.periods: list[Period] = []
        self.posted_at: dict[str, int] = {}
        self.reconciled: Reconciliation | None = None
        self._verified: dict[str, Fact] = {}
        self._unverified: dict[str, Fact] = {}
        self._claims = 0
        self._matters = Matters()
        self._history: dict[str, list[Supersession | Restoration]] = {}
        # Each fact's turns from current to superseded and back, by position; and all of them in one row.
        self._turns: dict[str, list[int]] = {}
        self._turned: list[tuple[int, str]] = []
        self._balance: tuple[str, ...] | None = ()

    def check(self, entry: AnyBooking) -> None:
        """Raises ``LedgerError`` for an entry that cannot be the next one, with one line that says why."""
        why = refusal(self, entry)
        if why:
            raise LedgerError(why)

    def apply(self, entry: AnyBooking) -> None:
        """Take one entry. Raises ``LedgerError`` as ``check`` does, and then nothing has changed."""
        self.check(entry)
        match entry:
            case Artifact():
                self.artifacts[entry.id] = entry
            case Fact():
                self._post(entry)
            case Supersession():
                self._supersede(entry)
            case Restoration():
                self._restore(entry)
            case Period():
                self.periods.append(entry)
            case Reconciliation():
                self.reconciled = entry
        self.length += 1

    def current(self) -> list[Fact]:
        """The verified facts that are not superseded, in the order of posting."""
        return [self.facts[name] for name in self.balance()]

    def balance(self) -> tuple[str, ...]:
        """The ids of the current facts, in the order of posting: what a period that is closed now has to list."""
        if self._balance is None:
            self._balance = tuple(name for name in self._verified if name not in self.superseded_by)
        return self._balance

    def window(self) -> tuple[int, int]:
        """The positions that a period which is closed now has to cover: the first one, and the one after the last."""
        return (self.periods[-1].window_to if self.periods else 0), self.length

    def claims(self) -> list[Fact]:
        """The claims that no fact has come from, in the order of posting."""
        return list(self._unverified.values())

    def status(self, fact: str) -> str:
        """``current`` or ``superseded``. Raises ``LedgerError`` for what is no fact, claims included."""
        if fact not in self._verified:
            raise LedgerError(f"there is no fact {shown(fact)}")
        return SUPERSEDED if fact in self.superseded_by else CURRENT

    def history(self, fact: str) -> tuple[Supersession | Restoration, ...]:
        """The entries that overturned or restored a fact, or let it stand in another's place, oldest first."""
        return tuple(self._history.get(fact, ()))

    def next_fact(self) -> str:
        """The id of the next verified fact."""
        return f"F{len(self._verified) + 1}"

    def next_claim(self) -> str:
        """The id of the next claim."""
        return f"C{self._claims + 1}"

    def next_period(self) -> str:
        """The id of the next period."""
        return f"P{len(self.periods) + 1}"

    def since(self, position: int) -> News:
        """What the entries from ``position`` on have changed, in the end.

        A fact that was posted and superseded among them is told as what stands in its place, where that is told as
        posted or restored; else as superseded. One that was superseded and restored is not told.
        """
        start = bisect_left(self._turned, (position, ""))
        turned = sorted({name for _, name in self._turned[start:]}, key=self.posted_at.__getitem__)
        before = {name: bisect_left(self._turns[name], position) for name in turned}
        standing = [name for name in turned if name not in self.superseded_by]
        posted = [name for name in standing if not before[name]]
        # An even number of turns: it had been posted and superseded again.
        restored = [name for name in standing if before[name] and before[name] % 2 == 0]
        told = {*posted, *restored}
        gone = [name for name in turned if name in self.superseded_by]
        gone = [name for name in gone if before[name] % 2 or (not before[name] and self._matters.end(name) not in told)]
        pairs = tuple((self.facts[name], self._in_place(name)) for name in gone)
        return News(tuple(map(self.facts.__getitem__, posted)), pairs, tuple(map(self.facts.__getitem__, restored)))

    def _in_place(self, name: str) -> Fact | None:
        """The current fact that stands in the place of a superseded one."""
        end = self._matters.end(name)
        return None if end in self.superseded_by else self.facts[end]

    def _post(self, entry: Fact) -> None:
        self.facts[entry.id] = entry
        self.posted_at[entry.id] = self.length
        if entry.type == CLAIM:
            self._claims += 1
            self._unverified[entry.id] = entry
            return
        self._unverified.pop(entry.of, None)
        self._verified[entry.id] = entry
        self._matters.add(entry.id)
        self._turn(entry.id)

    def _supersede(self, entry: Supersession) -> None:
        self._note(entry, entry.old, entry.new)
        self.superseded_by[entry.old] = entry.new
        self._turn(entry.old)
        if entry.new:
            self._matters.join(entry.old, entry.new)

    def _restore(self, entry: Restoration) -> None:
        fact, end = entry.fact, self._matters.end(entry.fact)
        self._note(entry, fact, end)
        if end != fact:
            if end not in self.superseded_by:
                self._turn(end)
            self.superseded_by[end] = fact
            self._matters.join(end, fact)
        del self.superseded_by[fact]
        self._turn(fact)

    def _turn(self, fact: str) -> None:
        self._balance = None
        self._turns.setdefault(fact, []).append(self.length)
        self._turned.append((self.length, fact))

    def _note(self, entry: Supersession | Restoration, *facts: str) -> None:
        for fact in dict.fromkeys(filter(None, facts)):
            self._history.setdefault(fact, []).append(entry)


def fold(entries: Iterable[AnyBooking]) -> Books:
    """The books that a log leads to. Raises ``LedgerError`` for one that was forged or cut."""
    books = Books()
    for entry in entries:
        books.apply(entry)
    return books
