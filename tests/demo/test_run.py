"""Both runs through real sockets, and what the report makes of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from ctxgc.core.pacer import Pacer
from ctxgc.demo.agent import DemoFailed, play_session
from ctxgc.demo.checks import Prefixes, changes
from ctxgc.demo.model import ScriptedModel
from ctxgc.demo.report import FRAMING, Report, report
from ctxgc.demo.run import Runs, run_demo
from ctxgc.demo.script import Scenario
from ctxgc.tokens import Price
from tests.demo.scripts import LOG, short_session

PRICE = Price(input=2e-6, cached_read=2e-7, cache_write=2e-6, cache_write_1h=2e-6, output=1e-5)
OURS = "tool_schema:ctxgc_recall"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The whole demo, once."""
    return asyncio.run(run_demo("gpt-5", store_in(tmp_path_factory.mktemp("demo"))))


@pytest.fixture(scope="module")
def reported(runs: Runs) -> Report:
    return report(runs, PRICE)


def store_in(folder: Path) -> str:
    return f"sqlite:///{folder / 'demo.db'}"


def test_the_agent_gets_the_same_answers_either_way(runs: Runs) -> None:
    assert runs.without.history == runs.through.history
    assert len(runs.without.bodies) == len(runs.through.bodies) == 60


def test_every_second_turn_is_streamed(runs: Runs) -> None:
    asked = [json.loads(body).get("stream", False) for body in runs.through.bodies]
    assert asked == [True, False] * 30


def test_rows_sum_to_what_was_billed(reported: Report) -> None:
    assert sum(row.without for row in reported.rows) == reported.without.input
    assert sum(row.through for row in reported.rows) == reported.through.input


def test_what_belongs_to_no_block_is_the_same_for_every_request(reported: Report) -> None:
    framing = next(row for row in reported.rows if row.tag == FRAMING)
    assert framing.without == framing.through == 60 * (3 + 11)


def test_only_tool_results_are_sent_in_another_form(reported: Report) -> None:
    changed = {row.tag for row in reported.rows if row.without != row.through}
    tools = {f"tool_result:{tool}" for tool in ("read_file", "bash", "http_get", "grep")}
    assert changed == {*tools, OURS}
    assert all((row.through < row.without) == (row.tag in tools) for row in reported.rows if row.tag in changed)
    assert next(row for row in reported.rows if row.tag == OURS).without == 0


def test_each_kind_of_edit_is_made(reported: Report) -> None:
    assert [(edit.resident, edit.policy, edit.action) for edit in reported.edits] == [
        (False, "dedup", "dedup"),
        (False, "minify", "minify"),
        (True, "generational", "excerpt"),
        (True, "superseded", "stub"),
    ]
    assert all(edit.after < edit.before for edit in reported.edits)


def test_it_costs_less_though_more_is_sent_uncached(reported: Report) -> None:
    without, through = reported.without, reported.through
    assert without.usd is not None
    assert through.usd is not None
    assert through.usd < 0.75 * without.usd
    assert through.input < 0.5 * without.input
    assert through.uncached > without.uncached


def test_the_bill_follows_from_the_usages(runs: Runs, reported: Report) -> None:
    for played, bill in ((runs.without, reported.without), (runs.through, reported.through)):
        assert bill.input == sum(usage.input for usage in played.usages)
        expected = bill.uncached * PRICE.input + bill.cached * PRICE.cached_read + bill.output * PRICE.output
        assert bill.usd == pytest.approx(expected)


def test_the_prefix_stays_cached_where_nothing_sent_before_is_collected(runs: Runs, reported: Report) -> None:
    """An edit that changed what was sent before would show as a request that finds less cached than the last had."""
    collecting = {made.turn - 2 for made in reported.collections}  # of the requests that follow another
    for played, may in ((runs.without, set[int]()), (runs.through, collecting)):
        received = [usage.input - 3 for usage in played.usages[:-1]]
        expected = [size if size >= 1024 else 0 for size in received]
        cached = [usage.cached for usage in played.usages[1:]]
        pairs = enumerate(zip(cached, expected, strict=True))
        assert {at for at, (found, whole) in pairs if found != whole} == may


