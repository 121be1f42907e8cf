"""The books: only verified facts stand, nothing that was overturned does, and a log that breaks a rule is not taken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from ctxgc.core.bookings import AnyBooking, Fact, Reconciliation, Restoration, Supersession
from ctxgc.core.books import Books, fold
from ctxgc.core.journal import Gap
from ctxgc.errors import LedgerError

from .bookkeeping import Log, evidence, groundless, ids, overturned, replaced, seen, told, voucher


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_fact_stands_in_the_books_and_a_claim_does_not(log):
    claim, fact = log.claim(), log.post()
    assert (claim, fact) == ("C1", "F1")
    assert ids(log.books.current()) == ["F1"]
    assert ids(log.books.claims()) == ["C1"]
    assert list(log.books.facts) == ["C1", "F1"]
    assert log.books.posted_at == {"C1": 1, "F1": 2}
    assert (log.books.next_fact(), log.books.next_claim(), log.books.next_period()) == ("F2", "C2", "P1")


def test_a_claim_that_was_verified_is_no_open_claim_any_more(log):
    kept, verified = log.claim("a"), log.claim("b")
    log.post("b", of=verified)
    assert ids(log.books.claims()) == [kept]


def test_an_overturned_fact_is_out_of_the_balance_and_still_in_the_books(log):
    old, new = log.post("12 tests pass"), log.post("13 tests pass")
    log.supersede(old, new)
    assert log.books.balance() == (new,)
    assert (log.books.status(old), log.books.status(new)) == ("superseded", "current")
    assert log.books.facts[old].statement == "12 tests pass"
    assert log.books.superseded_by == {old: new}
    assert log.books.history(old) == log.books.history(new) == (Supersession(1.0, old=old, new=new),)


def test_a_withdrawn_fact_has_nothing_in_its_place(log):
    fact = log.post()
    log.supersede(fact)
    assert log.books.balance() == ()
    assert log.books.superseded_by == {fact: ""}


def test_a_restored_fact_supersedes_the_one_that_had_superseded_it(log):
    old, new = log.post(), log.post()
    log.supersede(old, new)
    log.restore(old)
    assert log.books.balance() == (old,)
    assert log.books.superseded_by == {new: old}
    assert [type(entry) for entry in log.books.history(old)] == [Supersession, Restoration]


def test_rolling_back_over_several_corrections_leaves_one_fact_of_the_matter(log):
    first, second, third = log.post(), log.post(), log.post()
    log.supersede(first, second)
    log.supersede(second, third)
    log.restore(first)
    assert log.books.balance() == (first,)
    assert log.books.superseded_by == {second: third, third: first}


def test_of_a_matter_that_was_withdrawn_and_restored_only_one_fact_is_current(log):
    first, second = log.post(), log.post()
    log.supersede(first, second)
    log.supersede(second)
    log.restore(first)
    assert log.books.balance() == (first,)
    log.restore(second)
    assert log.books.balance() == (second,)


def test_the_balance_is_in_the_order_of_posting_whatever_was_restored(log):
    first, second, third = log.post(), log.post(), log.post()
    log.supersede(first)
    log.restore(first)
    assert log.books.balance() == (first, second, third)


def test_periods_follow_one_another_without_gaps(log):
    log.post()
    one = log.close()
    log.post()
    two = log.close()
    assert (one.id, one.window_from, one.window_to, one.balance) == ("P1", 0, 2, ("F1",))
    assert (two.id, two.window_from, two.window_to, two.balance) == ("P2", 2, 4, ("F1", "F2"))
    assert log.books.periods == [one, two]


def test_long_lines_of_corrections_are_rolled_back_in_one_step_each(log):
    facts = [log.post() for _ in range(3_000)]
    for old, new in pairwise(facts):
        log.supersede(old, new)
    for fact in facts[:-1]:
        log.restore(fact)
        assert log.books.balance() == (fact,)


class Unread(dict):
    """A table that can be asked for one key and not be gone through."""

    def __iter__(self):
        raise AssertionError("the whole table was read")

    keys = values = items = __iter__


def test_taking_an_entry_reads_no_table_through(log):
    first, second = log.post(), log.post()
    for name in ("facts", "artifacts", "superseded_by", "posted_at", "_verified", "_unverified"):
        setattr(log.books, name, Unread(getattr(log.books, name)))
    log.supersede(first, second)
    log.restore(first)
    log.post(of=log.claim())
    with pytest.raises(AssertionError, match="whole table"):
        log.books.balance()


# What is refused


NOT_CURRENT = "not the facts that are current"
Make = Callable[[Log], AnyBooking]
REFUSED: dict[str, tuple[Make, str]] = {
    "a fact without evidence": (lambda log: log.fact(source=()), "F3 has no evidence"),
    "an unknown voucher": (
        lambda log: log.fact(source=(evidence(voucher(ref="other")),)), "which is not there: store it first",
    ),
    "bytes outside the voucher": (lambda log: seen(log, last=11), "bytes 0 to 11 of .* which has 10"),
    "bytes before the voucher": (lambda log: seen(log, first=-1), "bytes -1 to 10"),
    "bytes the wrong way round": (lambda log: seen(log, first=5, last=4), "bytes 5 to 4"),
    "no bytes at all": (lambda log: seen(log, first=4, last=4), "bytes 4 to 4"),
    "lines outside the voucher": (lambda log: seen(log, line_last=2), "lines 1 to 2 of .* which has 1"),
    "line 0": (lambda log: seen(log, line_first=0), "lines 0 to 1"),
    "no hash": (lambda log: seen(log, slice="12 passed"), "which verifier saw what"),
    "no verifier": (lambda log: seen(log, verifier=""), "which verifier saw what"),
    "the whole with another hash": (lambda log: seen(log, slice="sha256:" + "0" * 64), "another hash than it has"),
    "one good evidence and a bad one": (
        lambda log: log.fact(source=(evidence(log.voucher), evidence(voucher(ref="other")))), "is not there",
    ),
    "an id that is taken": (lambda log: replaced(log.fact(), id="F1"), "F1 comes where F3 is next"),
    "an id that is not next": (lambda log: replaced(log.fact(), id="F9"), "F9 comes where F3 is next"),
    "a claim with the id of a fact": (lambda log: claimed(id="F3"), "F3 comes where C2 is next"),
    "a claim with evidence": (lambda log: claimed(source=(evidence(log.voucher),)), "C2 is a claim"),
    "a claim out of a claim": (lambda log: claimed(of="C1"), "C2 is a claim"),
    "another type of fact": (lambda log: claimed(type="rumour"), "rumour is no type of fact"),
    "a fact out of an unknown claim": (lambda log: log.fact(of="C9"), "from C9, which is no claim"),
    "a fact out of a fact": (lambda log: log.fact(of="F1"), "from F1, which is no claim"),
    "a fact that states nothing": (lambda log: log.fact(" \n"), "F3 states nothing"),
    "a fact that shows nothing": (lambda log: log.fact("\u200b\x1b \u202e\u2028"), "F3 states nothing"),
    "an unknown criticality": (lambda log: log.fact(criticality="vital"), "criticality vital"),
    "an unknown author": (lambda log: log.fact(author="user"), "author user"),
    "a voucher that is there": (lambda log: log.voucher, "is there already"),
    "a voucher without a handle": (lambda log: replaced(voucher(b"b"), id="A1"), "A1 is no handle"),
    "a voucher of another type": (lambda log: replaced(voucher(b"b"), type="rumour"), "rumour is no type"),
    "a voucher without a hash": (lambda log: replaced(voucher(b"b"), hash="md5:0"), "no sha256 hash"),
    "a voucher of negative size": (lambda log: replaced(voucher(b"b"), size=-1), "no sha256 hash, size"),
    "an unknown fact superseded": (lambda log: overturned("F9"), "no fact F9"),
    "an unknown fact supersedes": (lambda log: overturned("F1", "F9"), "no fact F9"),
    "nothing superseded": (lambda log: overturned("", "F1"), "no fact ''"),
    "a claim superseded": (lambda log: overturned("C1", "F1"), "C1 is a claim"),
    "a claim supersedes": (lambda log: overturned("F1", "C1"), "C1 is a claim"),
    "a fact supersedes itself": (lambda log: overturned("F1", "F1"), "by itself"),
    "a fact superseded twice": (lambda log: overturned("F2", "F1"), r"F2 is superseded already by F1"),
    "a circle": (lambda log: overturned("F1", "F2"), r"F2 is superseded already by F1"),
    "a current fact restored": (lambda log: Restoration(1.0, fact="F1"), "F1 is current already"),
    "a claim restored": (lambda log: Restoration(1.0, fact="C1"), "C1 is a claim"),
    "an unknown fact restored": (lambda log: Restoration(1.0, fact="F9"), "no fact F9"),
    "a period out of turn": (lambda log: log.period(id="P2"), "P2 comes where P1 is next"),
    "a period that leaves entries out": (lambda log: log.period(window_from=1), "where 0 to 5 is open"),
    "a period that goes on": (lambda log: log.period(window_to=6), "where 0 to 5 is open"),
    "a period without its list": (lambda log: log.period(opening_balance_ref="a" * 16), "which is no voucher"),
    "a balance with an overturned fact": (lambda log: log.period(balance=("F1", "F2")), NOT_CURRENT),
    "a balance with a claim": (lambda log: log.period(balance=("F1", "C1")), NOT_CURRENT),
    "a balance without a fact": (lambda log: log.period(balance=()), NOT_CURRENT),
    "a balance with a fact twice": (lambda log: log.period(balance=("F1", "F1")), NOT_CURRENT),
    "a reconciliation of nothing known": (lambda log: Reconciliation(1.0, match=0, findings={"F9": "drift"}), "F9"),
    "a reconciliation of a claim": (lambda log: Reconciliation(1.0, match=0, findings={"C1": "drift"}), "C1"),
    "a finding that is none": (lambda log: Reconciliation(1.0, match=0, findings={"F1": "fine"}), "F1 was found fine"),
    "less than nothing that agrees": (lambda log: Reconciliation(1.0, match=-1), "-1 facts"),
    "an entry of a session": (lambda log: Gap(1.0, calls=1, since=0.0, reason="full"), "Gap is no entry of a ledger"),
}  # fmt: skip


def claimed(**more: object) -> Fact:
    return Fact(1.0, **({"id": "C2", "type": "claim", "statement": "all is well"} | more))


@pytest.fixture
def used(log) -> Log:
    """A ledger with a claim, a current fact F1 and a fact F2 that F1 has superseded."""
    log.claim()
    log.post()
    log.post()
    log.supersede("F2", "F1")
    return log


@pytest.mark.parametrize("what", REFUSED)
def test_an_entry_that_breaks_a_rule_is_refused_says_which_and_changes_nothing(used, what):
    make, words = REFUSED[what]
    before = told(used.books)
    entry = make(used)
    with pytest.raises(LedgerError, match=words) as refused:
        used.books.apply(entry)
    assert "\n" not in str(refused.value)
    assert told(used.books) == before
    with pytest.raises(LedgerError):
        used.books.check(entry)


@pytest.mark.parametrize(
    "make",
    [
        lambda log: log.fact(),
        lambda log: log.fact(of="C1", criticality="critical", author="agent"),
        lambda log: seen(log, first=3, last=9, slice="sha256:" + "0" * 64),
        lambda log: claimed(),
        lambda log: voucher(b""),
        lambda log: overturned("F1"),
        lambda log: Restoration(1.0, fact="F2"),
        lambda log: log.period(),
        lambda log: Reconciliation(1.0, match=2, findings={"F2": "drift: the file has changed"}),
    ],
)
def test_the_same_entries_without_the_lie_are_taken(used, make):
    before = used.books.length
    used.put(make(used))
    assert used.books.length == before + 1


def test_the_whole_of_an_empty_voucher_can_be_evidence(log):
    empty = log.put(voucher(b"", "make -s"))
    assert log.post("make says nothing", source=(evidence(empty, b""),)) == "F1"


@pytest.mark.parametrize("name", ["F1\nF2", "\ud800", "x" * 1_000_000, "\x1b[2J"])
def test_a_forged_name_cannot_break_the_line_of_the_error(used, name):
    for entry in (overturned(name), Restoration(1.0, fact=name), claimed(id=name), claimed(type=name)):
        with pytest.raises(LedgerError) as refused:
            used.books.check(entry)
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 400


class Trusting(Books):
    """The defect: what comes from a log is believed."""

    def check(self, entry: AnyBooking) -> None:
        pass


def test_books_without_the_rules_would_take_a_forged_log(used):
    forged = [*used.entries, overturned("F1", "F2"), groundless("F3")]
    trusting = Trusting()
    for entry in forged:
        trusting.apply(entry)
    assert trusting.superseded_by == {"F2": "F1", "F1": "F2"}
    assert trusting.facts["F3"].source == ()
    assert "F3" in trusting.balance()
    with pytest.raises(LedgerError):
        fold(forged)


def test_a_log_with_an_entry_left_out_or_twice_is_not_folded(used):
    used.close()
    for number in range(len(used.entries)):
        for forged in (
            [*used.entries[:number], *used.entries[number + 1 :]],
            [*used.entries[: number + 1], *used.entries[number:]],
        ):
            if number < len(used.entries) - 1 or len(forged) > len(used.entries):
                with pytest.raises(LedgerError):
                    fold(forged)
    assert told(fold(used.entries)) == told(used.books)


@pytest.mark.parametrize("name", ["F9", "C1", ""])
def test_only_facts_have_a_status(used, name):
    with pytest.raises(LedgerError, match="there is no fact"):
        used.books.status(name)
    assert used.books.history(name) == ()
