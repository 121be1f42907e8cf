"""The upstream: one fixed origin, reached with aiohttp.

Rule: nothing a client sends can choose another destination: not a header, not a path, not a redirect, not the
environment's proxies.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace, TracebackType

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from ctxgc.errors import ConfigError
from ctxgc.session.errands import Access

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_CONNECT = 30.0
"""Seconds to wait for a connection. An answer may take as long as a model thinks: only the client ends that wait."""

_LARGE = 1 << 20
"""Bytes of a body from which on it is written in pieces, so that other streams are served meanwhile."""


@dataclass(slots=True)
class _Trip:
    """What became of a request: whether it went out on a connection that had been used before."""

    reused: bool = False


class Upstream:
    """Sends requests to ``base``, whatever path they come with. Use as an async context manager.

    A kept-alive connection may be closed by the upstream at the moment it is used again. A request that met with that,
    before a byte of an answer, is sent once more, as HTTP clients do (RFC 9112, 9.3.1).
    """

    def __init__(self, base: str) -> None:
        self.base = _base(base)
        self._client: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Upstream:
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT),
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_AUTOMATIC,
            trace_configs=[_watch_reuse()],
            read_bufsize=256 * 1024,
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client:
            await self._client.close()

    async def send(
        self,
        method: str,
        path: str,
        query: bytes,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes | None,
    ) -> aiohttp.ClientResponse:
        """Send one request and wait for the answer's headers. Raises ``aiohttp.ClientError``, ``TimeoutError``."""
        pairs = CIMultiDict((name.decode("ascii"), _text(value)) for name, value in headers)
        trip = _Trip()
        try:
            return await self._request(method, self.url(path, query), pairs, body, trip)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not trip.reused:
                raise
        return await self._request(method, self.url(path, query), pairs, body, trip)

    async def _request(
        self, method: str, url: URL, headers: CIMultiDict[str], body: bytes | None, trip: _Trip
    ) -> aiohttp.ClientResponse:
        assert self._client is not None
        data = io.BytesIO(body) if body and len(body) > _LARGE else body
        return await self._client.request(
            method, url, headers=headers, data=data, allow_redirects=False, trace_request_ctx=trip
        )

    def url(self, path: str, query: bytes) -> URL:
        """Where a request path leads: the base's own path takes the place of a leading ``/v1``."""
        if self.base.raw_path != "/":
            rest = path.removeprefix("/v1") if path == "/v1" or path.startswith("/v1/") else path
            path = self.base.raw_path.rstrip("/") + rest
        target = f"{self.base.scheme}://{self.base.raw_authority}{path}"
        return URL(f"{target}?{query.decode('latin-1')}" if query else target, encoded=True)

    def access(self, path: str, headers: Mapping[str, str]) -> Access:
        """Where the model that answers a path is asked by others, and with the key of these headers."""
        base = str(self.url(path.removesuffix("/chat/completions"), b""))
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return Access(base, key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", ""))


def _text(value: bytes) -> str:
    """A header's value as aiohttp will encode it again to the same bytes, if they are UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _watch_reuse() -> aiohttp.TraceConfig:
    async def reused(_client: object, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.reused = True

    async def created(_client: object, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.reused = False

    watch = aiohttp.TraceConfig()
    watch.on_connection_reuseconn.append(reused)
    watch.on_connection_create_end.append(created)
    return watch


def _base(text: str) -> URL:
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"the upstream {text!r} is not an http(s) URL: give one such as https://api.openai.com/v1")
    if url.query_string or url.fragment or url.user:
        raise ConfigError("the upstream URL must have no user, query or fragment")
    return url
