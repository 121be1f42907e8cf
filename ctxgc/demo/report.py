"""What the demo shows: tokens per tag with and without ctxgc, what was collected, what would have been billed.

Rule: pure but for reading the store; figures that got worse are in here like all others, and rows sum to the totals.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ctxgc.core.journal import Allocation, AnyEntry, Usage, decode
from ctxgc.core.state import EDEN
from ctxgc.demo.checks import Prefixes, prefixes, read_back
from ctxgc.demo.collected import Edited, edited, may_change
from ctxgc.demo.run import Played, Runs
from ctxgc.lab.carried import Carried, carried
from ctxgc.lab.gc_log import Made, gc_log
from ctxgc.store import Store, open_store
from ctxgc.tokens import Price
from ctxgc.tokens.prices import MIN_CACHEABLE

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
class Kept:
    """The store, read back: its only session, its entries, what verification found, and a handle to be recalled.

    ``rebuilt`` is how many bodies the model received hash to what the journal says was sent; of the ``edited`` results,
    ``recalled`` were read back by their handles, byte for byte.
    """

    url: str
    session: str
    entries: int
    findings: int
    rebuilt: int
    bypassed: int
    edited: int
    recalled: int
    handle: str


@dataclass(frozen=True, slots=True)
class Report:
    """All of it. ``collections`` are those of results that had been sent before."""

    model: str
    policy: str
    exact: bool
    rows: tuple[Row, ...]
    without: Bill
    through: Bill
    edits: tuple[Edited, ...]
    collections: tuple[Made, ...]
    prefixes: Prefixes
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
        edits=edited(entries),
        collections=_collections(entries, price),
        prefixes=_prefixes(runs, entries, found),
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


def _collections(entries: Sequence[AnyEntry], price: Price | None) -> tuple[Made, ...]:
    log = gc_log(entries, lambda _: price, lambda _: MIN_CACHEABLE)
    return tuple(made for made in log.made if made.generation != EDEN)


def _prefixes(runs: Runs, entries: Sequence[AnyEntry], found: Carried) -> Prefixes:
    calls = [entry.call for entry in entries if isinstance(entry, Allocation)]
    return prefixes(runs.through.bodies, calls, may_change(entries, found.state))


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
        edited=len(edits),
        recalled=read_back(store, found.state, runs.through.history),
        handle=edits[-1].handle if edits else "",
    )
