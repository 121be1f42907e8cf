"""Whose request it is: the session id that agents send in their own headers and fields, and the credential's hash.

Rule: an id is only ever used together with a hash of the credential, since two tenants can send the same one. The
credential itself goes no further than this module.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

_SECRET = re.compile(r"auth|key|token|cookie|secret|credential|passw")
_NO_SECRET = frozenset({"idempotency-key", "x-idempotency-key", "sec-websocket-key"})
_HEADERS = (
    "x-ctxgc-session",
    "x-litellm-trace-id",
    "x-litellm-session-id",
    "x-claude-code-session-id",
)
_CODEX_HEADERS = ("session-id", "thread-id", "session_id", "conversation_id")
_LATE_HEADERS = ("x-session-id", "x-session-affinity", "helicone-session-id")
_VENDOR = re.compile(r"x-[a-z0-9-]+-session-id\Z")
_VALUE = re.compile(r"[A-Za-z0-9_-]{8,}\Z")
_LITELLM = "litellm_session_id"
_METADATA = ("session_id", "langfuse_session_id")
_LATE_FIELDS = ("session_id", "prompt_cache_key", "conversation")
_BAGGAGE = re.compile(r"(?:^|,)\s*session\.id=([^,;\s]+)")


@dataclass(frozen=True, slots=True)
class Identity:
    """A session id as the client named it (empty: none), and where it stood."""

    value: str = ""
    origin: str = "prefix"


def credential(headers: Mapping[str, str], query: bytes = b"") -> bytes:
    """The sha256 of whatever may authenticate a request: every header, and every member of the query, whose name says
    so. Of nothing, if nothing does. Header names are lower case."""
    shown = [f"{name}:{value}" for name, value in sorted(headers.items()) if _is_secret(name)]
    members = parse_qsl(query.decode("latin-1"), keep_blank_values=True) if query else ()
    shown += [f"?{name}={value}" for name, value in members if _is_secret(name.lower())]
    return hashlib.sha256(b"ctxgc credential\0" + "\0".join(shown).encode("utf-8", "surrogateescape")).digest()


def _is_secret(name: str) -> bool:
    return _SECRET.search(name) is not None and name not in _NO_SECRET


def scope_of(credential: bytes, identity: Identity) -> bytes:
    """The 32 bytes that a session's chains start from: its credential and its id."""
    return hashlib.sha256(credential + identity.value.encode("utf-8", "surrogatepass")).digest()


def from_headers(headers: Mapping[str, str]) -> Identity | None:
    """The session id in the headers, by priority; None if there is none. Header names are lower case."""
    names = [*_HEADERS, *(_CODEX_HEADERS if "codex" in headers.get("user-agent", "").lower() else ()), *_LATE_HEADERS]
    names += sorted(name for name in headers if _VENDOR.match(name) and _VALUE.match(headers[name]))
    for name in names:
        if value := headers.get(name):
            return Identity(value, name)
    return None


def from_fields(fields: Mapping[str, bytes], headers: Mapping[str, str]) -> Identity | None:
    """The session id in the body's fields (raw JSON values), then in the W3C baggage header."""
    metadata = _load(fields.get("metadata"))
    metadata = metadata if isinstance(metadata, dict) else {}
    if value := _user_id(metadata.get("user_id")):
        return Identity(value, "metadata.user_id")
    if value := _string(_load(fields.get(_LITELLM))):
        return Identity(value, _LITELLM)
    for name in _METADATA:
        if value := _string(metadata.get(name)):
            return Identity(value, f"metadata.{name}")
    for name in _LATE_FIELDS:
        if value := _string(_load(fields.get(name))):
            return Identity(value, name)
    found = _BAGGAGE.search(headers.get("baggage", ""))
    return Identity(found[1], "baggage") if found else None


def _user_id(value: object) -> str:
    """Claude Code's session id: in a JSON string, an object, or behind ``_session_``."""
    parsed = _load(value) if isinstance(value, str) and value.startswith("{") else value
    if isinstance(parsed, dict):
        return _string(parsed.get("session_id"))
    return parsed.rpartition("_session_")[2] if isinstance(parsed, str) and "_session_" in parsed else ""


def _string(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("id")
    return value if isinstance(value, str) else ""


def _load(raw: bytes | str | None) -> object:
    try:
        return json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return None
