"""The upstream: one fixed origin, reached with aiohttp.

Rule: nothing a client sends can choose another destination: not a header, not a path, not a redirect, not the
environment's proxies.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from types import TracebackType

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from ctxgc.errors import ConfigError

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_CONNECT = 30.0
"""Seconds to wait for a connection. An answer may take as long as a model thinks: only the client ends that wait."""


class Upstream:
    """Sends requests to ``base``, whatever path they come with. Use as an async context manager."""

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
        body: bytes | io.BytesIO | None,
    ) -> aiohttp.ClientResponse:
        """Send one request and wait for the answer's headers. Raises ``aiohttp.ClientError``, ``TimeoutError``."""
        assert self._client is not None
        pairs = CIMultiDict((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
        return await self._client.request(
            method, self.url(path, query), headers=pairs, data=body, allow_redirects=False
        )

    def url(self, path: str, query: bytes) -> URL:
        """Where a request path leads: the base's own path takes the place of a leading ``/v1``."""
        if self.base.raw_path != "/":
            rest = path.removeprefix("/v1") if path == "/v1" or path.startswith("/v1/") else path
            path = self.base.raw_path.rstrip("/") + rest
        target = f"{self.base.scheme}://{self.base.raw_authority}{path}"
        return URL(f"{target}?{query.decode('latin-1')}" if query else target, encoded=True)


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
