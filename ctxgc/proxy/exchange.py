"""One HTTP exchange with a client, over ASGI: its body in, its answer out, and its leaving noticed.

Rule: no framework on this path; bytes go as they came.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ctxgc.proxy.encoding import TooLarge
from ctxgc.proxy.headers import Raw, lower

Message = MutableMapping[str, Any]  # ASGI's own type: what is in it depends on its "type"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):
    """The client closed the connection before its answer was complete."""


class Exchange:
    """A request being answered."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        self.path = raw_path.partition(b"?")[0].decode("latin-1")
        self.query: bytes = scope.get("query_string", b"")
        self.raw_headers: Raw = list(scope["headers"])
        self.headers = lower(self.raw_headers)
        self.started = False
        self.status = 0
        """The status of the answer; 0 before it has begun."""
        self.ours: Raw = []
        """Headers of our own that the answer carries."""
        self._receive = receive
        self._send = send
        self._read = False

    async def body(self, limit: int) -> bytes:
        """The whole body as it came. Raises ``TooLarge`` as soon as it is, ``ClientGone``."""
        if int(self.headers.get("content-length") or 0) > limit:
            raise TooLarge
        parts, size = [], 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise TooLarge
            if not message.get("more_body"):
                self._read = True
                return parts[0] if len(parts) == 1 else b"".join(parts)

    async def start(self, status: int, headers: Raw) -> None:
        """Send the head of the answer."""
        self.started, self.status = True, status
        await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *self.ours]})

    async def write(self, chunk: bytes) -> None:
        """Send some of the answer's body."""
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def end(self, chunk: bytes = b"") -> None:
        """Send the last of the answer's body."""
        await self._send({"type": "http.response.body", "body": chunk})

    async def answer(self, status: int, body: bytes, media: str, headers: Raw | None = None) -> None:
        """Send a whole answer of our own."""
        own = [(b"content-type", media.encode()), (b"content-length", b"%d" % len(body)), *(headers or [])]
        await self.start(status, own)
        await self.end(b"" if self.method == "HEAD" else body)

    async def refuse(self, status: int, kind: str, text: str, headers: Raw | None = None) -> None:
        """Answer with an error in the form that OpenAI's clients read; ``kind`` says that it is ours."""
        error = {"error": {"message": text, "type": f"ctxgc_{kind}", "param": None, "code": kind}}
        await self.answer(status, json.dumps(error).encode(), "application/json", headers)

    async def while_connected(self, work: Awaitable[None]) -> None:
        """Run ``work`` until it ends or the client goes; then it is cancelled, and ``ClientGone`` raised."""
        task = asyncio.ensure_future(work)
        watch = asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait((task, watch), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait((task,))
                raise ClientGone
            task.result()
        finally:
            watch.cancel()
            task.cancel()

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
