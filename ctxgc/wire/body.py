"""Splitting a request body into its history and the rest, whole or only behind a prefix that is known.

Rule: offsets point into the bytes as they came; a body whose top level has duplicate keys is refused, since two readers
could see two different requests in it.
"""

from __future__ import annotations

from ctxgc.core.spans import Malformed, Span, elements, members
from ctxgc.wire.codec import Body, Known


def split(text: bytes, history: str) -> Body:
    """Split a whole body at its top-level array ``history``. Raises ``Malformed`` where it has none."""
    spans = members(text)
    found, messages = _history(text, spans, history)
    start = messages[0].start if messages else found.start + 1
    end = messages[-1].end if messages else start
    fields = {span.key: span.of(text) for span in spans if span is not found}
    head = {span.key: fields[span.key] for span in spans if span.start < found.start}
    return Body(text, start, end, messages, fields, head, behind=start)


def resume(text: bytes, history: str, known: Known) -> Body | None:
    """Split what follows ``known.prefix``, in time that does not depend on its length; None if it is no prefix.

    The prefix ends behind a message of the open array: what follows, put behind the opening of an array with one
    element, is an object like the original with the old messages left out. Raises ``Malformed``.
    """
    size = len(known.prefix)
    if not known.count or not text.startswith(known.prefix):
        return None
    opening = b'{"%b":[0' % history.encode()
    tail = opening + text[size:]
    spans = members(tail)
    found, messages = _history(tail, spans, history)
    if not known.head.keys().isdisjoint(span.key for span in spans):
        raise Malformed("duplicate key")
    shift = size - len(opening)
    new = tuple(Span("", span.start + shift, span.end + shift) for span in messages[1:])
    fields = {**known.head, **{span.key: span.of(tail) for span in spans if span is not found}}
    return Body(text, known.start, new[-1].end if new else size, new, fields, known.head, size, known.count)


def _history(text: bytes, spans: tuple[Span, ...], key: str) -> tuple[Span, tuple[Span, ...]]:
    found = next((span for span in spans if span.key == key), None)
    if found is None:
        raise Malformed(f"no {key} in the request")
    inside = (Span("", span.start + found.start, span.end + found.start) for span in elements(found.of(text)))
    return found, tuple(inside)
