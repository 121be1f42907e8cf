"""What the page's server and its reader say to each other: one question, one answer, in frames over a pipe.

Rule: a frame is its length in four bytes, then MessagePack. Answers come in the order of the questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from ctxgc.core.pacer import Pacer

T = TypeVar("T")
HEAD = 4
"""Bytes of a frame's length."""
GROWN = "grown"
"""The path at which the server, and nobody else, asks which sessions have grown; with ``calm`` in the query, figures of
the list are computed meanwhile."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader is given once: the store's URL, the name of a ledger that all sessions share (empty: each has its
    own), and the pacer whose marks are drawn."""

    url: str
    ledger: str = ""
    pacer: Pacer = Pacer()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question: the path below the API, and its query. ``live`` are the ids of sessions in memory, ``acts`` says
    whether anything can be done to them, ``gzip`` whether a large answer may be compressed."""

    path: str
    query: Mapping[str, str] = {}
    live: tuple[str, ...] = ()
    acts: bool = False
    gzip: bool = False


class Answer(msgspec.Struct, frozen=True):
    """An answer: the HTTP status, JSON, and whether that is compressed."""

    status: int
    body: bytes
    gzip: bool = False


_ENCODER = msgspec.msgpack.Encoder()


def frame(message: msgspec.Struct) -> bytes:
    """A message as it goes over the pipe."""
    body = _ENCODER.encode(message)
    return len(body).to_bytes(HEAD, "big") + body


def unframe(body: bytes, kind: type[T]) -> T:
    """The message in a frame's body. Raises ``msgspec.MsgspecError``."""
    return msgspec.msgpack.decode(body, type=kind)


def refusal(status: int, message: str, kind: str = "ctxgc_refused") -> Answer:
    """An answer that says why there is none."""
    return Answer(status, encoded({"error": {"message": message, "type": kind}}))


def encoded(document: object) -> bytes:
    """A document as JSON, whatever strings are in it: those that UTF-8 cannot carry are escaped."""
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        import json

        return json.dumps(document, separators=(",", ":")).encode()
