"""A run: a real Prometheus scrapes a real proxy under load, and every query of every dashboard is asked.

All is asked at one moment at which nothing changes any more, so that what is compared afterwards belongs together.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from ctxgc.core.journal import Allocation, Open, Settlement
from ctxgc.proxy import server
from ctxgc.session.kit import Summariser
from tests.dashboards import load
from tests.dashboards.expressions import filled, parse, ungrown
from tests.dashboards.facts import Facts
from tests.dashboards.linter import targets, variables
from tests.dashboards.prometheus import HANG, Prometheus, prometheus
from tests.dashboards.recomputed import recompute
from tests.proxy import client
from tests.proxy.bodies import user
from tests.proxy.harness import Running, proxy
from tests.proxy.upstream import Upstream, silent

Vector = list[dict[str, Any]]
Place = tuple[str, str, str]
"""Dashboard, panel and query."""
WAVES = 2


@dataclass
class Asked:
    """A query of a panel, as it was answered: over the run, at its end, and with totals in place of growth."""

    target: Mapping[str, Any]
    over_time: Vector
    now: Vector
    total: Vector


@dataclass
class Run:
    """All that is known of a run."""

    facts: Facts
    metrics: str
    target: str
    asked: dict[Place, Asked] = field(default_factory=dict)
    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    spoilt: Vector = field(default_factory=list)
    one_model: Vector = field(default_factory=list)


async def run(binary: str, boards: Mapping[str, Any], folder: Path) -> Run:
    """The load, and all questions."""
    began = time.time()
    asked = Summariser(load.asker, "own", 32_000)
    summarises = mock.patch.object(server, "summariser_of", return_value=asked)
    with summarises:
        async with Upstream() as upstream, proxy(upstream.base, folder / "audit.db", **load.SETTINGS) as running:
            target = f"127.0.0.1:{running.port}"
            async with prometheus(binary, target, folder) as asking:
                await asking.until("sum(ctxgc_build_info)", lambda value: value == 1)
                for wave in range(WAVES):
                    await load.wave(running, upstream, wave)
                    await asking.until(REQUESTS, lambda value: value == _ended(running))
                async with hanging(running, upstream):
                    return await questions(running, asking, boards, began, target)


REQUESTS = "sum(ctxgc_requests_total)"


async def questions(
    running: Running, asking: Prometheus, boards: Mapping[str, Any], began: float, target: str
) -> Run:  # fmt: skip
    """Ask everything, at a moment before and after which nothing happened."""
    async with asyncio.timeout(2 * HANG):
        while True:
            found = await _questions(running, asking, boards, began, target)
            if _entries(running) == found.facts.sum("entries"):
                return found


async def _questions(
    running: Running, asking: Prometheus, boards: Mapping[str, Any], began: float, target: str
) -> Run:  # fmt: skip
    """Ask everything, when what was scraped is what there is."""
    await asking.until("sum(ctxgc_audit_entries_total)", lambda value: value == _entries(running))
    facts = recompute(running.journals())
    await asking.until("sum(ctxgc_leak_suspects_total)", lambda value: value == facts.sum("suspects"))
    await asking.until("sum(ctxgc_requests_in_flight)", lambda value: value == 1)
    found, now = Run(facts, await _exposed(running, asking), target), time.time()
    chosen = {"job": "ctxgc", "instance": target, "model": ".+", "__rate_interval": "4s"}
    chosen["__range"] = f"{int(now - began) + 1}s"
    for board in boards.values():
        for panel, query in targets(board):
            place = board["uid"], panel["title"], query["refId"]
            found.asked[place] = await _ask(asking, query, chosen, began, now)
        for name, variable in variables(board).items():
            if variable["type"] == "query":
                series = variable["query"]["query"].removeprefix("label_values(").rpartition(",")[0]
                found.values[board["uid"], name] = await asking.values(name, filled(series, chosen))
    await _controls(asking, found, chosen, now)
    return found


async def _exposed(running: Running, asking: Prometheus) -> str:
    """What is exposed, when it is what was scraped last: the store on disk still grows for a while."""
    async with asyncio.timeout(HANG):
        while True:
            answer = await running.ask(client.request(method="GET", target="/metrics"))
            text = answer.body.decode()
            (scraped,) = await asking.query("sum(ctxgc_store_bytes)")
            (stored,) = (line for line in text.splitlines() if line.startswith("ctxgc_store_bytes "))
            if float(scraped["value"][1]) == float(stored.split()[1]):
                return text
            await asyncio.sleep(0.05)


async def _ask(
    asking: Prometheus, query: Mapping[str, Any], chosen: Mapping[str, str], began: float, now: float
) -> Asked:  # fmt: skip
    expr = filled(query["expr"], chosen)
    total = filled(ungrown(parse(expr)), {})
    over_time = [] if query["instant"] else await asking.query_range(expr, now - int(now - began), now)
    return Asked(query, over_time, await asking.query(expr, now), await asking.query(total, now))


async def _controls(asking: Prometheus, found: Run, chosen: Mapping[str, str], now: float) -> None:
    """A query with a wrong label, and one with a model chosen."""
    fresh = found.asked["ctxgc-overview", "Fresh and replayed", "A"].target["expr"]
    wrong = filled(fresh.replace("stage, residency", "stage, source"), chosen)
    found.spoilt = await asking.query(ungrown(parse(wrong)), now)
    by_model = filled(found.asked["ctxgc-proxy", "Requests by model", "A"].target["expr"], {**chosen, "model": "gpt-5"})
    found.one_model = await asking.query(ungrown(parse(by_model)), now)


@contextlib.asynccontextmanager
async def hanging(running: Running, upstream: Upstream) -> AsyncIterator[None]:
    """A request that is under way, and booked."""
    upstream.answers(silent())
    body = load.request(user("and wait"))
    async with running.client() as waiting:
        await waiting.send(client.request(body, [("Content-Type", "application/json"), *load.key(0, "waiting")]))
        async with asyncio.timeout(HANG):
            while _begun(running) == _ended(running):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield


def _entries(running: Running) -> int:
    """The entries of sessions; the logs of ledgers are others' books."""
    return sum(len(entries) for entries in running.journals().values() if isinstance(entries[0], Open))


def _begun(running: Running) -> int:
    return sum(isinstance(entry, Allocation) for entries in running.journals().values() for entry in entries)


def _ended(running: Running) -> int:
    return sum(isinstance(entry, Settlement) for entries in running.journals().values() for entry in entries)
