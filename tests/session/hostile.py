"""Policies that say anything at all, and what must hold of a session whatever they say, compacted or not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from ctxgc.core.compaction import Compaction
from ctxgc.core.heap import Heap
from ctxgc.core.journal import Collection, decode
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies import preset
from ctxgc.policies.compact import Compact
from ctxgc.session import Kit, Session
from ctxgc.store import Store
from tests.session import checks
from tests.session.histories import ECHO, Request
from tests.session.scripts import Known, fresh, kit, restored, settle
from tests.session.witness import Counted, Witness

WORDS = ("unused", "", ECHO, "x]", "a\nb", "\ud800", "7 turns", "[ctxgc:", "ｃtxgc: ]" * 9, "…")
SHARES = (math.nan, math.inf, -math.inf, -1.0, 0.0, 0.0, 0.05, 0.2, 0.5, 1.0, 2.0, None)
TURNS = (0, 0, 1, 2, 5, -1, 10**9, -(10**9), 10**400, -(10**400))
TARIFFS = (
    Tariff(read=1.0, write=1.0),
    Tariff(read=1.0, write=1.0, least=0),
    Tariff(least=0),
    Tariff(),
    Tariff(window=6000, least=0),
    Tariff(window=2000),
    Tariff(binds_thinking=True),
    Tariff(steps=((3000, 2.0),), least=0),
)
PACERS = (Pacer(), Pacer(patience=0, regret=9), Pacer(quality=1500), Pacer(patience=0, regret=0))


def verdict(chance: Random) -> Verdict:
    """Anything that the type of a verdict allows."""
    edges = sorted(chance.choices((-1, 0, 1, 5, 40, 200, 900, 10**6), k=2 * chance.randrange(3)))
    return Verdict(
        cell=0,
        policy=chance.choice(WORDS),
        action=chance.choice(WORDS),
        reason=chance.choice(WORDS),
        keep=tuple(zip(edges[::2], edges[1::2], strict=True)),
        text=chance.choice((None, None, None, "short", "", "z" * 5000, ECHO, "\udfff")),
        of=chance.choice((None, None, None, -1, 0, 1, 3, 10**9)),
        unit=chance.choice(WORDS),
        gaps=((chance.randrange(9), chance.randrange(99)),),
        total=chance.choice((0, 3, 99)),
        excerpt=chance.choice(SHARES),
        since=chance.choice(TURNS),
        urgency=chance.choice(("priced", "now", "forced", "soon")),  # type: ignore[arg-type]
    )


@dataclass(frozen=True, slots=True)
class Hostile:
    """Names every cell there is, and some that there are not, with one of its verdicts each; it fails now and then.

    As the rules demand it says the same of the same heap, whatever process asks.
    """

    menu: tuple[Verdict, ...]
    seed: int
    name: str = "hostile"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        turn = Random(f"{self.seed} {heap.turn}")
        if turn.randrange(25) == 0:
            raise LookupError("on purpose")
        for cell in (*(one.id for one in heap.eden), *(one.id for one in heap.residents), -1, 10**9):
            chance = Random(f"{self.seed} {heap.turn} {cell}")
            for said in chance.choices(self.menu, k=chance.choice((0, 1, 1, 2))):
                yield replace(said, cell=cell)
        for arrival in heap.eden:
            earlier = heap.same(arrival)
            if earlier is not None and turn.random() < 0.5:
                yield Verdict(arrival.id, self.name, "dedup", "same", of=earlier)


def hostile(chance: Random) -> tuple[Policy, ...]:
    """One to three policies: hostile ones, alone or beside those of a preset."""
    menu = tuple(verdict(chance) for _ in range(chance.choice((1, 3, 8, 20))))
    policy = Hostile(menu, chance.randrange(10**6))
    return chance.choice(((policy,), (policy, *preset("aggressive")), (*preset("generational"), policy)))


def compacting(chance: Random) -> tuple[Policy, ...]:
    """``hostile``, and spans are compacted: small ones, since the histories are."""
    terms = Compact(chance.choice((0, 100, 600)), 400, 0, chance.choice((0, 200)), chance.choice((1, 2, 8)))
    return (*hostile(chance), terms)


def settings(chance: Random) -> tuple[Tariff, Pacer]:
    """Prices and how they are weighed."""
    return chance.choice(TARIFFS), chance.choice(PACERS)


def tell(
    story: Sequence[Request | None], used: Kit, clock: list[float], *, forgetful: bool = False
) -> tuple[Counted, list[bytes]]:
    """Send a story's requests; what was seen, and what was sent. ``forgetful`` restarts before every request."""
    session, witness, sent = fresh(used), Witness(used), []
    for step in story:
        if step is None or forgetful:
            session.flush()
            session = restored(used) if session.state.opened else fresh(used)
        if step is not None:
            clock[0] += step.wait
            prepared = session.prepare(step.text)
            settle(session, prepared)
            witness.see(session, step.text, prepared)
            sent.append(prepared.body)
            if step.done:
                session.milestone("done")
    _end(session, used, witness.counted)
    return witness.counted, sent


def _end(session: Session, used: Kit, counted: Counted) -> None:
    """What must hold of a session as a whole."""
    session.flush()
    for check in (_recalled, checks.rebuilds, checks.originals):
        try:
            check(session, used)
        except AssertionError:
            counted.faults.append(f"the session fails {check.__name__}")
    checks.attribution(session.state)
    entries = [decode(stored.body) for stored in used.store.entries(session.key)]
    collections = [entry for entry in entries if isinstance(entry, Collection)]
    counted.edits += sum(len(entry.edits) for entry in collections)
    counted.residents += sum(len(entry.edits) for entry in collections if entry.generation != "eden")
    counted.compacted += sum(isinstance(entry, Compaction) for entry in entries)
    counted.histories += 1


def _recalled(session: Session, used: Kit) -> None:
    """Every handle of the journal leads to the content of its cell, and that of a record to the whole of it."""
    checks.recalled(session)
    checks.recorded(session, used)
    session.flush()


def equipped(store: Store, policies: Sequence[Policy], tariff: Tariff, pacer: Pacer) -> tuple[Kit, list[float]]:
    """A kit with a clock that is moved by hand."""
    clock = [1.0]
    used = kit(Known(store), policies, clock=lambda: clock[0], tariff=lambda _: tariff, pacer=pacer)
    return used, clock
