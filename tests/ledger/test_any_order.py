"""Whatever is booked in whatever order, by whom, with faults in between: balances hold only what was verified."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ctxgc.errors import LedgerError, NotVerified
from ctxgc.ledger import open_ledger
from ctxgc.store import open_store

from .test_log import Faulty

NUMBERS = st.integers(0, 6)


class AnyOrder(RuleBasedStateMachine):
    """Two hosts on one store, one of which it sometimes fails."""

    def __init__(self) -> None:
        super().__init__()
        self.store = open_store("sqlite://")
        self.faulty = Faulty(self.store)
        self.hosts = [open_ledger(self.faulty), open_ledger(self.store)]  # type: ignore[arg-type]
        self.borne_out: set[str] = set()

    @rule(number=NUMBERS, host=st.integers(0, 1))
    def claim(self, number: int, host: int) -> None:
        self.hosts[host].claim(f"{number} is so")

    @rule(number=NUMBERS, host=st.integers(0, 1), true=st.booleans(), old=NUMBERS, critical=st.booleans())
    def post(self, number: int, host: int, true: bool, old: int, critical: bool) -> None:
        ledger, statement = self.hosts[host], f"{number} is so"
        kept = ledger.vault.store(ref="q", content=f"{number} is so" if true else "nothing is", kind="query")
        claims = [claim.id for claim in ledger.books.claims() if claim.statement == statement]
        try:
            evidence = [ledger.verify(kept, statement)]
            self.borne_out.add(statement)
            of, supersedes = (claims or [""])[0], f"F{old}" if old else ""
            ledger.post(statement, evidence, "critical" if critical else "normal", of, supersedes)
        except NotVerified:
            assert not true
        except LedgerError:
            assert old  # there is no such fact, or it is overturned already

    @rule(old=NUMBERS, new=NUMBERS, host=st.integers(0, 1))
    def supersede(self, old: int, new: int, host: int) -> None:
        try:
            self.hosts[host].supersede(f"F{old}", f"F{new}" if new else "")
        except LedgerError:
            pass

    @rule(fact=NUMBERS, host=st.integers(0, 1))
    def restore(self, fact: int, host: int) -> None:
        try:
            self.hosts[host].restore(f"F{fact}")
        except LedgerError:
            pass

    @rule(host=st.integers(0, 1))
    def close(self, host: int) -> None:
        ledger = self.hosts[host]
        closed = ledger.close()
        assert list(closed.balance) == [fact.id for fact in ledger.books.current()]
        assert ledger.trace(closed.balance[-1]).agree if closed.balance else True

    @rule(faults=st.lists(st.sampled_from(["lost", "stored"]), max_size=3))
    def fail(self, faults: list[str]) -> None:
        self.faulty.faults = faults

    @rule()
    def crash(self) -> None:
        self.hosts[0] = open_ledger(self.faulty)  # type: ignore[arg-type]

    @invariant()
    def only_what_was_verified_is_in_the_books(self) -> None:
        one, two = (host.books for host in self.hosts)
        assert (one.facts, one.superseded_by, one.periods) == (two.facts, two.superseded_by, two.periods)
        current = one.current()
        assert {fact.statement for fact in current} <= self.borne_out
        assert all(fact.type == "verified" and fact.source for fact in current)
        for name in {name for period in one.periods for name in period.balance}:
            assert self.hosts[1].trace(name).agree

    def teardown(self) -> None:
        assert self.hosts[1].reconcile(record=False).ok
        assert list(self.store.verify()) == []
        self.store.close()


AnyOrder.TestCase.settings = settings(max_examples=25, stateful_step_count=25)
TestAnyOrder = AnyOrder.TestCase
