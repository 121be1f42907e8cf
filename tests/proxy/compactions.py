"""A conversation that outgrows a small budget, and a model that is also asked for its part of the record."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxgc.core.compaction import Compaction
from ctxgc.proxy import server
from ctxgc.session.kit import Summariser
from ctxgc.store import open_store
from ctxgc.store.rows import blob_row
from ctxgc.summarise import Ask, Said
from tests.proxy.bodies import Dict, agent, calling, result, user
from tests.proxy.client import KEY, Answer, Pairs
from tests.proxy.harness import Running
from tests.proxy.recalls import completed, request
from tests.proxy.upstream import HANG, Call, whole

TERMS = {"name": "compact", "tail": 300, "record": 500, "opening": 200, "saving": 400}
SMALL: dict[str, Any] = {"policies": (TERMS,), "quality_budget": 2000}
"""Settings with which a conversation is compacted after a few turns."""
OFF = {**SMALL, "summariser": "off"}
DEMAND = "Never push to main."
FACT = "orders_7 has 5120 rows"
OVER = 13
"""The turns with which ``story`` is over the budget for the first time."""

LAST = 30
"""Turns to which no conversation here comes without being compacted."""


def story(turns: int) -> list[Dict]:
    """A conversation of so many turns. The second message of the user's binds, and the third result holds a fact."""
    messages = [user("Look at the tables."), agent("Which?"), user(f"All of them. {DEMAND}")]
    for number in range(turns):
        rows = [f"table_{number}_{row} was read in {row * 37 % 101} ms" for row in range(7)]
        text = "\n".join([*rows, *([FACT] if number == 2 else [])])
        said = {**calling(f"c{number}", "look", json.dumps({"table": number})), "content": f"Next is {_words(number)}."}
        messages += [said, result(f"c{number}", text)]
    return messages


def _words(number: int) -> str:
    return " ".join(f"table_{number}_{at}" for at in range(8))


def turn(turns: int, **more: Any) -> bytes:
    """The request with that many turns."""
    return request(*story(turns), **more)


class Model:
    """Answers requests with a text, and questions for a record with ``said``: each kind is kept apart.

    A question has no tools. ``replies`` are answers for the next requests, before the text.
    """

    def __init__(self, upstream: Any, said: Callable[[Dict], bytes] | None = None, status: int = 200) -> None:
        self.requests: list[Call] = []
        self.questions: list[Call] = []
        self.replies: list[bytes] = []
        self._said, self._status = said or record, status
        upstream.answers(self)

    async def __call__(self, call: Call) -> None:
        if "tools" not in call.json:
            self.questions.append(call)
            await whole(self._said(call.json), self._status)(call)
            return
        self.requests.append(call)
        await whole(self.replies.pop(0) if self.replies else completed(text="well"))(call)

    @property
    def sent(self) -> list[Dict]:
        """The messages of the newest request."""
        return list(self.requests[-1].json["messages"])

    @property
    def raw(self) -> bytes:
        """The newest request."""
        return self.requests[-1].body


def record(question: Dict) -> bytes:
    """A record with the fact in it, by the label under which the question shows it."""
    return completed(text=json.dumps(found(question["messages"])))


def found(messages: Sequence[Dict]) -> Dict:
    """What a model finds in what it is told."""
    told = str(messages[1]["content"])
    empty: Dict = {name: [] for name in ("decisions_made", "constraints_learned", "open_items", "facts", "resolved")}
    before = told.partition(FACT)[0]
    if before == told:
        return {
            **empty,
            "open_items": [{"text": "go on", "source": told[told.index("<c") + 1 :].split()[0], "quote": ""}],
        }
    label = before[before.rindex("<c") + 1 :].split()[0]
    return {**empty, "facts": [{"text": f"The {FACT}", "source": label, "quote": FACT}]}


class Held:
    """A summariser that answers when it is let go, and not before. ``asked`` is set when it is asked."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()
        self.questions: list[Ask] = []

    def __call__(self, ask: Ask) -> Said:
        self.questions.append(ask)
        self.asked.set()
        self.released.wait(HANG)
        return Said(json.dumps(found(ask.messages)), "stop", "held", 100, 10)

    async def is_asked(self) -> None:
        assert await asyncio.to_thread(self.asked.wait, HANG)


def summarising(patch: pytest.MonkeyPatch, asker: Callable[[Ask], Said]) -> None:
    """Have proxies ask this, in place of litellm."""
    patch.setattr(server, "summariser_of", lambda _model: Summariser(asker, "own", 32_000))


async def grow(running: Running, first: int, last: int, headers: Pairs = (KEY,)) -> Answer:
    """Send the requests with ``first`` to ``last`` turns; the last answer."""
    for turns in range(first, last + 1):
        answer = await running.chat(turn(turns), headers)
        assert (answer.status, answer.whole) == (200, True)
    return answer


def compactions(running: Running) -> list[Compaction]:
    return [one for entries in running.journals().values() for one in entries if isinstance(one, Compaction)]


def texts(messages: Sequence[Dict]) -> list[str]:
    return [str(message.get("content")) for message in messages]


def stands(folder: Path, text: str) -> list[str]:
    """Where a text stands in a store's files as they are, or in anything that is stored in them."""
    wanted = text.encode()
    places = [str(path) for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]
    store = open_store(f"sqlite:///{folder / 'audit.db'}", read_only=True)
    try:
        digests = [blob_row(raw).digest for raw in store.rows().select("blob", 0, 1 << 32)]
        places += ["a blob" for digest in digests if wanted in store.blob(digest)]
        entries = (stored for row in store.sessions() for stored in store.entries(row.key))
        return [*places, *(stored.kind for stored in entries if wanted in stored.body)]
    finally:
        store.close()
