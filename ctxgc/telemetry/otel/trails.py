"""Trails that are traced: the spans that begin while a request is answered, and what is noted for their end.

Rule: spans of what leaves and arrives begin when that happens, since samplers decide then and the ids travel in the
headers; everything else about them is said afterwards, elsewhere. A fault is counted, and the request goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from opentelemetry.context import Context
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.trace import Span, SpanKind, Tracer, format_trace_id, get_current_span, set_span_in_context

from ctxgc.wire.codec import Reply

from . import names as n
from .describing import Attributes, of_session, short
from .trail import Raw, Sending

P = ParamSpec("P")
T = TypeVar("T")
_TRACE_HEADERS = ("traceparent", "tracestate")
"""What of a caller's is replaced: of another parent, the state is another too."""
_LONGEST = {"traceparent": 512, "tracestate": 8192, "baggage": -1}
"""Characters of a caller's that are read: as many as OpenTelemetry takes, which writes a warning for each request that
has more. Baggage is not read: it passes as it came."""


@dataclass(slots=True)
class Decided:
    """When it was decided what to send for a call (Unix nanoseconds), and in how many seconds."""

    call: bytes
    ended: int
    seconds: float


@dataclass(slots=True)
class Sent:
    """One request that left: its span, and what came of it. ``error`` says that it is not what its call ended with."""

    sending: Sending
    span: Span
    provider: str
    reply: Reply | None = None
    error: str = ""
    ended: int = 0


class Home(Protocol):
    """Who makes trails, as they see it."""

    tracer: Tracer
    propagator: TextMapPropagator
    about: Attributes
    content: bool

    def failed(self) -> None:
        """Count a fault."""

    def provider(self, model: str) -> str:
        """Who answers for a model."""

    def expect(self, call: bytes, key: str) -> None:
        """A call of that session is on a trail."""

    def ended(self, trail: Traced) -> None:
        """Nothing more comes of a trail."""


def guarded(verb: Callable[Concatenate[Traced, P], T]) -> Callable[Concatenate[Traced, P], T | None]:
    """No fault of a trail's reaches the request."""

    @wraps(verb)
    def safe(self: Traced, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return verb(self, *args, **kwargs)
        except Exception:  # counted
            self.home.failed()
            return None

    return safe


@dataclass(slots=True)
class Traced:
    """A ``Trail``. ``caller`` says that the client traces the request itself."""

    home: Home
    server: Span
    caller: bool
    key: str = ""
    status: int = 0
    error: str = ""
    ended: int = 0
    decided: list[Decided] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    @property
    def trace(self) -> str:
        """The id of its trace, where it is sampled."""
        return self._trace() or ""

    @guarded
    def _trace(self) -> str:
        context = self.server.get_span_context()
        return format_trace_id(context.trace_id) if context.trace_flags.sampled else ""

    @guarded
    def prepared(self, call: bytes, key: bytes, seconds: float) -> None:
        """See ``Trail``, here and below."""
        self.key = key.hex()
        self.home.expect(call, self.key)
        self.decided.append(Decided(call, time.time_ns(), seconds))

    def send(self, sending: Sending, headers: Raw) -> Raw:
        """Begin the span of what leaves, and put its context into the headers."""
        return self._send(sending, headers) or headers

    @guarded
    def _send(self, sending: Sending, headers: Raw) -> Raw:
        home, model = self.home, short(sending.model)
        provider = home.provider(sending.model)
        said: Attributes = {
            n.OPERATION: n.CHAT, n.PROVIDER: provider, n.STREAM: sending.stream, **home.about, **of_session(self.key),
        }  # fmt: skip
        said |= {n.REQUEST_MODEL: model} if model else {}
        said |= {n.COMPACTED: True} if sending.changed else {}
        around = set_span_in_context(self.server, Context())
        span = home.tracer.start_span(f"{n.CHAT} {model}".rstrip(), around, SpanKind.CLIENT, attributes=said)
        kept = sending if home.content else Sending(sending.call, sending.model, sending.stream, sending.changed, b"")
        self.sent.append(Sent(kept, span, provider))
        carrier: dict[str, str] = {}
        home.propagator.inject(carrier, set_span_in_context(span, Context()))
        return replaced(headers, carrier)

    @guarded
    def lost(self, error: str) -> None:
        """The newest span ends with an error."""
        if self.sent:
            self._close(self.sent[-1], error)

    @guarded
    def replaced(self, error: str) -> None:
        """The spans of the call before the newest end with an error."""
        for one in self.sent[:-1]:
            if one.sending.call == self.sent[-1].sending.call:
                self._close(one, error)

    @guarded
    def replied(self, reply: Reply) -> None:
        """Keep the reply for the span that the call ends with."""
        open_ = [one for one in self.sent if not one.error]
        if open_:
            open_[-1].reply = reply

    @guarded
    def end(self, status: int, error: str = "") -> None:
        """Hand it over."""
        self.status, self.error, self.ended = status, error, time.time_ns()
        self.home.ended(self)

    def _close(self, one: Sent, error: str) -> None:
        if not one.error:
            one.error, one.ended = error, time.time_ns()


def begin(home: Home, method: str, path: str, headers: Mapping[str, str]) -> Traced:
    """The trail of a request that has just come, with the client's span as the parent of ours."""
    known = {name: value for name, value in headers.items() if len(value) <= _LONGEST.get(name, len(value))}
    around = home.propagator.extract(known, Context())
    said: Attributes = {n.METHOD: method, n.SCHEME: "http", n.PATH: short(path)}
    if agent := headers.get("user-agent"):
        said[n.AGENT] = short(agent)
    server = home.tracer.start_span(n.SERVER_SPAN, around, SpanKind.SERVER, attributes=said)
    return Traced(home, server, get_current_span(around).get_span_context().is_valid)


def replaced(headers: Raw, carrier: Mapping[str, str]) -> Raw:
    """Headers with those of a carrier in the place of theirs; all others as they came."""
    if not carrier:
        return headers
    dropped = {name.lower().encode() for name in (*carrier, *_TRACE_HEADERS)}
    kept = [(name, value) for name, value in headers if name.lower() not in dropped]
    return [*kept, *((name.encode(), value.encode()) for name, value in carrier.items())]
