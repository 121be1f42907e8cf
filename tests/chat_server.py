"""A small HTTP server that speaks chat completions and answers what it was told to, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Dict = dict[str, Any]
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 7,
    "total_tokens": 127,
    "prompt_tokens_details": {"cached_tokens": 100},
}


def text(content: str) -> Dict:
    return {"role": "assistant", "content": content}


def calls(*names: str) -> Dict:
    functions = [{"name": name, "arguments": '{"q": 1}'} for name in names]
    found = [{"id": f"c{at}", "type": "function", "function": one} for at, one in enumerate(functions)]
    return {"role": "assistant", "content": None, "tool_calls": found}


class ChatServer:
    """Answers each completion with the next of ``replies``: a message, or a status and an error.

    ``bodies`` are the requests that came. A stream breaks off before its end while ``breaks`` is set.
    """

    def __init__(self) -> None:
        self.url = ""
        self.replies: list[Dict | tuple[int, Dict]] = []
        self.bodies: list[Dict] = []
        self.breaks = False

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(json.loads(await request.read()))
        reply = self.replies.pop(0) if self.replies else text("ok")
        if isinstance(reply, tuple):
            return web.json_response({"error": reply[1]}, status=reply[0])
        if self.bodies[-1].get("stream"):
            return await self._stream(request, reply)
        choice = {"index": 0, "message": reply, "finish_reason": "tool_calls" if "tool_calls" in reply else "stop"}
        return web.json_response(self._frame("chat.completion", [choice], USAGE))

    async def _stream(self, request: web.Request, reply: Dict) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        chunks = [{"role": "assistant"}]
        chunks += [{"content": word} for word in (reply["content"] or "").split()]
        chunks += [{"tool_calls": [{"index": at, **one}]} for at, one in enumerate(reply.get("tool_calls", ()))]
        for delta in chunks:
            await self._event(response, [{"index": 0, "delta": delta}])
        if self.breaks:
            assert request.transport is not None
            request.transport.close()
            return response
        await self._event(response, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
        await self._event(response, [], USAGE)
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _event(self, response: web.StreamResponse, choices: list[Dict], usage: Dict | None = None) -> None:
        chunk = self._frame("chat.completion.chunk", choices, usage)
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _frame(self, kind: str, choices: list[Dict], usage: Dict | None) -> Dict:
        frame = {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "gpt-5-2025", "choices": choices}
        return {**frame, "usage": usage} if usage else frame


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server that runs until the block ends."""
    server, ready = ChatServer(), threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=64 << 20)
        app.add_routes([web.post("/v1/chat/completions", server.complete)])
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await over.wait()
        await runner.cleanup()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
