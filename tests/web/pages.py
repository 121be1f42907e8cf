"""The page before a real proxy: its token, its documents, and a session to look at."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from ctxgc.web.token import token_of
from tests.proxy.client import KEY, Answer, Client, Pairs, ask, request
from tests.proxy.harness import Running
from tests.proxy.recalls import request as asking
from tests.proxy.upstream import HANG

JSON = ("Content-Type", "application/json")
SESSION = ("x-ctxgc-session", "one")


def bearing(token: str) -> tuple[str, str]:
    return ("Authorization", f"Bearer {token}")


class Visitor:
    """Somebody with the page's link. ``token`` is empty for somebody without."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    @classmethod
    def of(cls, running: Running) -> Visitor:
        return cls(running.port, token_of(running.store.inner.secret))

    async def get(self, path: str, headers: Pairs = (), host: str = "localhost", method: str = "GET") -> Answer:
        """What is at a path below ``/ctxgc/``, which is sent as it is."""
        given = [bearing(self.token), *headers] if self.token else [*headers]
        return await ask(self.port, request(b"", given, method=method, target=f"/ctxgc/{path}", host=host))

    async def document(self, path: str) -> Any:
        answer = await self.get(f"api/{path}")
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    async def act(self, path: str, body: Any, headers: Pairs = (JSON,), host: str = "localhost") -> Answer:
        """Do something to a session."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = [bearing(self.token), *headers] if self.token else [*headers]
        return await ask(self.port, request(data, given, target=f"/ctxgc/api/{path}", host=host))


class Listener:
    """A connection on which events come."""

    def __init__(self, client: Client) -> None:
        self._client, self._rest = client, b""

    @classmethod
    async def of(cls, visitor: Visitor, client: Client) -> Listener:
        await client.send(
            request(b"", [bearing(visitor.token)], method="GET", target="/ctxgc/api/events", host="localhost")
        )
        assert await client.head() == 200
        return cls(client)

    async def until(self, session: str, entries: int) -> None:
        """Wait for news of a session with so many entries, or more."""

        async def waiting() -> None:
            while not any(one["session"] == session and one["entries"] >= entries for one in self._taken()):
                piece = await self._client.piece()
                assert piece, "the stream has ended"
                self._rest += piece

        await asyncio.wait_for(waiting(), HANG)

    async def end(self) -> None:
        """Read to the end of the stream."""

        async def reading() -> None:
            while await self._client.piece():
                pass

        await asyncio.wait_for(reading(), HANG)

    def _taken(self) -> Sequence[Any]:
        found = [json.loads(one) for one in re.findall(rb"data: (.*)\n\n", self._rest)]
        self._rest = self._rest[self._rest.rfind(b"\n\n") + 2 :]
        return found


async def talked(running: Running, *messages: Any, headers: Pairs = (KEY, SESSION)) -> str:
    """A request of an agent's; the id of its session."""
    answer = await running.chat(asking(*messages), headers)
    assert answer.status == 200
    await asyncio.to_thread(running.store.inner.flush)
    return str(running.store.inner.sessions()[-1].key.hex())
