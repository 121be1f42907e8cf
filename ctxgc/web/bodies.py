"""Small JSON bodies of requests that change something.

Rule: only what no page of another origin can send without being asked for it first is read.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

T = TypeVar("T")
LONGEST = 16 * 1024
"""Bytes of a body that is read."""


async def read_json(request: Request, kind: type[T], example: str) -> T:
    """A request's body as ``kind``; ``example`` says in the refusal what to send.

    Browsers ask before they send JSON to another origin, and are not answered. Raises ``HTTPException``: 415 for what
    is not said to be JSON, 413 for more than ``LONGEST`` bytes, 400 for what is not of that kind.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON: content-type: application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise HTTPException(413, f"the body is larger than {LONGEST} bytes")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise HTTPException(400, f"send {example}") from None
