"""A load with all that the page shows: tools that are called and one that is not, reads made again, collections of all
kinds, a compaction, a recall by the model, an upstream that fails, and a ledger.

Requests come one after another, so that the store is the same whenever it is read.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from ctxgc.core import stub
from ctxgc.ledger import Ledger, open_ledger
from tests.proxy.bodies import Dict, agent, calling, result, user
from tests.proxy.client import KEY
from tests.proxy.harness import Running
from tests.proxy.recalls import completed, recall, request
from tests.proxy.upstream import Call, Upstream, whole

TURNS = 34
AGENT, HELPER = ("x-ctxgc-session", "agent"), ("x-ctxgc-session", "helper")
TERMS = {"name": "compact", "tail": 600, "record": 900, "opening": 200, "saving": 600}
SETTINGS: dict[str, Any] = {
    "policies": (
        {"name": "dedup", "min_tokens": 16}, {"name": "truncate", "budget": 500},
        {"name": "generational", "idle": 2, "idle_referenced": 3, "old_idle": 6, "keep": 0.2},
        TERMS,
    ),
    "quality_budget": 6000, "regret": 0.5, "summariser": "off",
}  # fmt: skip
"""Settings with which a conversation of some ten thousand tokens is collected in every way there is."""
NAMES = ("parse_config", "load_session", "render_page", "merge_branch", "close_ledger", "open_socket", "trim_history")


def tool(name: str, says: str) -> Dict:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": says, "parameters": parameters}}


TOOLS = [
    tool("read_file", "reads a file"), tool("search", "searches all files"),
    tool("deploy", "puts the whole of it on all of the machines, one after the other, in the order of their names"),
]  # fmt: skip


class Model:
    """An upstream that counts a token for four bytes, has cached what came before in the same bytes, and answers
    with what is in ``replies`` first."""

    def __init__(self, upstream: Upstream) -> None:
        self.replies: list[bytes | int] = []
        self.newest: Dict = {}
        self._before = b""
        upstream.answers(self)

    async def __call__(self, call: Call) -> None:
        self.newest = call.json
        total = len(call.body) // 4
        shared = next((at for at, pair in enumerate(zip(self._before, call.body, strict=False)) if len({*pair}) > 1), 0)
        self._before = call.body
        usage = {"prompt_tokens": total, "completion_tokens": 9, "total_tokens": total + 9}
        reply = self.replies.pop(0) if self.replies else completed(text="well")
        if isinstance(reply, int):
            await whole(b'{"error":{"message":"overloaded","type":"server_error"}}', reply)(call)
            return
        cached = {"prompt_tokens_details": {"cached_tokens": min(shared // 4 // 128 * 128, total)}}
        await whole(json.dumps({**json.loads(reply), "model": "gpt-5", "usage": {**usage, **cached}}).encode())(call)


def listing(number: int) -> str:
    """A long listing whose lines hold names of their own."""
    name = NAMES[number % len(NAMES)]
    return "".join(f"{at}: def {name}_{number}_{at}(request): return {at * number}\n" for at in range(40))


def turn(number: int) -> list[Dict]:
    """The agent reads or searches; every fifth time it reads again what it has read before."""
    again = number - 1 if number % 5 == 4 else number
    name, path = ("search", f"module {again}") if again % 3 == 2 else ("read_file", f"src/module_{again}.py")
    said = {
        **calling(f"c{number}", name, json.dumps({"path": path})),
        "content": f"Next is {NAMES[again % 7]}_{again}.",
    }
    return [said, result(f"c{number}", listing(again))]


@dataclass
class Load:
    """A proxy with its model, while a conversation goes through it."""

    running: Running
    model: Model
    messages: list[Dict] = field(default_factory=list)
    header: tuple[str, str] = AGENT
    tools: list[Dict] = field(default_factory=lambda: list(TOOLS))

    async def send(self, status: int = 200) -> None:
        """The conversation as it is now."""
        body = request(*self.messages, tools=self.tools)
        answer = await self.running.chat(body, (KEY, self.header))
        assert answer.status == status, answer.body

    async def play(self, turns: int = TURNS) -> None:
        """A conversation of so many turns: an answer is followed by a question, an error by another try."""
        self.messages = [{"role": "system", "content": "You mend programs. " * 12}, user("Find the fault in it.")]
        await self.send()
        for number in range(turns):
            self.messages += turn(number)
            if number == 6:
                self.model.replies = [503]
                await self.send(503)
            if number == 12:
                self.messages += [agent("The first part is done."), user("Go on with the second.")]
            if number in (16, 28):
                self._recall()
            await self.send()

    def _recall(self) -> None:
        """Have the model ask for what it was told the handle of."""
        shown = [
            handle for message in self.model.newest["messages"] for handle in stub.handles(str(message["content"]))
        ]
        self.model.replies = [completed(recall(shown[-1], call_id=f"r{len(self.messages)}")), completed(text="I see.")]

    async def keys(self) -> list[bytes]:
        """The sessions on disk, the oldest first."""
        await asyncio.to_thread(self.running.store.inner.flush)
        return [row.key for row in self.running.store.inner.sessions() if not is_ledger(self.running, row.key)]


def is_ledger(running: Running, key: bytes) -> bool:
    """Whether a log is that of a ledger: it has no ``open`` entry."""
    return next(iter(running.store.inner.entries(key))).kind != "open"


def voucher(statement: str) -> str:
    """A log of a few lines, in which a statement stands."""
    return f"a run\n{statement}\nall of it was well\n"


def post(ledger: Ledger, statement: str, supersedes: str = "") -> str:
    """A fact with a voucher of a few lines that says so; its id."""
    stored = ledger.vault.store(ref=f"log of {statement}", content=voucher(statement))
    return ledger.post(statement, [ledger.verify(stored, statement)], supersedes=supersedes).id


def books(running: Running, session: str) -> None:
    """Facts that stand, are superseded or withdrawn, a claim, two periods, and a look at all of them."""
    with open_ledger(running.store.inner, f"session {session}") as ledger:
        old, gone = post(ledger, "the port is 80"), post(ledger, "the host is up")
        ledger.close("looked around")
        post(ledger, "the port is 81", supersedes=old)
        ledger.supersede(gone, "", "it went down")
        for number in range(5):
            post(ledger, f"{number} tests passed")
        ledger.claim("it will be fine")
        ledger.close("tested")
        post(ledger, "the door is shut")
        ledger.reconcile()
