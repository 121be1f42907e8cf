"""Books in any order: claims, posts, corrections, closes and forgeries, beside a model without any index."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ctxgc.core.bookings import Restoration
from ctxgc.core.books import Books, News, fold
from ctxgc.errors import LedgerError

from .bookkeeping import Log, groundless, ids, overturned, replaced, seen, told


@dataclass
class Model:
    """The same without any index: which facts are current, and which are about one matter."""

    current: set[str] = field(default_factory=set)
    matters: list[set[str]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def matter(self, fact: str) -> set[str]:
        return next(matter for matter in self.matters if fact in matter)

    def post(self, fact: str, of: str) -> None:
        self.current.add(fact)
        self.matters.append({fact})
        self.open = [claim for claim in self.open if claim != of]

    def supersede(self, old: str, new: str) -> None:
        self.current.discard(old)
        if new and self.matter(old) is not self.matter(new):
            both = self.matter(old) | self.matter(new)
            self.matters = [matter for matter in self.matters if not matter <= both] + [both]

    def restore(self, fact: str) -> None:
        self.current -= self.matter(fact)
        self.current.add(fact)


class Bookkeeping(RuleBasedStateMachine):
    """Claims, posts, corrections, closes and forgeries in any order, beside the model."""

    log_class = Log

    def __init__(self) -> None:
        super().__init__()
        self.log = self.log_class()
        self.model = Model()
        self.balances: list[tuple[str, ...]] = []

    @rule()
    def claim(self) -> None:
        self.model.open.append(self.log.claim())

    @rule(data=st.data(), critical=st.booleans())
    def post(self, data: st.DataObject, critical: bool) -> None:
        of = data.draw(st.sampled_from(["", *(name for name in self.log.books.facts if name[0] == "C")]))
        self.model.post(self.log.post(of=of, criticality="critical" if critical else "normal"), of)

    @precondition(lambda self: self.model.current)
    @rule(data=st.data())
    def supersede(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(sorted(self.model.current)))
        new = data.draw(st.sampled_from(["", *sorted(self.model.current - {old})]))
        self.log.supersede(old, new)
        self.model.supersede(old, new)

    @precondition(lambda self: self.log.books.superseded_by)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        fact = data.draw(st.sampled_from(sorted(self.log.books.superseded_by)))
        self.log.restore(fact)
        self.model.restore(fact)

    @rule()
    def close(self) -> None:
        self.balances.append(self.log.close().balance)

    @rule(data=st.data())
    def forge(self, data: st.DataObject) -> None:
        names = st.sampled_from(["", "F1", "F2", "F99", "C1", *self.log.books.facts])
        forged = data.draw(
            st.one_of(
                st.builds(overturned, names, names),
                st.builds(lambda fact: Restoration(1.0, fact=fact), names),
                st.builds(lambda name: replaced(self.log.fact(), id=name), names),
                st.builds(lambda last: seen(self.log, last=last), st.integers(11, 99)),
                st.builds(lambda facts: self.log.period(balance=tuple(facts)), st.lists(names, max_size=4)),
                st.just(groundless(self.log.books.next_fact())),
            )
        )
        before = told(self.log.books)
        try:
            Books.check(self.log.books, forged)
        except LedgerError:
            with pytest.raises(LedgerError):
                self.log.books.apply(forged)
            assert told(self.log.books) == before

    @invariant()
    def the_books_are_what_the_model_says(self) -> None:
        books = self.log.books
        assert set(books.balance()) == self.model.current
        assert ids(books.claims()) == self.model.open
        assert all(len(matter & self.model.current) <= 1 for matter in self.model.matters)
        assert {name for name in books.facts if name[0] == "F"} - self.model.current == set(books.superseded_by)

    @invariant()
    def balances_hold_verified_facts_with_evidence_in_the_order_of_posting(self) -> None:
        books = self.log.books
        assert [period.balance for period in books.periods] == self.balances
        for fact in (books.facts[name] for balance in (*self.balances, books.balance()) for name in balance):
            assert fact.type == "verified"
            assert all(one.artifact in books.artifacts for one in fact.source)
            assert fact.source
        assert list(books.balance()) == sorted(books.balance(), key=books.posted_at.__getitem__)

    @invariant()
    def nobody_supersedes_in_a_circle(self) -> None:
        assert all(standing(self.log.books, name) != name for name in self.log.books.superseded_by)

    def teardown(self) -> None:
        assert told(fold(self.log.entries)) == told(self.log.books)
        for position in range(len(self.log.entries) + 1):
            assert self.log.books.since(position) == compared(self.log, position)


def standing(books: Books, name: str) -> str:
    """What stands in the place of a fact, found step by step; empty where it was withdrawn."""
    steps = 0
    while name and name in books.superseded_by:
        name = books.superseded_by[name]
        steps += 1
        assert steps <= len(books.facts)
    return name


def compared(log: Log, position: int) -> News:
    """The news since a position, by comparing the books there with those at the end."""
    before, now = fold(log.entries[:position]), log.books
    posted = [fact for fact in now.current() if fact.id not in before.facts]
    restored = [fact for fact in now.current() if fact.id in before.superseded_by]
    gone = [now.facts[name] for name in now.facts if name in now.superseded_by and name not in before.superseded_by]
    pairs = [(fact, now.facts.get(standing(now, fact.id))) for fact in gone]
    kept = [(old, new) for old, new in pairs if old.id in before.facts or new not in (*posted, *restored)]
    return News(tuple(posted), tuple(kept), tuple(restored))


TestInAnyOrder = Bookkeeping.TestCase
TestInAnyOrder.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class Forgetful(Books):
    """The defect: a restored fact leaves the one that had superseded it where it was."""

    def _restore(self, entry: Restoration) -> None:
        del self.superseded_by[entry.fact]
        self._turn(entry.fact)


def test_the_model_notices_books_that_restore_only_half() -> None:
    machine = Bookkeeping()
    machine.log.books = Forgetful()
    machine.log.put(machine.log.voucher)
    for _ in range(2):
        machine.model.post(machine.log.post(), "")
    machine.log.supersede("F1", "F2")
    machine.model.supersede("F1", "F2")
    machine.the_books_are_what_the_model_says()
    machine.log.restore("F1")
    machine.model.restore("F1")
    with pytest.raises(AssertionError):
        machine.the_books_are_what_the_model_says()
