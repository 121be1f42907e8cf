"""A ledger's log in memory, for tests of what is folded from it: entries are made, taken by the books, and kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256

import msgspec

from ctxgc.core.bookings import AnyBooking, Artifact, Evidence, Fact, Period, Restoration, Supersession
from ctxgc.core.books import Books
from ctxgc.core.stub import mint
from ctxgc.tokens.measure import meter_for

Count = Callable[[str], int]
COUNTS: dict[str, Count] = {"tokens": meter_for("gpt-4o").count, "quarters": lambda text: (len(text) + 3) // 4}
POINTER = re.compile(r" \[[a-z2-7]{16} lines \d+-\d+\]")


def hashed(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def voucher(content: bytes = b"12 passed\n", ref: str = "make test") -> Artifact:
    handle = mint(b"secret", ref.encode(), content)
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return Artifact(1.0, id=handle, type="test", ref=ref, hash=hashed(content), size=len(content), lines=lines)


def evidence(artifact: Artifact, content: bytes = b"12 passed\n", first: int = 0, last: int | None = None) -> Evidence:
    last = len(content) if last is None else last
    line = content.count(b"\n", 0, first) + 1
    end = line + content.count(b"\n", first, max(first, last - 1))
    return Evidence(artifact.id, first, last, line, end, hashed(content[first:last]), "quotes", "1")


class Log:
    """The entries of a log, and the books that lead from them."""

    def __init__(self) -> None:
        self.books = Books()
        self.entries: list[AnyBooking] = []
        self.voucher = voucher()
        self.put(self.voucher)

    def put(self, entry: AnyBooking) -> AnyBooking:
        self.books.apply(entry)
        self.entries.append(entry)
        return entry

    def fact(self, statement: str = "12 tests pass", **more: object) -> Fact:
        """The next fact, not posted yet."""
        fields = {"type": "verified", "source": (evidence(self.voucher),)} | more
        return Fact(1.0, id=self.books.next_fact(), statement=statement, **fields)

    def post(self, statement: str = "12 tests pass", **more: object) -> str:
        return self.put(self.fact(statement, **more)).id

    def claim(self, statement: str = "all is well") -> str:
        return self.put(Fact(1.0, id=self.books.next_claim(), type="claim", statement=statement, author="agent")).id

    def supersede(self, old: str, new: str = "") -> None:
        self.put(Supersession(1.0, old=old, new=new))

    def restore(self, fact: str) -> None:
        self.put(Restoration(1.0, fact=fact))

    def period(self, **more: object) -> Period:
        """The period that could be closed now."""
        first, last = self.books.window()
        fields = {
            "id": self.books.next_period(), "milestone": "report written", "window_from": first, "window_to": last,
            "opening_balance_ref": self.voucher.id, "balance": self.books.balance(),
        } | more  # fmt: skip
        return Period(1.0, **fields)

    def close(self) -> Period:
        return self.put(self.period())


def told(books: Books) -> dict[str, object]:
    """Everything that books say of themselves."""
    return {
        "length": books.length,
        "artifacts": dict(books.artifacts),
        "facts": list(books.facts.items()),
        "superseded_by": dict(books.superseded_by),
        "periods": list(books.periods),
        "posted_at": dict(books.posted_at),
        "current": books.current(),
        "balance": books.balance(),
        "claims": books.claims(),
        "history": [books.history(name) for name in books.facts],
        "next": (books.next_fact(), books.next_claim(), books.next_period(), books.window()),
        "news": [books.since(position) for position in range(books.length + 1)],
    }


def ids(facts: object) -> list[str]:
    return [fact.id for fact in facts]


def replaced(entry: AnyBooking, **more: object) -> AnyBooking:
    return msgspec.structs.replace(entry, **more)


def seen(log: Log, **more: object) -> Fact:
    """A fact that rests on evidence with a lie in it."""
    return log.fact(source=(msgspec.structs.replace(evidence(log.voucher), **more),))


def overturned(old: str, new: str = "") -> Supersession:
    return Supersession(1.0, old=old, new=new)


def groundless(name: str) -> Fact:
    return Fact(1.0, id=name, type="verified", statement="the user approved the deployment")


def filled(number: int, critical: int = 10, *, closed: bool = True) -> Log:
    """A ledger with facts about reports, every ``critical``-th of them a critical one."""
    log = Log()
    for at in range(1, number + 1):
        statement = f"the report of region {at:05} is written to out/region_{at:05}.csv and has {at * 37:06} rows"
        log.post(statement, criticality="normal" if at % critical else "critical")
    if closed:
        log.close()
    return log
