"""From what was seen of calls to spans, events and measurements: the work that is done when the answer has left.

Rule: every figure is a journal entry's. Spans have the times at which things happened, not those of this work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span, set_span_in_context

from ctxgc.tokens import Price

from . import content
from . import names as n
from .describing import Attributes, collect, ending, failure, of_session, short
from .events import NANO, Events
from .measures import Measures
from .seen import Call
from .switches import Switches, counted
from .trails import Sent, Traced


class Maker:
    """Makes them. ``about`` are attributes of whoever answers, ``provider`` names it for a model."""

    def __init__(
        self,
        tracer: Tracer,
        events: Events,
        measures: Measures,
        switches: Switches,
        *,
        mode: str,
        about: Attributes,
        price: Callable[[str], Price | None],
        provider: Callable[[str], str],
    ) -> None:
        self._tracer, self.events, self._measures, self._switches = tracer, events, measures, switches
        self._mode, self._about, self._price, self._provider = mode, about, price, provider

    def trail(self, trail: Traced, calls: Mapping[bytes, Call]) -> None:
        """All that is made of a request of a client's: its span is the last that ends."""
        around = set_span_in_context(trail.server, Context())
        for decided in trail.decided:
            call = calls.get(decided.call)
            if call is not None:
                self._decided(call, around, decided.ended - int(decided.seconds * NANO), decided.ended)
        says = counted(self._mode, caller=trail.caller)
        for one in trail.sent:
            self._sent(one, calls.get(one.sending.call), trail, counts=says)
        if trail.status:
            trail.server.set_attribute(n.STATUS, trail.status)
        trail.server.set_attributes({n.SESSION: trail.key} if trail.key else {})
        error = trail.error or (str(trail.status) if trail.status >= 500 else "")
        _end(trail.server, error, trail.ended)

    def alone(self, call: Call) -> None:
        """What is made of a call in process: it has no trail, and stands in the context in which it was booked."""
        entry, settlement = call.entry, call.settlement
        around = call.around if isinstance(call.around, Context) else Context()
        if entry is None or settlement is None:
            self._events(call, around)
            return
        began, ended = int(entry.at * NANO), int(settlement.at * NANO)
        self._decided(call, around, began, began)
        counts = counted(self._mode, caller=get_current_span(around).get_span_context().is_valid)
        provider, model = self._provider(entry.model), short(entry.model)
        said: Attributes = {n.OPERATION: n.CHAT, n.PROVIDER: provider, **self._about, **of_session(call.key)}
        said |= {n.REQUEST_MODEL: model} if model else {}
        said |= {n.COMPACTED: True} if entry.received != entry.sent else {}
        name = f"{n.CHAT} {model}".rstrip()
        span = self._tracer.start_span(name, around, SpanKind.CLIENT, attributes=said, start_time=began)
        self._settled(span, call, provider, stream=False, counts=counts)
        _end(span, failure(settlement), ended)

    def _decided(self, call: Call, around: Context, began: int, ended: int) -> None:
        """The span of the collector's work; a request that was not read has none."""
        context = around
        if call.entry is not None:
            price = self._price(call.entry.model)
            window = (price.max_input_tokens or 0) if price else 0
            said = collect(call, window)
            span = self._tracer.start_span(n.COLLECT_SPAN, around, SpanKind.INTERNAL, said, start_time=began)
            span.end(ended)
            context = set_span_in_context(span, Context())
        self._events(call, context)

    def _events(self, call: Call, context: Context) -> None:
        self.events.collected(call, context)
        for one in call.bypasses:
            self.events.passed(call.key, one, context)

    def _sent(self, one: Sent, call: Call | None, trail: Traced, *, counts: bool) -> None:
        settlement = call.settlement if call else None
        error = one.error or (failure(settlement) if settlement else trail.error)
        if not one.error and call is not None and settlement is not None:
            if settlement.status == 0 and settlement.outcome == "error":  # nothing was answered: why is not journalled
                error = trail.error or error
            self._settled(one.span, call, one.provider, stream=one.sending.stream, counts=counts)
        if one.reply is not None:
            self._replied(one)
        _end(one.span, error, one.ended or (call.settled if call else 0) or trail.ended)

    def _settled(self, span: Span, call: Call, provider: str, *, stream: bool, counts: bool) -> None:
        """What the settlement of a call says."""
        settlement, model = call.settlement, call.entry.model if call.entry else ""
        assert settlement is not None
        span.set_attributes(ending(settlement, stream=stream, counted=counts))
        if counts:
            self._measures.record(model, provider, settlement, stream=stream)
        for one in call.recalls:
            self.events.recalled(call.key, one, set_span_in_context(span, Context()))

    def _replied(self, one: Sent) -> None:
        reply = one.reply
        assert reply is not None
        said: Attributes = {n.FINISH: (short(reply.finish),)} if reply.finish else {}
        said |= {n.RESPONSE_ID: short(reply.ids["response"])} if "response" in reply.ids else {}
        one.span.set_attributes(said)
        if self._switches.content:
            self._content(one, content.answered(reply))

    def _content(self, one: Sent, answer: str) -> None:
        messages, tools = content.told(one.sending.body)
        pairs = ((n.INPUT_MESSAGES, messages), (n.OUTPUT_MESSAGES, answer), (n.TOOL_DEFINITIONS, tools))
        said: Attributes = {name: text for name, text in pairs if text}
        if self._switches.on_spans:
            one.span.set_attributes(said)
        if self._switches.on_events:
            self.events.emit(
                n.DETAILS_EVENT, {n.OPERATION: n.CHAT, **said}, 0.0, set_span_in_context(one.span, Context())
            )


def _end(span: Span, error: str, at: int) -> None:
    if error:
        span.set_attribute(n.ERROR, short(error))
        span.set_status(Status(StatusCode.ERROR))
    span.end(at or None)
