"""A request's trail: what the proxy says of it while it is answered, for the spans that are made of it afterwards.

Rule: nothing here imports OpenTelemetry, so that a proxy that traces nothing does not load it; no verb raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ctxgc.wire.codec import Reply

Raw = list[tuple[bytes, bytes]]
"""Headers, as they came or go."""


@dataclass(frozen=True, slots=True)
class Sending:
    """A request that is about to leave: the call that it belongs to, its model, and its bytes.

    ``changed`` says that the bytes are not those that came, because of us.
    """

    call: bytes
    model: str
    stream: bool
    changed: bool
    body: bytes


class Trail(Protocol):
    """What is told of one request of a client's, round by round."""

    @property
    def trace(self) -> str:
        """The id of its trace, 32 hex digits; empty where nothing of it is exported."""

    def prepared(self, call: bytes, key: bytes, seconds: float) -> None:
        """What to send was decided just now, in so many seconds, for a call of the session with that key."""

    def send(self, sending: Sending, headers: Raw) -> Raw:
        """It leaves now: the headers to send it with."""

    def lost(self, error: str) -> None:
        """What was sent last came to nothing, and is not what the call ends with."""

    def replaced(self, error: str) -> None:
        """What was sent last takes the place of what was sent for the same call before."""

    def replied(self, reply: Reply) -> None:
        """What the answer to what was sent last said."""

    def end(self, status: int, error: str = "") -> None:
        """The client has its answer, with that HTTP status (0: none), or is gone."""


class Tracer(Protocol):
    """What makes trails."""

    def request(self, method: str, path: str, headers: Mapping[str, str]) -> Trail:
        """The trail of a request that has just come; header names are lower case."""

    def failed_open(self, reason: str) -> None:
        """A request went on without us, and no journal says so."""


class _Untraced:
    """The trail and the tracer where nothing is traced."""

    __slots__ = ()
    trace = ""

    def request(self, method: str, path: str, headers: Mapping[str, str]) -> Trail:
        return self

    def failed_open(self, reason: str) -> None:
        pass

    def prepared(self, call: bytes, key: bytes, seconds: float) -> None:
        pass

    def send(self, sending: Sending, headers: Raw) -> Raw:
        return headers

    def lost(self, error: str) -> None:
        pass

    def replaced(self, error: str) -> None:
        pass

    def replied(self, reply: Reply) -> None:
        pass

    def end(self, status: int, error: str = "") -> None:
        pass


UNTRACED = _Untraced()
