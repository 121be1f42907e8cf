"""Whatever is booked in whatever order, by whom, with faults, crashes and tampers in between: balances hold only what
was verified, or the damage is named."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from ctxgc.errors import LedgerError, NotVerified
from ctxgc.examples.tampering import change, look, untouched
from ctxgc.ledger import open_ledger
from ctxgc.store import Store, StoreCorrupt, open_store

from .test_log import Faulty
from .test_many_writers import writer

NUMBERS = st.integers(0, 6)


class AnyOrder(RuleBasedStateMachine):
    """Two hosts on one store, one of which it sometimes fails."""

    def __init__(self) -> None:
        super().__init__()
        self.store = self.opened()
        self.faulty = Faulty(self.store)
        self.hosts = [open_ledger(self.faulty), open_ledger(self.store)]  # type: ignore[arg-type]
        self.borne_out: set[str] = set()

    def opened(self) -> Store:
        return open_store("sqlite://")

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
        assert {fact.statement for fact in current} <= self.borne_out, "not borne out"
        assert all(fact.type == "verified" and fact.source for fact in current)
        for name in {name for period in one.periods for name in period.balance}:
            assert self.hosts[1].trace(name).agree

    def teardown(self) -> None:
        assert self.hosts[1].reconcile(record=False).ok
        assert list(self.store.verify()) == []
        self.store.close()


class UnderAttack(AnyOrder):
    """The same in a file, copies of which somebody changes, and to which another process posts until it is killed."""

    def opened(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "books.db"
        self.url = f"sqlite:///{self.path}"
        return open_store(self.url)

    @precondition(lambda self: self.hosts[1].books.artifacts)
    @rule(seed=st.integers(0, 2**32))
    def tamper(self, seed: int) -> None:
        base, copy = self.copied("base"), self.copied("changed")
        assert untouched(base) == 0
        tamper = change(copy, random.Random(seed))
        assert tamper is None or any(look(self.looked_at(base, copy), tamper)), f"nobody names {tamper}"
        self.balances_hold_in(copy)

    def looked_at(self, _base: Path, changed: Path) -> Path:
        return changed

    def copied(self, name: str) -> Path:
        path = Path(self.folder.name) / f"{name}.db"
        path.unlink(missing_ok=True)
        source, copy = apsw.Connection(str(self.path)), apsw.Connection(str(path))
        with copy.backup("main", source, "main") as backup:
            backup.step()
        source.close()
        copy.close()
        return path

    def balances_hold_in(self, path: Path) -> None:
        """What can still be read of a store holds, or cannot be read at all."""
        store = open_store(f"sqlite:///{path}")
        try:
            current = open_ledger(store).books.current()
            assert {fact.statement for fact in current} <= self.borne_out
        except (LedgerError, StoreCorrupt):
            pass
        finally:
            store.close()

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


class WithKilledWriters(UnderAttack):
    """And with processes that are killed."""

    killed = 0

    @precondition(lambda self: self.killed < 2)
    @rule(facts=st.integers(0, 3))
    def kill(self, facts: int) -> None:
        """A child posts, and dies in the middle of it: what it was told is posted is there."""
        self.killed += 1
        child = writer(self.url, self.killed)
        child.stdout.readline()
        child.stdin.write("go\n")
        child.stdin.flush()
        told = [child.stdout.readline().strip() for _ in range(facts)]
        child.kill()
        child.communicate()
        self.borne_out |= {f"writer {self.killed} has done {count}" for count in range(50)}
        assert set(told) <= self.hosts[1].books.facts.keys()


class LooksElsewhere(UnderAttack):
    """The defect: whoever is to name a change looks at a copy without it."""

    def looked_at(self, base: Path, _changed: Path) -> Path:
        return base


class Gullible(AnyOrder):
    """The defect: evidence for one statement is taken for another one."""

    @rule(number=NUMBERS)
    def post_unseen(self, number: int) -> None:
        host = self.hosts[1]
        kept = host.vault.store(ref="q", content="nothing is so", kind="query")
        host.post(f"{number} is approved", [host.verify(kept, "so")])


def run(machine: type[RuleBasedStateMachine], examples: int, steps: int = 25) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=steps))


def test_balances_hold_only_what_was_verified_in_any_order():
    run(AnyOrder, 25)


def test_tampers_are_named_in_any_order():
    run(UnderAttack, 200, steps=8)


@pytest.mark.slow
def test_tampers_are_named_and_nothing_is_lost_where_writers_are_killed():
    run(WithKilledWriters, 200)


@pytest.mark.parametrize(("machine", "said"), [(LooksElsewhere, "nobody names"), (Gullible, "not borne out")])
def test_control_a_defect_is_found(machine: type[RuleBasedStateMachine], said: str):
    with pytest.raises(AssertionError, match=said):
        run(machine, 50, steps=15)
