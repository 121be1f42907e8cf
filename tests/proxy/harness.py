"""The proxy, running: the real server on a real socket with a real store, in the test's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest import mock

import uvicorn.server

from ctxgc.config import Config
from ctxgc.core.journal import AnyEntry, decode
from ctxgc.core.state import State, fold
from ctxgc.policies import from_config
from ctxgc.proxy import server
from ctxgc.session.originals import disagreements
from ctxgc.store import open_store
from ctxgc.wire.openai_chat import OpenAIChat
from tests.proxy.client import KEY, Answer, Client, Pairs, ask, chat
from tests.proxy.stores import Handled


class _Impatient:
    """asyncio for a server that looks ten times a second whether it is to stop: too rarely for hundreds of tests."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 20)


class Running:
    """A proxy that runs: its port, and the store it writes to."""

    def __init__(self, port: int, store: Handled) -> None:
        self.port, self.store = port, store

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def client(self) -> Client:
        return Client(self.port)

    async def ask(self, data: bytes) -> Answer:
        return await ask(self.port, data)

    async def chat(self, body: bytes, headers: Pairs = (KEY,)) -> Answer:
        return await chat(self.port, body, headers)

    def journals(self) -> dict[bytes, list[AnyEntry]]:
        """What is on disk, by session."""
        rows = self.store.inner.sessions()
        return {row.key: [decode(found.body) for found in self.store.inner.entries(row.key)] for row in rows}

    def check(self) -> list[State]:
        """Every journal folds, and every request of it rebuilds to the bytes that were booked. Gives the states."""
        states = []
        for entries in self.journals().values():
            assert list(disagreements(entries, self.store.inner, OpenAIChat())) == []
            states.append(fold(entries))
        return states


@contextlib.asynccontextmanager
async def proxy(upstream: str, path: Path, **settings: Any) -> AsyncIterator[Running]:
    """Run the proxy before ``upstream`` with its store at ``path``; it observes, if nothing else is said."""
    config = Config(upstream=upstream, store=f"sqlite:///{path}", **{"policy": "observe", **settings})
    policies = from_config(config.policy, config.policies)
    listener = server.listen("127.0.0.1", 0)
    opened: list[Handled] = []

    def opening(url: str) -> Handled:
        opened.append(Handled(open_store(url)))
        return opened[-1]

    opens = mock.patch.object(server, "open_store", opening)
    with contextlib.closing(listener), opens, mock.patch.object(uvicorn.server, "asyncio", _Impatient()):
        async with server.running(config, policies, listener):
            yield Running(listener.getsockname()[1], opened[0])
