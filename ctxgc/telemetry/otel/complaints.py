"""What OpenTelemetry's own loggers say in a process of ours: one line now and then, in our words.

Rule: nothing of what they say is repeated, since addresses with keys in them are a part of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

QUIET = 60.0
"""Seconds in which no second line is said."""
_NAME = "opentelemetry"
_TEXT = "ctxgc: OpenTelemetry: what was traced may be lost (%s); is the back end of OTEL_EXPORTER_OTLP_ENDPOINT there?"


class Complaints(logging.Handler):
    """Says that there was something, to ``say``, at most once in ``QUIET`` seconds."""

    def __init__(self, say: Callable[[str], object], clock: Callable[[], float] = monotonic) -> None:
        super().__init__(logging.WARNING)
        self._say, self._clock = say, clock
        self._next = float("-inf")

    def emit(self, record: logging.LogRecord) -> None:
        """Take what a logger says: only where it comes from is told."""
        now = self._clock()
        if now >= self._next:
            self._next = now + QUIET
            self._say(_TEXT % record.name.rpartition(".")[2])


@contextmanager
def spoken_for(say: Callable[[str], object]) -> Iterator[None]:
    """Have OpenTelemetry's loggers say what they say in this way, and in no other, while the block lasts."""
    logger, handler = logging.getLogger(_NAME), Complaints(say)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
