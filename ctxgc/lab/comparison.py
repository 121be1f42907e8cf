"""The comparison: recorded sessions, each replayed with each policy and price class, and judged.

Rule: one loop, through the very session that stands behind the proxy, with its clock set to when each request was made.
What a session is told of its provider (usage, prices) is what the accounting here says, since decisions depend on it.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import cast

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import AnyEntry, Collection, Settlement, Usage
from ctxgc.core.pacer import Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.lab.billing import Charge
from ctxgc.lab.cases import Case
from ctxgc.lab.classes import PriceClass
from ctxgc.lab.compactions import follows
from ctxgc.lab.judge import Judge, Judged
from ctxgc.lab.needs import Need, last_needed
from ctxgc.lab.replay import session_for, steps
from ctxgc.policies import PolicyError, from_config
from ctxgc.session import Kit, Prepared, Session
from ctxgc.store import Store, open_store
from ctxgc.tokens.counter import counter_for
from ctxgc.tokens.measure import Meter
from ctxgc.tokens.memo import CountMemo
from ctxgc.wire.openai_chat import OpenAIChat

ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Run:
    """One policy on one segment at the prices of one class. Seconds are the session's own.

    ``compactions`` are among the major ``collections``, which count by generation.
    """

    policy: str
    price_class: PriceClass
    judged: Judged
    bypasses: int
    collections: Mapping[str, int]
    prepare_seconds: float
    admit_seconds: float
    compactions: int = 0

    def cost_ratio(self, never: Judged) -> float:
        """Input cost relative to never collecting; ``never`` is the same session's."""
        before = self.price_class.cost(never.read, never.written)
        return self.cost / before if before else 1.0

    @property
    def cost(self) -> float:
        """Input cost in uncached tokens."""
        return self.price_class.cost(self.judged.read, self.judged.written)


