"""What the demo shows: tokens per tag with and without ctxgc, what would have been billed, what the store holds.

Rule: pure but for reading the store; figures that got worse are in here like all others, and rows sum to the totals.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxgc.core.collector import Edit
from ctxgc.core.journal import Allocation, AnyEntry, Usage, decode
from ctxgc.demo.run import Played, Runs
from ctxgc.lab.carried import Carried, carried
from ctxgc.store import Store, open_store
from ctxgc.tokens import Price

FRAMING = "(request framing)"
"""The row of what a request has besides its messages and tools."""


@dataclass(frozen=True, slots=True)
class Row:
    """Input tokens, summed over all requests: as the agent sent them, and as the proxy did."""

    tag: str
    without: int
    through: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What the model billed for a run, in tokens and, where it has a price, in USD."""

    requests: int
    uncached: int
    cached: int
    output: int
    usd: float | None

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.uncached + self.cached


@dataclass(frozen=True, slots=True)
class Edited:
    """What one kind of edit did: to how many results, and their tokens before and after, each counted once."""

    action: str
    results: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The store, read back: its only session, its entries, what verification found, and a handle to be recalled.

    ``rebuilt`` is how many bodies the model received hash to what the journal says was sent.
    """

    url: str
    session: str
    entries: int
    findings: int
    rebuilt: int
    bypassed: int
    handle: str


@dataclass(frozen=True, slots=True)
class Report:
    """All of it."""

    model: str
    policy: str
    exact: bool
    rows: tuple[Row, ...]
    without: Bill
    through: Bill
    edits: tuple[Edited, ...]
    store: Kept


def report(runs: Runs, price: Price | None) -> Report:
    """The report of both runs. Raises ``StoreError``."""
    store = open_store(runs.store, create=False, read_only=True)
    try:
        session = store.sessions()[0].key
        entries = tuple(decode(stored.body) for stored in store.entries(session))
        found = carried(entries)
        kept = _kept(runs, store, session, entries, found)
    finally:
        store.close()
    without, through = _bill(runs.without, price), _bill(runs.through, price)
    return Report(
        model=runs.model,
        policy=runs.policy,
        exact=all(cell.exact for cell in found.state.cells),
        rows=_rows(found, without, through),
        without=without,
        through=through,
        edits=_edits(found.state.edits.values()),
        store=kept,
    )


def _rows(found: Carried, without: Bill, through: Bill) -> tuple[Row, ...]:
    """A row a tag, the largest first, and what is left of the bill."""
    received, sent = Counter[str](), Counter[str]()
    for request in found.requests:
        received.update(request.received)
        sent.update(request.sent)
    rows = [Row(tag, received[tag], sent[tag]) for tag in {**received, **sent}]
    rows.sort(key=lambda row: (-row.without, row.tag))
    return (*rows, Row(FRAMING, without.input - received.total(), through.input - sent.total()))


def _bill(played: Played, price: Price | None) -> Bill:
    usages = played.usages
    return Bill(
        requests=len(usages),
        uncached=sum(usage.uncached for usage in usages),
        cached=sum(usage.cached for usage in usages),
        output=sum(usage.output for usage in usages),
        usd=sum(_usd(usage, price) for usage in usages) if price else None,
    )


def _usd(usage: Usage, price: Price) -> float:
    """Where writing to the cache costs extra, all input that was not read from it is taken as written to it."""
    writes = price.cache_write > price.input
    uncached, written = (0, usage.uncached) if writes else (usage.uncached, 0)
    return price.cost(uncached=uncached, cached=usage.cached, written=written, output=usage.output)


def _edits(edits: Iterable[Edit]) -> tuple[Edited, ...]:
    groups: dict[str, list[Edit]] = {}
    for edit in edits:
        groups.setdefault(edit.action, []).append(edit)
    return tuple(
        Edited(action, len(group), sum(edit.before for edit in group), sum(edit.after for edit in group))
        for action, group in sorted(groups.items())
    )


def _kept(runs: Runs, store: Store, session: bytes, entries: Sequence[AnyEntry], found: Carried) -> Kept:
    booked = [entry.sent for entry in entries if isinstance(entry, Allocation)]
    received = [hashlib.sha256(body).digest() for body in runs.through.bodies]
    edits = sorted(found.state.edits.values(), key=lambda edit: edit.before - edit.after)
    return Kept(
        url=runs.store,
        session=session.hex(),
        entries=len(entries),
        findings=sum(1 for _ in store.verify()),
        rebuilt=sum(one == other for one, other in zip(booked, received, strict=False)),
        bypassed=sum(found.bypassed.values()),
        handle=edits[-1].handle if edits else "",
    )
