"""One session of the drift campaign: sent through the real thing, compacted again and again, and looked at each time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.drift_askers import Scripted, asker
from benchmarks.drift_judge import Came, Dict, Told, broken, changed, missing, reachable, stated, untrue, window
from benchmarks.drift_story import CONSTRAINTS, Step, story
from ctxgc.core.bookings import Fact
from ctxgc.core.compaction import Compaction, Summary
from ctxgc.core.journal import Bypass, decode
from ctxgc.core.pacer import Tariff
from ctxgc.errors import UnknownHandle
from ctxgc.ledger import open_ledger
from ctxgc.policies import preset
from ctxgc.policies.compact import Compact
from ctxgc.session.errands import Errand, Writing
from ctxgc.session.kit import Summariser
from ctxgc.store import Store
from tests.session.scripts import KEY, body, dump, fresh, kit, memory, schema, settle, system

TERMS = Compact(tail=1_200, record=1_200, opening=400, saving=1_000, limit=99)
TARIFF = Tariff(window=9_000)
WINDOW = 32_000
"""Tokens of the summariser's."""
STALLED = 100
"""Requests for each compaction after which none is to be expected any more."""
LATE = {"late": 3, "never": 1 << 30}
"""Requests that leave before a summariser has answered."""


@dataclass
class Result:
    """What came of one session: figures, and what must be 0: constraints ``lost``, facts out of reach, statements in the
    ledger that are ``unproven``, requests that were ``invalid``, ``bypassed``, that say what is ``untrue`` of others, or
    ``waited``. Each is counted once for every time that it was seen. ``unlisted`` are the facts, at most, that a window
    and what it points to named by number only; what they say was in reach elsewhere."""

    summariser: str
    compactions: int = 0
    requests: int = 0
    constraints: int = 0
    facts: int = 0
    posted: int = 0
    asked: int = 0
    taken: int = 0
    items: int = 0
    claims: int = 0
    largest: int = 0
    unlisted: int = 0
    lost: int = 0
    unreachable: int = 0
    unproven: int = 0
    invalid: int = 0
    bypassed: int = 0
    untrue: int = 0
    waited: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing of that was seen."""
        return not any(
            (self.lost, self.unreachable, self.unproven, self.invalid, self.bypassed, self.untrue, self.waited)
        )

    def count(self, name: str, found: Iterable[str]) -> None:
        """Count faults of a kind, and keep them."""
        faults = list(found)
        setattr(self, name, getattr(self, name) + len(faults))
        self.faults += [f"{name}: {fault}" for fault in faults]

    def figures(self) -> dict[str, object]:
        """All of it, and whether it is ``ok``."""
        return {**asdict(self), "faults": self.faults[:20], "ok": self.ok}


class Drifting:
    """A session with its client and its host, and what is found."""

    def __init__(self, store: Store, way: str) -> None:
        self.asker: Scripted | None = asker(way)
        self.result, self.told, self.came = Result(way), Told(), Came()
        self.ledger = open_ledger(store, f"session {KEY.hex()}", lambda: 1.0)
        policies = (*(one for one in preset("generational") if one.name != "compact"), TERMS)
        summariser = Summariser(self.asker, "own", WINDOW) if self.asker else None
        self.kit = kit(
            store, policies, tariff=lambda _: TARIFF, recall=True, ledger=lambda _: self.ledger, summariser=summariser
        )
        self.session = fresh(self.kit)
        self._read: dict[str, str] = {}
        self._due: list[tuple[int, Errand]] = []
        self._late = LATE.get(way, 0)
        self._raws: list[bytes] = []
        self._entries = 0
        self._fields = json.loads(self._body())
        self._add((system("You keep an inventory."),))

    def run(self, compactions: int, seed: int, limit: int = len(CONSTRAINTS)) -> Result:
        """Go on until it was compacted so often, and so many constraints were said."""
        for step in story(seed):
            if self.result.compactions >= compactions and len(self.told.constraints) >= limit:
                break
            if self.result.requests >= STALLED * max(compactions, 4):
                self.result.count("bypassed", ["it is not compacted any more"])
                break
            self.grow(step)
        self._sum_up()
        return self.result

    def grow(self, step: Step) -> None:
        """Send the conversation with one more step in it, and look at what was sent."""
        self._add(step.messages)
        self.told.take(step)
        sent = self._send(self._body())
        compacted = sum(isinstance(one, Compaction) for one in self._news())
        self.result.compactions += compacted
        self._look(sent, compacted=bool(compacted))
        if step.checked:
            self._check(step)
        self._errands()

    def _body(self) -> bytes:
        return body(self._raws, tools=[schema("lookup")])

    def _add(self, messages: Iterable[Dict]) -> None:
        new = list(messages)
        self.came.add(new)
        self._raws += map(dump, new)

    def _send(self, text: bytes) -> list[Dict]:
        if self.asker:
            self.asker.forbidden = True
        prepared = self.session.prepare(text)
        self.result.largest = max(self.result.largest, self.session.estimated(prepared.call))
        settle(self.session, prepared)
        if self.asker:
            self.asker.forbidden = False
        self.result.requests += 1
        self.result.count("bypassed", filter(None, [prepared.bypass]))
        sent = json.loads(prepared.body)
        self.result.count("invalid", changed(self._fields, sent))
        return list(sent["messages"])

    def _look(self, sent: list[Dict], *, compacted: bool) -> None:
        """What must hold of what was sent, and after a compaction of what is behind its pointers."""
        self.result.count("invalid", broken(self.came, sent))
        self.result.count("lost", missing(self.told, sent))
        if compacted:
            shown = window(sent)
            near = reachable(shown, self._recall)
            self.result.count("unreachable", (one for one in self.told.facts if one not in near))
            posted = {(fact.id, fact.statement) for fact in self.ledger.books.current()}
            self.result.count("unreachable", (f"{name} {text}" for name, text in posted if text not in near))
            self.result.unlisted = max(self.result.unlisted, len(posted - stated(near)))
            self.result.count("untrue", untrue(self.told, shown, near))

    def _recall(self, handle: str) -> str:
        if handle not in self._read:
            try:
                self._read[handle] = self.session.recall(handle)
            except UnknownHandle:  # one that a text of others shows
                self._read[handle] = ""
        return self._read[handle]

    def _check(self, step: Step) -> None:
        """The host keeps a result as a voucher, and posts what it has seen in it."""
        text = step.messages[-1]["content"]
        voucher = self.ledger.vault.store(ref=f"host {len(self._raws)}", content=text, kind="tool_result")
        for fact in step.facts:
            self.ledger.post(fact, [self.ledger.verify(voucher, fact)])

    def _errands(self) -> None:
        """Run what is to be run; what a model is asked, when its time has come."""
        now = self.result.requests
        for errand in self.session.errands():
            self._due.append((now + (self._late if isinstance(errand, Writing) else 0), errand))
        ready = [errand for at, errand in self._due if at <= now]
        self._due = [(at, errand) for at, errand in self._due if at > now]
        for errand in ready:
            self.session.ran(errand.run())
        self.session.admit()

    def _news(self) -> list[Any]:
        self.session.flush()
        found = [decode(one.body) for one in self.kit.store.entries(self.session.key, self._entries)]
        self._entries += len(found)
        self.result.count("bypassed", (one.reason for one in found if isinstance(one, Bypass)))
        self.result.taken += sum(isinstance(one, Summary) and one.outcome == "taken" for one in found)
        return found

    def _sum_up(self) -> None:
        self._news()
        result, items = self.result, [item for one in self.session.state.summaries for item in one.items]
        result.constraints, result.facts = len(self.told.constraints), len(self.told.facts)
        result.items, result.claims = len(items), sum(not item.fact for item in items)
        if self.asker:
            result.asked = self.asker.asked
            result.count("waited", self.asker.broken)
        facts = self.ledger.books.current()
        result.posted = len(facts)
        result.count("unproven", (f"{one.id} {one.statement}" for one in facts if not self._proven(one)))
        pinned = (one for one in self.session.state.cells if one.pinned and one.tag.startswith("tool_result"))
        result.count("unproven", (f"{one.site} is pinned" for one in pinned))

    def _proven(self, fact: Fact) -> bool:
        """Whether a fact says no more than what was planted as one, and agrees with its voucher."""
        return any(fact.statement in one for one in self.told.facts) and self.ledger.trace(fact).agree


def drift(way: str, compactions: int = 20, seed: int = 1, limit: int = len(CONSTRAINTS)) -> Result:
    """One session with the summariser of that name, in a store of its own, until so many constraints were said."""
    with memory() as store:
        return Drifting(store, way).run(compactions, seed, limit)
