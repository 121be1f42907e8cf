"""Headers: which go on, in which direction, and which may be remembered.

Rule: only hop-by-hop headers stop here, everything unknown passes in its order; what is stored is an allow-list, so
that no key is ever written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Raw = list[tuple[bytes, bytes]]

_HOP = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_REQUEST_ONLY = frozenset({b"host", b"content-length", b"expect"})
_OWN = re.compile(rb"x-ctxgc-")
_STORED = frozenset(
    {
        "content-type", "user-agent", "x-request-id", "request-id", "openai-version", "openai-processing-ms",
        "anthropic-version", "anthropic-beta", "retry-after",
    }
)  # fmt: skip


def to_upstream(headers: Iterable[tuple[bytes, bytes]], replaced: Mapping[bytes, bytes] | None = None) -> Raw:
    """The client's headers as the upstream gets them: without hop-by-hop ones, host, length and ctxgc's own.

    ``replaced`` takes the place of headers by those (lower-case) names.
    """
    headers = list(headers)
    dropped = _HOP | _REQUEST_ONLY | _named(headers) | (replaced or {}).keys()
    kept = [(name, value) for name, value in headers if name.lower() not in dropped and not _OWN.match(name.lower())]
    return [*kept, *(replaced or {}).items()]


def to_client(headers: Iterable[tuple[bytes, bytes]]) -> Raw:
    """The upstream's headers as the client gets them: without hop-by-hop ones."""
    headers = list(headers)
    dropped = _HOP | _named(headers)
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def lower(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; the last of equal names wins."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def stored(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """What may be written down of a set of headers."""
    return {name: value for name, value in lower(headers).items() if name in _STORED}


def _named(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The headers that the Connection header makes hop-by-hop (RFC 9110, 7.6.1)."""
    lists = (value for name, value in headers if name.lower() == b"connection")
    return frozenset(part.strip().lower() for value in lists for part in value.split(b",") if part.strip())
