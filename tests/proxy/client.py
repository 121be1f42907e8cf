"""A client that shows the bytes: what goes out is written by hand, what comes back is read piece by piece."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tests.proxy.upstream import HANG

Pairs = Sequence[tuple[str, str]]
KEY = ("Authorization", "Bearer sk-test-key")


@dataclass(frozen=True)
class Answer:
    """What came back. ``whole`` is False where it was broken off."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    whole: bool

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.body)["error"])


class Client:
    """One connection to the proxy; a context manager that closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._chunked, self._left, self._ended = False, -1, False
        self.status = 0
        self.headers: list[tuple[str, str]] = []

    async def __aenter__(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 27)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        self._writer.transport.abort()

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self) -> int:
        """Read the head of the answer and return the status."""
        raw = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), HANG)
        line, *lines = raw[:-4].decode("latin-1").split("\r\n")
        self.status = int(line.split(" ")[1])
        self.headers = [(name.lower(), value.strip(" ")) for name, _, value in (one.partition(":") for one in lines)]
        named = dict(self.headers)
        self._chunked = named.get("transfer-encoding") == "chunked"
        self._left = int(named.get("content-length", -1))
        return self.status

    async def piece(self) -> bytes:
        """The next piece of the body: a chunk, or what comes; nothing at its end. Raises where it is broken off."""
        return await asyncio.wait_for(self._piece(), HANG)

    async def exactly(self, size: int) -> bytes:
        """The next ``size`` bytes of the body, over however many pieces they come."""
        body = b""
        while len(body) < size:
            body += await self.piece()
        assert len(body) == size
        return body

    @property
    def waiting(self) -> bytes:
        """What has arrived and was not read yet."""
        return bytes(self._reader._buffer)  # type: ignore[attr-defined]

    async def rest(self, *, head_only: bool = False) -> Answer:
        body = b""
        whole = True
        try:
            while not head_only and (piece := await self.piece()):
                body += piece
        except (asyncio.IncompleteReadError, ConnectionError):
            whole = False
        return Answer(self.status, self.headers, body, whole)

    async def _piece(self) -> bytes:
        if self._chunked:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            return (await self._reader.readexactly(size + 2))[:-2]
        if self._left == 0 or (self._left < 0 and self.status in (204, 304)):
            return b""
        data = await self._reader.read(min(self._left, 1 << 16) if self._left > 0 else 1 << 16)
        if not data and self._left > 0:
            raise asyncio.IncompleteReadError(b"", self._left)
        self._left -= len(data) if self._left > 0 else 0
        return data


def request(
    body: bytes = b"",
    headers: Pairs = (),
    *,
    method: str = "POST",
    target: str = "/v1/chat/completions",
    host: str = "localhost",
    length: bool = True,
) -> bytes:
    """A request, byte by byte."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if length and (body or method in ("POST", "PUT")):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def ask(port: int, data: bytes) -> Answer:
    """Send a request and read the whole answer."""
    async with Client(port) as client:
        await client.send(data)
        await client.head()
        return await client.rest(head_only=data.startswith(b"HEAD "))


async def chat(port: int, body: bytes, headers: Pairs = (KEY,)) -> Answer:
    return await ask(port, request(body, [("Content-Type", "application/json"), *headers]))
