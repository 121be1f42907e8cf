"""The proxy as an ASGI application: which request goes where, and what is refused at the door.

Rule: default deny for whose Host is not ours; everything that is not ours to answer is passed through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import aiohttp

from ctxgc.proxy.chat import Chat
from ctxgc.proxy.encoding import TooLarge
from ctxgc.proxy.exchange import ClientGone, Exchange, Receive, Scope, Send
from ctxgc.proxy.headers import to_client, to_upstream
from ctxgc.proxy.relay import arriving
from ctxgc.proxy.upstream import Upstream
from ctxgc.telemetry import Figures
from ctxgc.web.doors import REFUSAL, Hosts

OWN_PATHS = ("/metrics", "/healthz")
OWN_FOLDER = "/ctxgc"
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Proxy:
    """Routes requests. ``own`` answers the paths that are ctxgc's own; ``hosts`` are the names it may be called by."""

    def __init__(
        self, upstream: Upstream, chat: Chat, own: App, figures: Figures, *, hosts: Sequence[str] = (), limit: int
    ) -> None:
        self._upstream = upstream
        self._chat = chat
        self._own = own
        self._figures = figures
        self._hosts = Hosts(hosts)
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry."""
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        try:
            await self._route(exchange, scope, receive, send)
        except ClientGone:
            pass
        except TooLarge:
            await exchange.refuse(413, "too_large", f"the request body is larger than {self._limit} bytes")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            await self._unreachable(exchange, error)

    async def _route(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._hosts.known(exchange.headers.get("host", "")):
            await exchange.refuse(421, "unknown_host", REFUSAL)
        elif not exchange.path.startswith("/"):  # it would be read as a part of the upstream's address
            await exchange.refuse(400, "bad_target", "the request's target must be a path")
        elif exchange.headers.get("upgrade", "").lower() == "websocket":
            plain = [(b"connection", b"upgrade"), (b"upgrade", b"HTTP/1.1")]
            await exchange.refuse(426, "no_websocket", "use plain HTTP: WebSockets are not relayed", plain)
        elif exchange.path in OWN_PATHS or exchange.path == OWN_FOLDER or exchange.path.startswith(f"{OWN_FOLDER}/"):
            await self._own(scope, receive, send)
        elif exchange.method == "POST" and exchange.path.endswith("/chat/completions"):
            await self._chat(exchange)
        else:
            await self._pass(exchange)

    async def _pass(self, exchange: Exchange) -> None:
        body = await exchange.body(self._limit)
        await exchange.while_connected(self._relay(exchange, body))

    async def _relay(self, exchange: Exchange, body: bytes) -> None:
        """Any other path: bytes through, both ways."""
        headers = to_upstream(exchange.raw_headers)
        response = await self._upstream.send(exchange.method, exchange.path, exchange.query, headers, body or None)
        try:
            await exchange.start(response.status, to_client(response.raw_headers))
            async for chunk in arriving(response.content):
                await exchange.write(chunk)
            await exchange.end()
        finally:
            response.close()

    async def _unreachable(self, exchange: Exchange, error: Exception) -> None:
        """The upstream did not answer. Its library's words may hold addresses and keys, so they are not repeated."""
        if exchange.started:  # an answer that broke off stays broken off
            return
        kind = type(error).__name__
        await exchange.refuse(502, "upstream_unreachable", f"the upstream did not answer: {kind}")
