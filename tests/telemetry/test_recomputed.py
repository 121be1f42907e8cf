"""A real proxy under a scripted load: what /metrics says is what its store says, recomputed by other code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.parser import text_string_to_metric_families as families

from ctxgc.assemble import prices
from ctxgc.telemetry import METRICS, TABLE
from tests.proxy.bodies import agent, body, user
from tests.proxy.client import request as get
from tests.proxy.harness import Running, proxy
from tests.proxy.recalls import HISTORY, NAME, completed, recall, request
from tests.proxy.test_recall_residents import ASKED, CALLS, SOON, STORY, handles
from tests.proxy.upstream import Call, Upstream, stream, whole

from .recomputed import KINDS, MODEL, NOT_IN_THE_JOURNAL, Key, Recomputed

UNUSED = {"type": "function", "function": {"name": "paint", "description": "Paints a picture. " * 30}}
LABELS = {metric.name: metric.labels for metric in TABLE}


class Billing:
    """Answers as a provider does that caches: what begins as the last request of its conversation did, is read."""

    def __init__(self) -> None:
        self._last: dict[str, list[str]] = {}

    def usage(self, call: Call) -> dict[str, Any]:
        messages = [json.dumps(one) for one in call.json["messages"]]
        before = self._last.get(messages[0], [])
        self._last[messages[0]] = messages
        same = takewhile(lambda pair: pair[0] == pair[1], zip(before, messages, strict=False))
        cached = sum(len(one) // 4 for one, _ in same)
        total = sum(len(one) // 4 for one in messages) + 90
        details = {"cached_tokens": cached}
        return {
            "prompt_tokens": total,
            "completion_tokens": 9,
            "total_tokens": total + 9,
            "prompt_tokens_details": details,
        }


def answering(billing: Billing, *calls: Any) -> Any:
    """A reply with these calls (or text), and a bill."""

    async def answer(call: Call) -> None:
        made = [recall(handles(call)[0])] if calls else []
        reply = json.loads(completed(*made, text=None if made else "well"))
        await whole(json.dumps({**reply, "usage": billing.usage(call)}).encode())(call)

    return answer


def refusing(billing: Billing) -> Any:
    """Refuses what offers ctxgc's tool."""

    async def answer(call: Call) -> None:
        await (whole(b'{"error":{}}', 400) if NAME in call.body else answering(billing))(call)

    return answer


async def load(upstream: Upstream, running: Running) -> None:
    """Three conversations: one is collected and recalls, one is refused what was collected, one fails; and a stray."""
    billing = Billing()
    upstream.answers(*[answering(billing)] * ASKED, answering(billing, "recall"), answering(billing))
    for at in range(CALLS):
        await running.chat(request(*STORY[: 4 + 2 * at]))
    first = (user("another"), *HISTORY[1:])
    upstream.answers(answering(billing), refusing(billing))
    await running.chat(request(*first))
    await running.chat(request(*first, user("and?")))
    upstream.answers(whole(b"{}", 500), stream(ending=False), answering(billing))
    third = [user("a third one")]
    for _ in range(12):
        await running.chat(body(*third, tools=[UNUSED]))
        third += [agent("well"), user("and?")]
    upstream.answers(whole())
    await running.chat(b"{")


async def chores() -> None:
    """Wait for what is done when nobody waits."""
    while under_way := [one for one in asyncio.all_tasks() if "Chores" in getattr(one.get_coro(), "__qualname__", "")]:
        await asyncio.gather(*under_way)


async def metrics(running: Running) -> list[Family]:
    async with running.client() as client:
        await client.send(get(method="GET", target="/metrics"))
        await client.head()
        return list(families((await client.rest()).body.decode()))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Family], Recomputed]:
    async def run(path: Path) -> tuple[list[Family], Recomputed]:
        async with Upstream() as upstream, proxy(upstream.base, path / "audit.db", **SOON) as running:
            await load(upstream, running)
            await chores()
            found = Recomputed(prices()("gpt-5"))  # type: ignore[arg-type]
            exposed = await metrics(running)
            running.check()
            found.all(running.journals())
            return exposed, found

    return asyncio.run(run(tmp_path_factory.mktemp("measured")))


def samples(exposed: Sequence[Family], suffix: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """What is not zero, by name and label values."""
    for family in exposed:
        for sample in family.samples:
            name = sample.name.removesuffix(suffix) if suffix != "_total" else sample.name
            if sample.name.endswith(suffix) and name in LABELS and sample.value:
                yield (name, *(sample.labels[label] for label in LABELS[name])), sample.value


def differing(shown: Mapping[Key, float], found: Mapping[Key, float]) -> dict[Key, tuple[float, float]]:
    """Where the two do not agree."""
    keys = shown.keys() | found.keys()
    return {
        key: (shown.get(key, 0), found.get(key, 0))
        for key in keys
        if shown.get(key, 0) != pytest.approx(found.get(key, 0))
    }


def test_every_counter_is_what_the_journals_say(measured: tuple[list[Family], Recomputed]) -> None:
    exposed, found = measured
    counters = {key: value for key, value in samples(exposed, "_total") if key[0] not in NOT_IN_THE_JOURNAL}
    assert differing(counters, found.counters) == {}


def test_every_histogram_is_what_the_journals_say(measured: tuple[list[Family], Recomputed]) -> None:
    exposed, found = measured
    for suffix, of in (("_count", len), ("_sum", sum)):
        shown = {key: value for key, value in samples(exposed, suffix) if key[0] not in NOT_IN_THE_JOURNAL}
        assert differing(shown, {key: of(values) for key, values in found.observed.items() if of(values)}) == {}


def test_what_sessions_carry_now_is_what_the_journals_say(measured: tuple[list[Family], Recomputed]) -> None:
    exposed, found = measured
    (live,) = [family for family in exposed if family.name == "ctxgc_live_context_tokens"]
    assert {sample.labels["tag"]: sample.value for sample in live.samples if sample.value} == dict(+found.live)


def test_the_load_makes_nearly_every_metric_say_something(measured: tuple[list[Family], Recomputed]) -> None:
    """The control: what is zero on both sides proves nothing."""
    _, found = measured
    quiet = {"compactions", "summaries", "summaries_tokens", "milestones", "ledger_news", "audit_gaps"}
    said = {key[0] for key in (*found.counters, *found.observed)} | {"ctxgc_live_context_tokens"}
    assert METRICS.keys() - said == NOT_IN_THE_JOURNAL | {f"ctxgc_{name}_total" for name in quiet}
    outcomes = {key[3] for key in found.counters if key[0] == "ctxgc_requests_total"}
    assert outcomes <= set(KINDS)
    assert len(outcomes) >= 2
    assert found.counters["ctxgc_cache_invalidated_tokens_total", MODEL[0], "plain"] > 0
    assert found.counters["ctxgc_resurrections_total", "tool_result", "hit"] == 1
    assert found.counters["ctxgc_leak_suspects_total", "unused_schema"] == 1
