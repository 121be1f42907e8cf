"""Servers for the proxy benchmark, each in a process of its own: the upstream, and the bare pass-through.

``python -m benchmarks.servers upstream PORT`` and ``python -m benchmarks.servers bare PORT UPSTREAM``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import aiohttp
import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CHUNKS = 50


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "choices": [choice]}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


STREAM = [
    *(_chunk({"content": f"word{n} "}) for n in range(CHUNKS)),
    _chunk({}, "stop"),
    b'data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50}}\n\ndata: [DONE]\n\n',
]
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "model": "gpt-5",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * 50}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50},
    }
).encode()


async def upstream(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers at once, or after the milliseconds of an x-think header: a stream if the request asks for one."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    think = dict(scope["headers"]).get(b"x-think")
    if think:
        await asyncio.sleep(float(think) / 1e3)
    if b'"stream": true' not in b"".join(parts):
        head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": ANSWER})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for chunk in STREAM:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class Bare:
    """The least that a proxy can do with the same server and client libraries: bytes through, nothing looked at."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._client: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._client is None:
            self._client = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None),
            )
        parts, more = [], True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        headers = {k.decode(): v.decode() for k, v in scope["headers"] if k not in (b"host", b"content-length")}
        url = self._target + scope["raw_path"].decode()
        async with self._client.post(url, data=b"".join(parts), headers=headers) as answer:
            kept = [(k, v) for k, v in answer.raw_headers if k.lower() not in (b"transfer-encoding", b"connection")]
            await send({"type": "http.response.start", "status": answer.status, "headers": kept})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


def main() -> None:
    import warnings

    warnings.simplefilter("ignore")
    role, port, *rest = sys.argv[1:]
    app: Any = upstream if role == "upstream" else Bare(rest[0])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(port),
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=600,
    )


if __name__ == "__main__":
    main()
