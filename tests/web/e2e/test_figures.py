"""Each figure that the page shows is the one that is added up from the store; one that was changed is noticed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from ctxgc.core.journal import decode
from ctxgc.ledger import open_ledger
from tests.web.e2e import shown, shown_more
from tests.web.e2e.conftest import World
from tests.web.e2e.load import voucher
from tests.web.e2e.truth import Truth
from tests.web.e2e.visit import Visit, differing, falsified

PLACES = (1, 2, 7, 19, 34, 38)
Reading = Callable[[Visit], Awaitable[shown.Shown]]


def truth_of(world: World, session: str) -> Truth:
    store = world.running.store.inner
    return Truth([decode(found.body) for found in store.entries(bytes.fromhex(session))])


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def truth(world: World) -> Truth:
    return truth_of(world, world.session)


async def test_the_load_has_what_there_is_to_show(truth: Truth) -> None:
    """Or else the comparisons below compare nothing."""
    made = {"span" if one.span else one.generation for one in truth.collections}
    assert made == {"eden", "minor", "major", "span"}
    assert truth.recalled()
    assert {entry.outcome for entry in truth.ends.values()} == {"ok", "error"}
    assert len(truth.moments) == PLACES[-1]


VIEWS: dict[str, tuple[str, Reading, Callable[[Truth], shown.Shown]]] = {
    "tiles": ("heap", shown.tiles, shown.true_tiles),
    "profile": ("heap", shown.profiled, shown.true_profiled),
    "slider": ("heap", lambda visit: shown.slider(visit, PLACES), lambda truth: shown.true_slider(truth, PLACES)),
    "cells": ("cells", shown.cells, shown.true_cells),
    "diff": ("diff/16", shown_more.diff, lambda truth: shown_more.true_diff(truth, 16)),
    "between": ("diff/24/15", shown_more.between, lambda truth: shown_more.true_between(truth, 24, 15)),
    "gc": ("gc", shown_more.gc, shown_more.true_gc),
    "suspects": ("suspects", shown_more.suspects, shown_more.true_suspects),
    "tools": ("tools", shown_more.tools, shown_more.true_tools),
}


@pytest.mark.parametrize("name", VIEWS)
async def test_a_view_shows_what_the_store_says(visit: Visit, truth: Truth, session: Any, name: str) -> None:
    route, read, true = VIEWS[name]
    await visit.open(session(*route.split("/")))
    found = await read(visit)
    assert found
    assert differing(found, true(truth)) == {}


async def test_the_turns_are_those_of_the_journal(visit: Visit, truth: Truth, session: Any) -> None:
    await visit.open(session("heap"))
    true = shown.true_turns(truth)
    found = {name: text for name, text in (await shown.turns(visit)).items() if name in true}
    assert differing(found, true) == {}


async def test_the_list_of_sessions_says_what_the_store_says(visit: Visit, world: World) -> None:
    await visit.open()
    truths = {key: truth_of(world, key) for key in (world.session, world.other)}
    assert differing(await shown_more.sessions(visit), shown_more.true_sessions(truths)) == {}


async def test_the_books_are_those_of_the_ledger(visit: Visit, world: World, session: Any) -> None:
    await visit.open(session("books"))
    with open_ledger(world.running.store.inner, f"session {world.session}") as ledger:
        true = shown_more.true_books(ledger)
    assert differing(await shown_more.books(visit), true) == {}
    fact = next(name.split(".")[1] for name, text in true.items() if text == "the port is 81")
    assert (
        differing(
            await shown_more.trace(visit, fact), shown_more.true_trace(voucher("the port is 81"), "the port is 81")
        )
        == {}
    )


async def test_the_ledger_is_reconciled_on_demand(visit: Visit, session: Any) -> None:
    await visit.open(session("books"))
    await visit.page.click("[data-action=reconcile]")
    await visit.page.wait_for_selector('[data-reconcile-ok="true"]')
    states = {one["state"] for one in await visit.all_data("tr[data-row]")}
    assert states == {"match"}


def _more(path: str) -> Callable[[Any], None]:
    """Change one figure of a document: the one at the end of a path."""

    def change(document: Any) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        for part in way:
            document = document[part]
        document[last] += 1

    return change


LIES = [
    ("tiles", "", "tiles.3.value"), ("profile", "", "by_tag.0.sent_turns"), ("slider", "", "turns.sent_total.6"),
    ("cells", "/cells", "columns.tokens.5"), ("diff", "/diff?turn=16", "sent"),
    ("between", "/diff?turn=24&against=15", "by_tag.0.after"), ("gc", "", "collections.3.context_after"),
    ("suspects", "", "suspects.0.figure"), ("tools", "", "tools.0.calls"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "figure"), LIES)
async def test_one_figure_that_is_off_by_one_is_noticed(
    visit: Visit, world: World, truth: Truth, session: Any, name: str, path: str, figure: str
) -> None:
    """The control: the same comparison, of a document that was changed on its way."""
    route, read, true = VIEWS[name]
    await falsified(visit, f"sessions/{world.session}{path}", _more(figure))
    await visit.open(session(*route.split("/")))
    assert differing(await read(visit), true(truth)) != {}
