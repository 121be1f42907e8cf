"""Journals to make documents of: each with its store, and what a view of it is made with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from ctxgc.core.journal import Allocation, AnyEntry, Collection, Compaction, decode
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.state import fold
from ctxgc.lab.compactions import parts
from ctxgc.lab.moments import Moment, moment
from ctxgc.store import Store
from ctxgc.tokens.prices import Price
from ctxgc.web.views import SessionView
from tests.lab.build import recorded, wild
from tests.lab.collected import KEY, bodies, collecting_kit, run
from tests.lab.collected import entries as journal_of
from tests.lab.compacted import SHORTENING, compacting, story, winding
from tests.session.scripts import fresh, memory, settle

PACER = Pacer(quality=50_000)
PRICE = Price(2.0, 0.5, 2.5, 4.0, 8.0, max_input_tokens=40_000)
READ, WRITE = 0.5, 2.5


def price(model: str) -> Price | None:
    return PRICE if model else None


def tariff(model: str) -> Tariff:
    return Tariff(read=READ, write=WRITE, window=40_000)


def view_of(entries: Iterable[AnyEntry], key: bytes = KEY, **changes: object) -> SessionView:
    """A view that was fed with a journal."""
    given = {"prices": price, "tariffs": tariff, "pacer": PACER, **changes}
    view = SessionView(key, **given)  # type: ignore[arg-type]
    for entry in entries:
        view.take(entry)
    return view


@contextmanager
def collected() -> Iterator[tuple[Store, list[AnyEntry]]]:
    """A session of which residents are collected, and one result is made a pointer."""
    with memory() as store:
        run(collecting_kit(store), bodies())
        yield store, journal_of(store)


@contextmanager
def compacted() -> Iterator[tuple[Store, list[AnyEntry]]]:
    """A session that is compacted, shortened, told news, and recalls."""
    with memory() as store:
        told = story(compacting(store, SHORTENING))
        yield store, list(told.entries())


@cache
def journals() -> dict[str, tuple[AnyEntry, ...]]:
    """Journals by name, to be read only."""
    found: dict[str, tuple[AnyEntry, ...]] = {"empty": ()}
    with collected() as (_, entries):
        found["collected"] = tuple(entries)
    with compacted() as (_, entries):
        found["compacted"] = tuple(entries)
    for seed in (1, 2):
        found[f"wild{seed}"] = tuple(recorded(wild(seed))[1])
    with memory() as store:
        session = fresh(used := compacting(store, SHORTENING))
        for body in winding(3, 60):
            settle(session, session.prepare(body))
        session.flush()
        found["winding"] = tuple(decode(stored.body) for stored in used.store.entries(session.key))
    return found


def moments(entries: Sequence[AnyEntry]) -> list[Moment]:
    """All requests of a journal."""
    count = sum(isinstance(entry, Allocation) for entry in entries)
    return [moment(entries, at) for at in range(1, count + 1)]


def left(one: Moment) -> dict[int, int]:
    """The cells that a request sent, with their tokens as it left: gone through naively."""
    state, entry = fold((*one.before, *one.own)), one.entry
    offer = state.node(entry.head).offer if entry.offered else -1
    cells = [*state.toolset(entry.toolset).cells, *([state.own.offers[offer].cell] if offer >= 0 else [])]
    for part in parts(state, entry.head):
        cells += () if part.out else part.cells
    return {cell: state.cells[cell].sent for cell in cells}


def came(one: Moment) -> set[int]:
    """The cells that a request came with."""
    state, entry = fold((*one.before, *one.own)), one.entry
    if entry.again:
        return set()
    nodes = {cell for node in state.path(entry.head) for cell in node.cells}
    return nodes | set(state.toolset(entry.toolset).cells)


def without(entries: Iterable[AnyEntry], generation: str = "major") -> list[AnyEntry]:
    """A journal that lost its collections of a generation: what a view of it says must differ."""
    return [one for one in entries if not (isinstance(one, Collection) and one.generation == generation)]


def changing(entries: Iterable[AnyEntry]) -> int:
    """How many entries changed what is sent."""
    return sum(isinstance(one, Collection | Compaction) for one in entries)
