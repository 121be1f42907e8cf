"""A model API of which the tests control every byte: what it answers, when, and in which pieces; and what it got.

An answer is a coroutine function that is given the ``Call``. ``script`` holds the answers for the next requests, in
order; the last one is used for all that follow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

HANG = 30
"""Seconds after which a test that waits is taken to hang."""

Pairs = Sequence[tuple[str, str]]


class Connection:
    """One connection from the proxy: reads ahead all the time, so that it notices when the other side goes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.gone = asyncio.Event()
        self._reader = reader
        self._buffer = bytearray()
        self._more = asyncio.Event()

    async def pump(self) -> None:
        try:
            while data := await self._reader.read(1 << 16):
                self._buffer += data
                self._more.set()
        except ConnectionError:
            pass
        self.gone.set()
        self._more.set()

    async def head(self) -> bytes:
        """The next request's head, with the empty line; nothing if there is no further request."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if self.gone.is_set():
                return b""
            await self._wait()
        return self._take(end + 4)

    async def body(self, size: int) -> bytes:
        while len(self._buffer) < size and not self.gone.is_set():
            await self._wait()
        return self._take(size)

    async def _wait(self) -> None:
        self._more.clear()
        await self._more.wait()

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


class Call:
    """One request as it arrived, and the way to answer it."""

    def __init__(self, connection: Connection, head: bytes, body: bytes) -> None:
        self.connection, self.head, self.body = connection, head, body
        self.gone = connection.gone
        line, *lines = head[:-4].split(b"\r\n")
        self.method, self.target, _ = line.decode("latin-1").split(" ")
        self.headers = [(name.lower(), value.strip(b" ")) for name, _, value in (one.partition(b":") for one in lines)]

    def header(self, name: str) -> bytes | None:
        return next((value for key, value in self.headers if key == name.encode()), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def write(self, data: bytes) -> None:
        self.connection.writer.write(data)
        await self.connection.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """One chunk of a chunked answer; none is its end."""
        await self.write(b"%x\r\n%b\r\n" % (len(data), data))

    def cut(self) -> None:
        """Break the connection off."""
        self.connection.writer.transport.abort()

    def end(self) -> None:
        """Close the connection in order."""
        self.connection.writer.close()


Answer = Callable[[Call], Awaitable[None]]


class Upstream:
    """The server. ``calls`` is what it got so far; ``next`` waits for the next request."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.script: list[Answer] = [whole()]
        self.connections = 0
        self._arrived: asyncio.Queue[Call] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Upstream:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def next(self) -> Call:
        return await asyncio.wait_for(self._arrived.get(), HANG)

    def answers(self, *script: Answer) -> None:
        self.script = list(script)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        connection = Connection(reader, writer)
        pump = asyncio.create_task(connection.pump())
        try:
            while head := await connection.head():
                await self._take(connection, head)
        except ConnectionError:
            pass
        finally:
            pump.cancel()
            writer.close()
            self._tasks.discard(task)

    async def _take(self, connection: Connection, head: bytes) -> None:
        call = Call(connection, head, b"")
        size = int(call.header("content-length") or 0)
        if size:
            call.body = await connection.body(size)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        self.calls.append(call)
        self._arrived.put_nowait(call)
        await answer(call)


# Answers


def head(status: int, headers: Pairs = (), reason: str = "Whatever") -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def completion(text: str = "done", **more: Any) -> bytes:
    """The body of a whole answer."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    named = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5-2025"}
    return json.dumps({**named, "choices": [choice], "usage": usage, **more}).encode()


def whole(
    body: bytes | None = None, status: int = 200, headers: Pairs = (("Content-Type", "application/json"),)
) -> Answer:
    """A whole answer with its length."""
    text = completion() if body is None else body

    async def answer(call: Call) -> None:
        sent = b"" if call.method == "HEAD" else text
        await call.write(head(status, [*headers, ("Content-Length", str(len(text)))]) + sent)

    return answer


EVENTS = [("Content-Type", "text/event-stream; charset=utf-8"), ("Transfer-Encoding", "chunked")]
DONE = b"data: [DONE]\n\n"


def event(text: str | None = None, **more: Any) -> bytes:
    """One event of a stream: a delta with ``text``, or what else is given."""
    delta = {"role": "assistant", "content": text} if text is not None else {}
    chunk = {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5-2025",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more,
    }  # fmt: skip
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def finish(reason: str = "stop") -> bytes:
    return event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])


def usage() -> bytes:
    return event(choices=[], usage={"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14})


def stream(*pieces: bytes, ending: bool = True) -> Answer:
    """A streamed answer in exactly these pieces; without ``ending`` the connection breaks off after the last."""

    async def answer(call: Call) -> None:
        await call.write(head(200, EVENTS))
        for piece in pieces:
            await call.chunk(piece)
        if ending:
            await call.chunk(b"")
        else:
            call.end()

    return answer


def silent() -> Answer:
    """No answer at all, until the other side goes."""

    async def answer(call: Call) -> None:
        await call.gone.wait()

    return answer


def pieces(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))
