"""What only a running proxy can measure, and the settings of its metrics."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ctxgc.errors import ConfigError
from ctxgc.proxy import server
from ctxgc.session import Sessions
from ctxgc.store import StoreCorrupt, StoreUnavailable
from tests.proxy.bodies import SMALL, agent, body, tooled, user
from tests.proxy.client import request


async def exposed(running: Any, accept: str = "*/*") -> dict[str, float]:
    """The samples of /metrics, as they are written, without what is not zero."""
    asked = request(method="GET", target="/metrics", headers=(("Accept", accept),))
    lines = (await running.ask(asked)).body.decode().splitlines()
    pairs = (line.partition(" # ")[0].rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs if float(value)}


async def test_the_phases_of_work_are_timed(start, upstream):
    async with start(**SMALL) as running:
        await running.chat(tooled())
        found = await exposed(running)
    for phase in ("tokenize", "mark", "sweep"):
        assert found[f'ctxgc_collection_duration_seconds_count{{phase="{phase}"}}'] == 1


async def test_what_sessions_in_memory_carry_is_shown_by_tag(start, upstream):
    async with start(**SMALL) as running:
        await running.chat(tooled())
        found = await exposed(running)
        (state,) = running.check()
    shown = {name: value for name, value in found.items() if name.startswith("ctxgc_live_context_tokens")}
    assert sum(shown.values()) == sum(cell.sent for cell in state.cells)
    assert 'ctxgc_live_context_tokens{tag="tool_result"}' in shown


@pytest.mark.parametrize(("error", "failures"), [(StoreCorrupt("does not match"), 1), (StoreUnavailable("gone"), 0)])
async def test_a_journal_that_contradicts_its_hashes_is_counted_and_the_request_goes_on(
    start, upstream, error, failures
):
    async with start() as running:
        running.store.reading = error
        assert (await running.chat(body(user()))).status == 200
        running.store.reading = None
        found = await exposed(running)
    assert found.get("ctxgc_audit_verify_failures_total", 0) == failures
    assert found['ctxgc_fail_open_total{reason="fault"}'] == 1


async def test_metrics_are_left_out_by_name_and_tools_are_not_told_apart_where_that_is_set(start, upstream):
    async with start(metrics_exclude=("ctxgc_store_bytes",), metrics_sources=False) as running:
        await running.chat(tooled())
        found = await exposed(running)
    assert "ctxgc_store_bytes" not in found
    assert not any("search" in name for name in found)
    assert any('source="",stage="received",tag="tool_result"' in name for name in found)


async def test_control_both_are_there_by_default(start, upstream):
    async with start() as running:
        await running.chat(tooled())
        found = await exposed(running)
    assert "ctxgc_store_bytes" in found
    assert any('source="search"' in name for name in found)


async def test_a_metric_that_there_is_not_cannot_be_left_out(start):
    with pytest.raises(ConfigError, match="ctxgc_store_byte"):
        async with start(metrics_exclude=("ctxgc_store_byte",)):
            pass


async def test_sessions_that_leave_memory_and_come_back_are_paid_for_with_every_request(start, upstream, monkeypatch):
    made, met = [], set()
    monkeypatch.setattr(server, "Sessions", lambda kit: made.append(Sessions(kit, live=1)) or made[0])
    async with start(**SMALL) as running:
        for number in range(3):
            for name in "ab":
                answer = await running.chat(body(*[user("go on")] * (number + 1), agent()), [("Authorization", name)])
                assert answer.status == 200
                while not all(session.idle for session in made[0]):  # noqa: ASYNC110  # else it would not make room
                    await asyncio.sleep(0)
                met |= set(made[0])
        assert len(met) == 6  # the control: all were restored, each time
        found = await exposed(running)
        states = running.check()
    assert [state.calls for state in states] == [3, 3]
    for kind in ("paid", "untouched"):
        stored = sum(getattr(state.pace, kind) for state in states)
        assert found[f'ctxgc_input_cost_usd_total{{kind="{kind}"}}'] == pytest.approx(stored)
