"""Leak suspects are looked for beside the requests, and nothing that goes wrong with it reaches one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ctxgc.proxy import chores
from ctxgc.store import StoreUnavailable
from ctxgc.telemetry.looking import Looks
from tests.proxy.bodies import agent, body, user
from tests.proxy.client import request

UNUSED = {"type": "function", "function": {"name": "paint", "description": "Paints a picture. " * 30}}


async def converse(running: Any, requests: int) -> None:
    """A conversation of so many requests, with a tool that nobody calls; until all its chores are done."""
    messages = [user()]
    for _ in range(requests):
        answer = await running.chat(body(*messages, tools=[UNUSED]))
        assert answer.status == 200
        messages += [agent(), user("and?")]
    while under_way := [one for one in asyncio.all_tasks() if "Chores" in getattr(one.get_coro(), "__qualname__", "")]:
        await asyncio.gather(*under_way)


async def metric(running: Any, name: str) -> float:
    text = (await running.ask(request(method="GET", target="/metrics"))).body.decode()
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return float(line.rpartition(" ")[2])


def fault(*args: Any) -> int:
    return 1 // 0


SUSPECTS, FAULTS = 'ctxgc_leak_suspects_total{rule="unused_schema"}', "ctxgc_telemetry_faults_total"


@pytest.mark.parametrize(("requests", "found"), [(9, 0), (10, 1), (21, 1)])
async def test_a_suspect_is_told_once_when_ten_requests_have_ended(observing, requests, found):
    await converse(observing, requests)
    assert await metric(observing, SUSPECTS) == found
    assert await metric(observing, FAULTS) == 0


@pytest.mark.parametrize("what", ["store", "rules", "when"])
async def test_a_look_that_fails_is_a_fault_of_the_figures_and_of_no_request(observing, monkeypatch, what):
    await converse(observing, 9)
    if what == "store":
        observing.store.reading = StoreUnavailable("the disk is gone")
    elif what == "when":
        looks = iter([fault, lambda state: 0])
        monkeypatch.setattr(Looks, "due", lambda looks_, state: next(looks)(state))
    else:
        monkeypatch.setattr(chores, "looking", lambda entries, look: 1 // 0)
    await converse(observing, 2)
    assert await metric(observing, SUSPECTS) == 0
    assert await metric(observing, FAULTS) == 1
    assert await metric(observing, 'ctxgc_fail_open_total{reason="fault"}') == 0


async def test_sessions_are_looked_at_one_at_a_time(observing, monkeypatch):
    under_way, most = [], []

    def watched(entries, look):
        under_way.append(look)
        most.append(len(under_way))
        for _ in entries:
            yield
        under_way.pop()
        return ()

    monkeypatch.setattr(chores, "looking", watched)
    await asyncio.gather(*(converse(Conversation(observing, at), 10) for at in range(4)))
    assert most == [1] * 4


class Conversation:
    """One of several that go on at a time."""

    def __init__(self, running: Any, number: int) -> None:
        self._running, self._headers = running, (("Authorization", f"Bearer sk-{number}"),)

    async def chat(self, text: bytes) -> Any:
        return await self._running.chat(text, self._headers)
