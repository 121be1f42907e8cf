"""Relaying an answer: the upstream's bytes to the client as they come, with a copy to a reader.

Rule: not a byte is changed, and only the very end is held back, until it may be released.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter

import aiohttp

from ctxgc.proxy.exchange import Exchange
from ctxgc.proxy.headers import to_client
from ctxgc.wire.codec import Reply, ReplyReader

COPY_LIMIT = 64 * 1024 * 1024
"""Bytes of an answer that are kept for the store; a longer one is relayed all the same, and not kept."""
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Relayed:
    """What came of it: the reply as read, its bytes, and whether the upstream finished it."""

    reply: Reply
    copy: bytes
    whole: bool
    first_byte: float


async def relay(
    exchange: Exchange,
    response: aiohttp.ClientResponse,
    reader: ReplyReader,
    release: Callable[[Relayed], Awaitable[None]],
) -> bool:
    """Relay ``response``; before its last bytes go out, ``release`` is awaited. Returns whether it was whole.

    The last bytes are those from ``[DONE]`` on in a stream, and else the last piece that arrived. An answer that the
    upstream breaks off is broken off here too, without an end.
    """
    await exchange.start(response.status, to_client(response.raw_headers))
    began, first = perf_counter(), 0.0
    streaming = response.content_type == "text/event-stream"
    copy, size, held, tail, whole = [], 0, b"", b"", True
    try:
        async for chunk in response.content.iter_any():
            first = first or perf_counter() - began
            reader.feed(chunk)
            size += len(chunk)
            if size <= COPY_LIMIT:
                copy.append(chunk)
            if streaming and not held and _DONE not in tail + chunk:
                await exchange.write(chunk)
            elif streaming or not held:
                held += chunk
            else:
                await exchange.write(held)
                held = chunk
            tail = chunk[-len(_DONE) + 1 :]
    except (aiohttp.ClientError, TimeoutError, OSError):
        whole = False
    await release(Relayed(reader.finish(), b"".join(copy) if size <= COPY_LIMIT else b"", whole, first))
    if whole:
        await exchange.end(held)
    elif held:
        await exchange.write(held)
    return whole
