"""What an agent tells its status line on stdin: JSON with the session and model it shows.

Rule: nobody is waited for. What is not there at once, or is no JSON of that shape, is as good as nothing.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from dataclasses import dataclass

PATIENCE = 0.05
"""Seconds in which what an agent writes must be there."""
LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Caller:
    """The agent's own session id and model; empty where it does not say."""

    session: str = ""
    model: str = ""


def caller() -> Caller:
    """Who calls, as far as stdin tells."""
    try:
        descriptor = sys.stdin.fileno()
        return parse(b"") if os.isatty(descriptor) else parse(_read(descriptor))
    except (AttributeError, OSError, ValueError):  # stdin is closed, or of a kind that cannot be waited for
        return Caller()


def parse(data: bytes) -> Caller:
    """The caller in such a document."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return Caller()
    if not isinstance(found, dict):
        return Caller()
    session, model = found.get("session_id"), found.get("model")
    named = model.get("id") if isinstance(model, dict) else model
    return Caller(session.lower() if isinstance(session, str) else "", named if isinstance(named, str) else "")


def _read(descriptor: int) -> bytes:
    """What is there until the end, or until patience has run out."""
    until, data = time.monotonic() + PATIENCE, bytearray()
    while len(data) < LIMIT:
        ready, _, _ = select.select([descriptor], [], [], max(until - time.monotonic(), 0))
        part = os.read(descriptor, 1 << 16) if ready else b""
        if not part:
            break
        data += part
    return bytes(data)