def test_a_collection_changes_the_messages_that_it_names_and_nothing_before_them(runs: Runs, reported: Report) -> None:
    calls = [made.turn - 2 for made in reported.collections]
    found = changes(runs.through.bodies)
    assert [at for at, changed in enumerate(found) if changed] == calls
    assert [len(found[at]) for at in calls] == [made.cells for made in reported.collections]
    assert reported.prefixes == Prefixes(followed=59, whole=59 - len(calls), collected=len(calls), broken=0)


def test_an_edit_that_no_collection_names_would_be_noticed(runs: Runs) -> None:
    spoiled = replace(runs.through, bodies=(*runs.through.bodies[:9], *map(shouted, runs.through.bodies[9:])))
    assert report(replace(runs, through=spoiled), PRICE).prefixes.broken == 1


def shouted(body: bytes) -> bytes:
    """The body with the task in capitals."""
    read = json.loads(body)
    read["messages"][1]["content"] = read["messages"][1]["content"].upper()
    return json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode()


def test_each_collection_had_cost_its_share_before_it_was_made(reported: Report) -> None:
    assert len(reported.collections) >= 3
    assert {made.generation for made in reported.collections} == {"minor", "major"}
    for made in reported.collections:
        assert (made.trigger, made.usd) == ("rent", False)  # the price here is not the price list's
        assert made.rent >= Pacer().patience * made.price
        assert made.context_after < made.context_before


def test_every_collected_result_can_be_read_back(runs: Runs, reported: Report) -> None:
    assert reported.store.recalled == reported.store.edited > 30


def test_what_is_read_back_wrong_would_be_noticed(runs: Runs, reported: Report) -> None:
    history = tuple({**message, "content": f"{message['content']} "} for message in runs.through.history)
    spoiled = replace(runs.through, history=history)
    assert report(replace(runs, through=spoiled), PRICE).store.recalled == 0


def test_the_store_agrees_with_what_the_model_received(reported: Report) -> None:
    store = reported.store
    assert (store.findings, store.rebuilt, store.bypassed) == (0, 60, 0)
    assert store.entries > 120


def test_without_a_price_there_are_no_dollars(runs: Runs) -> None:
    assert report(runs, None).without.usd is None


def test_where_a_cache_write_costs_extra_it_is_paid(runs: Runs) -> None:
    dearer = Price(input=2e-6, cached_read=2e-7, cache_write=3e-6, cache_write_1h=3e-6, output=0)
    bill = report(runs, dearer).through
    assert bill.usd == pytest.approx(bill.uncached * 3e-6 + bill.cached * 2e-7)


async def test_another_scenario_can_be_played(tmp_path: Path) -> None:
    played = await run_demo("gpt-4o", store_in(tmp_path), scenario=short_session())
    found = report(played, None)
    assert [edit.action for edit in found.edits if not edit.resident] == ["dedup", "minify"]
    assert (found.prefixes.followed, found.prefixes.broken) == (4, 0)
    assert found.store.recalled == found.store.edited > 0
    assert found.store.handle


async def test_progress_is_told_after_each_turn_of_each_run(tmp_path: Path) -> None:
    told: list[None] = []
    await run_demo("gpt-5", store_in(tmp_path), lambda: told.append(None), short_session())
    assert len(told) == 10


async def test_the_agent_appends_answers_results_and_the_user() -> None:
    scenario = short_session()
    async with ScriptedModel(scenario) as model:
        history = await play_session(model.base_url, scenario, "gpt-5")
    assert [message["role"] for message in history] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user"),
        *("assistant", "tool", "assistant"),
    ]
    assert history[3] == {"role": "tool", "tool_call_id": "call_0", "content": LOG}


async def test_a_refusal_ends_the_session() -> None:
    scenario = short_session()
    shorter = Scenario(scenario.system, scenario.task, scenario.tools, scenario.turns[:2])
    async with ScriptedModel(shorter) as model:
        with pytest.raises(DemoFailed, match="the script is at its end"):
            await play_session(model.base_url, scenario, "gpt-5")


async def test_nothing_listens_afterwards() -> None:
    async with ScriptedModel(short_session()) as model:
        url = model.base_url
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.ClientConnectionError):
            await http.get(f"{url}/models")
