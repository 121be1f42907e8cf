"""The host says that a sub-task is done: over HTTP, or by what a result must show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxgc.core.compaction import Milestone
from ctxgc.core.journal import Bypass
from ctxgc.ledger import Ledger, open_ledger, reads_back
from ctxgc.proxy import errands
from ctxgc.session import Session
from tests.proxy.client import KEY, Answer, Pairs, request
from tests.proxy.compactions import OVER, SMALL, TERMS, Held, Model, compactions, grow, story, summarising, turn
from tests.proxy.harness import Running
from tests.proxy.recalls import request as asking

ROOM: dict[str, Any] = {"policies": ({**TERMS, "saving": 100},), "summariser": "off"}
"""Settings with room for all of it: only a milestone is a reason to compact."""
JSON = ("Content-Type", "application/json")


async def keys(running: Running) -> list[str]:
    """The sessions that the proxy lists."""
    answer = await running.ask(request(method="GET", target="/ctxgc/sessions"))
    return [one["session"] for one in json.loads(answer.body)["sessions"]]


async def reach(
    running: Running,
    session: str,
    body: bytes = b'{"name":"report written"}',
    headers: Pairs = (JSON,),
    method: str = "POST",
) -> Answer:
    target = f"/ctxgc/sessions/{session}/milestone"
    return await running.ask(request(body, headers, method=method, target=target))


def ledger_of(running: Running, session: str) -> Ledger:
    """The ledger of a session, as others open it."""
    return open_ledger(running.store.inner, f"session {session}")


async def begun(running: Running, turns: int = 8) -> str:
    """A conversation of so many turns; its session."""
    await grow(running, 1, turns)
    (session,) = await keys(running)
    return session


async def test_a_milestone_closes_the_period_and_is_in_the_journal(start, upstream):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running)
        ledger = ledger_of(running, session)
        voucher = ledger.vault.store(ref="run 1", content="12 passed", kind="test", exit_status=0)
        ledger.post("12 tests pass", [ledger.verify(voucher, "12 passed")])
        answer = await reach(running, session)
        assert answer.status == 200
        named = {"schema": "ctxgc.milestone/1", "session": session, "milestone": "report written"}
        assert json.loads(answer.body) == named
        (period,) = ledger.books.periods
        assert (period.milestone, period.balance) == ("report written", ("F1",))
        (reached,) = await running.store.until(Milestone)
        assert reached.name == "report written"
        running.check()


async def test_what_led_to_a_milestone_is_compacted_where_that_pays(start, upstream):
    model = Model(upstream)
    async with start(**{**ROOM, "quality_budget": 0, "patience": 0, "regret": 9}) as running:
        session = await begun(running, 12)
        assert not compactions(running)
        assert (await reach(running, session)).status == 200
        await running.store.until(Milestone)
        await grow(running, 13, 40)
        made = compactions(running)
        assert [one.trigger for one in made] == ["milestone"]
        assert len(model.sent) < len(story(40))
        running.check()


@pytest.mark.parametrize("wanted", ["0" * 64, "abc", "x", "%2e%2e", "0" * 8])
async def test_an_unknown_session_has_no_milestones(start, upstream, wanted):
    Model(upstream)
    async with start(**ROOM) as running:
        await begun(running, 1)
        answer = await reach(running, wanted)
        assert answer.status == 404
        assert not running.store.of(Milestone)


async def test_a_session_is_known_by_how_its_key_begins(start, upstream):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 1)
        assert (await reach(running, session[:8])).status == 200
        assert (await reach(running, session[:7])).status == 404  # anyone could guess that


async def test_a_critical_fact_that_has_drifted_keeps_the_period_open(start, upstream, tmp_path):
    Model(upstream)
    live = tmp_path / "config.toml"
    live.write_text("port = 5433\n")
    async with start(**ROOM) as running:
        session = await begun(running)
        ledger = ledger_of(running, session)
        voucher = ledger.vault.store(ref=str(live), content="port = 5433\n")
        ledger.post("The port is 5433", [ledger.verify(voucher, reads_back())], criticality="critical")
        live.write_text("port = 5432\n")
        answer = await reach(running, session)
        assert answer.status == 409
        assert answer.error["type"] == "ctxgc_period_open"
        assert "F1" in answer.error["message"]
        assert not ledger.books.periods
        assert not running.store.of(Milestone)
        live.write_text("port = 5433\n")
        assert (await reach(running, session)).status == 200


REFUSED = {
    "a form": (415, b"name=x", [("Content-Type", "application/x-www-form-urlencoded")]),
    "a form with JSON in it": (415, b'{"name":"x"}', [("Content-Type", "text/plain")]),
    "a form with files": (415, b'{"name":"x"}', [("Content-Type", "multipart/form-data; boundary=x")]),
    "no type": (415, b'{"name":"x"}', []),
    "a page of another origin": (403, b'{"name":"x"}', [JSON, ("Origin", "https://evil.example")]),
    "an opaque origin": (403, b'{"name":"x"}', [JSON, ("Origin", "null")]),
    "too large": (413, b'{"name":"' + b"x" * 20_000 + b'"}', [JSON]),
    "not JSON": (400, b"{", [JSON]),
    "no name": (400, b"{}", [JSON]),
    "an empty name": (400, b'{"name":""}', [JSON]),
    "a long name": (400, b'{"name":"' + b"x" * 301 + b'"}', [JSON]),
    "another member": (400, b'{"name":"x","close":true}', [JSON]),
    "no text": (400, b'{"name":7}', [JSON]),
    "not UTF-8": (400, b'{"name":"\xff"}', [JSON]),
}


@pytest.mark.parametrize("why", REFUSED)
async def test_what_is_no_request_of_a_hosts_is_refused(start, upstream, why):
    status, body, headers = REFUSED[why]
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 1)
        answer = await reach(running, session, body, headers)
        assert (answer.status, answer.error["type"]) == (status, "ctxgc_refused")
        assert answer.header("access-control-allow-origin") is None
        assert not running.store.of(Milestone)
        assert not ledger_of(running, session).books.periods


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
async def test_no_other_method_ends_a_period(start, upstream, method):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 1)
        answer = await reach(running, session, method=method)
        assert answer.status == 405
        assert answer.header("access-control-allow-methods") is None  # nor is a page told that it may
        assert not running.store.of(Milestone)


async def test_another_host_ends_no_period(start, upstream):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 1)
        target = f"/ctxgc/sessions/{session}/milestone"
        answer = await running.ask(request(b'{"name":"x"}', [JSON], target=target, host="evil.example"))
        assert answer.status == 421
        assert not running.store.of(Milestone)


@pytest.mark.parametrize(
    "name",
    ["\ud800", "<script>", "a\nb\x1b[31m", "完了", "x" * 300],
    ids=["surrogate", "markup", "control", "wide", "long"],
)
async def test_any_name_that_is_short_enough_is_taken(start, upstream, name):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 1)
        answer = await reach(running, session, json.dumps({"name": name}).encode())
        assert answer.status in (200, 400)  # a lone surrogate is no text in JSON
        running.check()


async def test_a_milestone_waits_for_no_summariser(start, upstream, monkeypatch):
    Model(upstream)
    held = Held()
    summarising(monkeypatch, held)
    async with start(**SMALL) as running:
        session = await begun(running, 13)
        await held.is_asked()
        assert (await reach(running, session)).status == 200
        assert not held.released.is_set()
        held.released.set()


async def test_a_session_whose_journal_has_lost_an_entry_ends_no_period(start, upstream, monkeypatch):
    Model(upstream)
    async with start(**ROOM) as running:
        session = await begun(running, 2)
        with monkeypatch.context() as patch:
            patch.setattr(Session, "broken", property(lambda _session: True))
            answer = await reach(running, session)
        assert answer.status == 409
        assert "say it again" in answer.error["message"]
        assert not ledger_of(running, session).books.periods
        assert (await reach(running, session)).status == 200
        await running.store.until(Milestone)


# By what a result shows

PASSED = ({"name": "part done", "site": "look(*)", "quotes": "table_3_0 was read"},)


async def test_a_result_that_is_watched_for_ends_a_period(start, upstream):
    Model(upstream)
    async with start(**ROOM, milestones=PASSED) as running:
        await grow(running, 1, 3)
        assert not running.store.of(Milestone)
        await grow(running, 4, 6)
        (reached,) = await running.store.until(Milestone)
        (session,) = await keys(running)
        assert reached.name == "part done"
        assert [one.milestone for one in ledger_of(running, session).books.periods] == ["part done"]
        await grow(running, 7, 8)
        assert len(running.store.of(Milestone)) == 1


async def test_another_tools_result_is_not(start, upstream):
    Model(upstream)
    async with start(**ROOM, milestones=({**PASSED[0], "site": "run_tests(*)"},)) as running:
        await grow(running, 1, 6)
        (session,) = await keys(running)
        assert not running.store.of(Milestone)
        assert not ledger_of(running, session).books.periods


async def test_what_an_agent_or_a_user_says_ends_no_period(start, upstream):
    Model(upstream)
    said = [
        *story(1),
        {"role": "assistant", "content": "table_3_0 was read"},
        {"role": "user", "content": "table_3_0 was read"},
    ]
    async with start(**ROOM, milestones=PASSED) as running:
        for _ in range(2):
            await running.chat(asking(*said))
        await grow(running, 1, 1)
        assert not running.store.of(Milestone)


async def test_a_watched_result_closes_on_what_agrees_or_not_at_all(start, upstream, tmp_path):
    Model(upstream)
    live = tmp_path / "live.txt"
    live.write_text("one")
    async with start(**ROOM, milestones=PASSED) as running:
        session = await begun(running, 1)
        ledger = ledger_of(running, session)
        voucher = ledger.vault.store(ref=str(live), content="one")
        ledger.post("It is one", [ledger.verify(voucher, reads_back())], criticality="critical")
        live.write_text("two")
        await grow(running, 2, 6)
        (fault,) = await running.store.until(Bypass)
        assert fault.reason.startswith("period not closed: ")
        assert not ledger.books.periods


async def test_a_retry_reaches_nothing_again(start, upstream):
    Model(upstream)
    async with start(**ROOM, milestones=PASSED) as running:
        await grow(running, 1, 4)
        await running.store.until(Milestone)
        for _ in range(3):
            await running.chat(turn(4), [KEY])
        (session,) = await keys(running)
        assert len(running.store.of(Milestone)) == 1
        assert len(ledger_of(running, session).books.periods) == 1


async def test_a_period_is_closed_while_all_models_that_may_be_asked_hang(start, upstream, monkeypatch):
    Model(upstream)
    held = Held()
    summarising(monkeypatch, held)
    monkeypatch.setattr(errands, "AT_ONCE", 1)
    watched = {**PASSED[0], "quotes": f"table_{OVER}_0 was read"}
    async with start(**SMALL, milestones=(watched,)) as running:
        await grow(running, 1, OVER)
        await held.is_asked()
        await grow(running, OVER + 1, OVER + 1)
        await running.store.until(Milestone)
        assert not held.released.is_set()
        held.released.set()