@dataclass(slots=True)
class Clock:
    """A clock that stands at ``now``, in Unix seconds, until it is set."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def policies_for(name: str, case: Case) -> tuple[Policy, ...]:
    """The policies of a name (a preset, names with commas), where ``oracle`` is told what this segment will need.

    Raises ``PolicyError``.
    """
    names = [one.strip() for one in name.split(",")]
    if ORACLE not in names:
        return from_config(name)
    at = names.index(ORACLE)
    before, after = ",".join(names[:at]), ",".join(names[at + 1 :])
    told = _oracle(last_needed(case.segment, case.needs))
    return (*(from_config(before) if before else ()), told, *(policies_for(after, case) if after else ()))


def kit_for(store: Store, policies: Sequence[Policy], price_class: PriceClass, clock: Callable[[], float]) -> Kit:
    """The kit of one replay: ids that count up, a clock that is set, counts that are remembered for this replay only.

    The prices of the class stand for those of every model, where a session asks for prices.
    """
    numbers = itertools.count(1)
    tariff = Tariff(read=price_class.read, write=price_class.write, least=0)
    return Kit(
        store=store,
        codec=OpenAIChat(),
        policies=tuple(policies),
        meter=_meters(),
        clock=clock,
        new_id=lambda: next(numbers).to_bytes(16, "big"),
        tariff=lambda _model: tariff,
    )


def compare(case: Case, policies: Sequence[str], classes: Sequence[PriceClass]) -> tuple[Run, ...]:
    """Replay a segment with each policy at each class, in this order. Raises ``PolicyError``.

    What decides nothing sends the same at any price: one replay serves all classes.
    """
    found: list[Run] = []
    for name in policies:
        made = policies_for(name, case)
        once = not made
        for price_class in classes:
            again = found[-1] if once and found and found[-1].policy == name else None
            found.append(replace(again, price_class=price_class) if again else run(case, name, made, price_class))
    return tuple(found)


def run(case: Case, name: str, policies: Sequence[Policy], price_class: PriceClass) -> Run:
    """Replay a segment with policies at the prices of a class."""
    store, clock = open_store("sqlite://"), Clock()
    try:
        replay = _Replay(case, price_class, clock)
        known = cast("Store", _Reproducible(store))
        kit = replace(kit_for(known, policies, price_class, clock), observe=replay.observe)
        judged = replay.go(session_for(case.segment.transcript, kit))
    finally:
        store.close()
    return Run(
        policy=name,
        price_class=price_class,
        judged=judged,
        bypasses=replay.bypasses,
        collections=dict(replay.collections),
        prepare_seconds=replay.prepare_seconds,
        admit_seconds=replay.admit_seconds,
        compactions=replay.compactions,
    )


class _Reproducible:
    """A store whose secret is always the same: handles, and with them tokens, are those of the last replay."""

    secret = hashlib.sha256(b"ctxgc replay").digest()

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


@dataclass(slots=True)
class _Replay:
    """One replay under way."""

    case: Case
    price_class: PriceClass
    clock: Clock
    bypasses: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    prepare_seconds: float = 0.0
    admit_seconds: float = 0.0
    compactions: int = 0

    def go(self, session: Session) -> Judged:
        case, by_turn = self.case, defaultdict[int, list[Need]](list)
        for need in case.needs:
            by_turn[need.turn].append(need)
        judge = Judge(case.segment, by_turn, case.fit, case.counts)
        usage = dict(case.segment.transcript.usage)
        for number, step in enumerate(steps(case.segment.transcript, case.model)):
            self.clock.now = case.segment.turns[number].at
            prepared = self._send(session, step.body)
            charge = judge.take(number, step.body, prepared.body)
            reported = None if step.answer is None else usage.get(step.answer)
            session.settle(_settled(prepared, self.clock.now, reported and self._usage(charge, reported)))
        session.flush()
        return judge.end(session.recall)

    def observe(self, _state: State, entry: AnyEntry) -> None:
        if isinstance(entry, Compaction):
            self.compactions += 1
            self.collections["major"] += 1
        elif isinstance(entry, Collection) and not follows(entry):
            self.collections[entry.generation] += 1

    def _send(self, session: Session, body: bytes) -> Prepared:
        begun = perf_counter()
        prepared = session.prepare(body)
        left = perf_counter()
        session.admit()
        self.prepare_seconds += left - begun
        self.admit_seconds += perf_counter() - left
        self.bypasses += bool(prepared.bypass)
        return prepared

    def _usage(self, charge: Charge, recorded: Usage) -> Usage:
        """What would have been reported for what was sent, in the place of what was for what was received."""
        read, written = round(charge.read), round(charge.written)
        if self.price_class.read == self.price_class.write:
            return Usage(uncached=read + written, output=recorded.output)
        if self.price_class.write > 1:
            return Usage(cached=read, written=written, output=recorded.output)
        return Usage(uncached=written, cached=read, output=recorded.output)


def _settled(prepared: Prepared, now: float, usage: Usage | None) -> Settlement:
    return Settlement(at=now, call=prepared.call, outcome="ok", status=200, model=prepared.model, usage=usage)


def _oracle(needed: tuple[tuple[int, int], ...]) -> Policy:
    try:
        # It wants to be told something; where nothing is needed, that the first result never was says no more.
        made = importlib.import_module("ctxgc.policies.oracle").Oracle(needs=needed or ((0, 0),))
    except (ImportError, AttributeError, TypeError) as error:
        raise PolicyError(f"policy {ORACLE!r}: {error}") from error
    return made  # type: ignore[no-any-return]


def _meters() -> Callable[[str], Meter]:
    """Counters with a memory of their own: what an earlier replay has counted makes this one no quicker."""
    known: dict[str, Meter] = {}

    def meter(model: str) -> Meter:
        if model not in known:
            known[model] = Meter(model, replace(counter_for(model), memo=CountMemo()))
        return known[model]

    return meter
