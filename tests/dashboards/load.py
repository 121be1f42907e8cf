"""A load with something of everything: agents whose residents are collected, recalls, a compaction, faults and errors.

The same waves come again, so that every series grows once it is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ctxgc.core import stub
from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.policies.truncate import Truncate
from ctxgc.summarise import Ask, Said
from tests.lab import collected
from tests.proxy import client
from tests.proxy.bodies import LISTING, Dict, agent, body, calling, result, user
from tests.proxy.client import Pairs
from tests.proxy.compactions import TERMS, found, story
from tests.proxy.harness import Running
from tests.proxy.recalls import SEARCH, completed, recall
from tests.proxy.upstream import Answer, Call, Upstream, event, silent, stream, whole

UNUSED = {"type": "function", "function": {"name": "never", "description": "Nobody ever calls this. " * 40}}
FAULT, CUT = "a policy fails on this", "line 7 of a long listing"


@dataclass(frozen=True, slots=True)
class Moody:
    """Cuts one kind of listing as it arrives, and fails on one text."""

    name: str = "moody"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.eden:
            if FAULT in one.text:
                raise ArithmeticError("moody")
        cut = {one.id for one in heap.eden if CUT in one.text}
        return [verdict for verdict in Truncate(budget=64).propose(heap) if verdict.cell in cut]


SETTINGS: dict[str, Any] = {
    "policies": (
        {"name": "dedup"},
        {"name": "tests.dashboards.load:Moody"},
        {"name": "tests.lab.collected:Idle"},
        {**TERMS, "saving": 100},
    ),
    "regret": 2,
    "patience": 0,
    "quality_budget": 2000,
    "summariser": "own",
}
"""The proxy's: it collects whatever it costs, and compacts soon."""


def asker(ask: Ask) -> Said:
    """A model that has a part in records."""
    return Said(json.dumps(found(ask.messages)), "stop", "own", 100, 10)


def key(wave: int, agent_name: str) -> Pairs:
    """The credential of an agent, which makes its session one of its own."""
    return [("Authorization", f"Bearer sk-{agent_name}-{wave}")]


def bill(call: Call) -> Dict:
    """What a provider bills for a request: half of it read from the cache, where it is long."""
    tokens = len(call.body) // 4
    cached = tokens // 2 if tokens > 2048 else 0
    return {
        "prompt_tokens": tokens,
        "completion_tokens": 30,
        "total_tokens": tokens + 30,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": 10},
    }


def billed(text: str = "well", *calls: Dict) -> Answer:
    """A whole answer with a bill; ``HERE`` for a handle is the first one that the request shows."""

    async def answer(call: Call) -> None:
        shown = stub.handles(str(call.json["messages"]))
        made = json.loads(json.dumps(calls).replace("HERE", shown[0] if shown else ""))
        reply = json.loads(completed(*made, text=text))
        await whole(json.dumps({**reply, "model": call.json["model"], "usage": bill(call)}).encode())(call)

    return answer


def request(*messages: Dict, model: str = "gpt-5", **more: Any) -> bytes:
    """A request of an agent with one tool."""
    return body(*messages, **{"model": model, "tools": [SEARCH], **more})


async def searching(running: Running, upstream: Upstream, wave: int) -> None:
    """An agent that looks at many long listings: what it does not come back to is collected."""
    upstream.answers(billed())
    for text in collected.bodies():
        sent = json.loads(text)
        await chat(running, json.dumps({**sent, "model": "gpt-5"}).encode(), key(wave, "searching"))


async def recalling(running: Running, upstream: Upstream, wave: int) -> None:
    """A model that asks for what was cut, and under a handle that never was."""
    lost = recall("aaaaaaaaaaaaaaaa", index=1, call_id="r2")
    upstream.answers(billed(), billed("", recall("HERE"), lost), billed("I see"))
    history = [user("look"), calling(), result(text=LISTING)]
    for messages in ([user("look")], history, [*history, agent("I see"), user("and now?")]):
        await chat(running, request(*messages, model="gpt-4.1-mini"), key(wave, "recalling"))


async def compacted(running: Running, upstream: Upstream, wave: int) -> None:
    """A long conversation, a milestone, and what follows it: soon a record stands for what came before."""
    upstream.answers(billed())
    for turns in (11, 12):
        await chat(running, request(*story(turns), tools=[SEARCH, UNUSED]), key(wave, "long"))
    listed = await running.ask(client.request(method="GET", target="/ctxgc/sessions"))
    newest = json.loads(listed.body)["sessions"][-1]["session"]
    tell(open_ledger(running.store.inner, f"session {newest}"))
    target = f"/ctxgc/sessions/{newest}/milestone"
    done = client.request(b'{"name":"read"}', [("Content-Type", "application/json")], target=target)
    assert (await running.ask(done)).status == 200
    for turns in range(13, 21):
        await chat(running, request(*story(turns), tools=[SEARCH, UNUSED]), key(wave, "long"))


def tell(ledger: Ledger) -> None:
    """Somebody posts a fact, of which the model is told."""
    voucher = ledger.vault.store(ref="run 1", content="12 passed", kind="test", exit_status=0)
    ledger.post("12 tests pass", [ledger.verify(voucher, "12 passed")])


async def chat(running: Running, body: bytes, who: Pairs) -> None:
    """A request that is answered."""
    answer = await running.chat(body, who)
    assert (answer.status, answer.whole) == (200, True)


async def faulty(running: Running, upstream: Upstream, wave: int) -> None:
    """Errors of the upstream, a broken answer, a client that leaves, a policy that fails, a model nobody knows."""
    refusal = json.dumps({"error": {"message": "overloaded", "type": "server_error"}}).encode()
    said = [billed(), whole(refusal, 500), stream(event("we"), event("ll"), ending=False), billed(), billed()]
    upstream.answers(*said)
    for number in range(3):
        await running.chat(request(user(f"try {number}"), model="gpt-4.1-mini"), key(wave, f"faulty-{number}"))
    failing = request(user("go"), calling(), result(text=f"{FAULT} {LISTING}"))
    await chat(running, failing, key(wave, "fault"))
    await chat(running, request(user(), model="our-own-7b"), key(wave, "unknown"))
    await leaving(running, upstream, key(wave, "leaving"))


async def leaving(running: Running, upstream: Upstream, who: Pairs) -> None:
    """A client that goes before its answer has come."""
    upstream.answers(silent())
    calls = len(upstream.calls)
    async with running.client() as gone:
        await gone.send(client.request(request(user("never mind")), [("Content-Type", "application/json"), *who]))
        while len(upstream.calls) == calls:
            await upstream.next()
    await upstream.calls[-1].gone.wait()


async def wave(running: Running, upstream: Upstream, number: int) -> None:
    """All of it, one after the other."""
    for part in (searching, recalling, compacted, faulty):
        await part(running, upstream, number)
