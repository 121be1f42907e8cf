"""Providers that keep what they are given, and what they were given in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

from ctxgc.telemetry.otel.providers import Providers


@dataclass(frozen=True)
class Event:
    """A log record: its name, attributes and the span it is about."""

    name: str
    attributes: Mapping[str, Any]
    trace_id: int
    span_id: int


class Memory:
    """In-memory exporters. What was exported outlives their end."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._spans, self._logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self._reader = InMemoryMetricReader()
        traces = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        traces.add_span_processor(SimpleSpanProcessor(self._spans))
        logs = LoggerProvider(shutdown_on_exit=False)
        logs.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.providers = Providers(traces, logs, MeterProvider([self._reader], shutdown_on_exit=False))

    @property
    def spans(self) -> list[ReadableSpan]:
        """All spans, in the order in which they began."""
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    @property
    def chats(self) -> list[ReadableSpan]:
        """The spans of what was sent to the model."""
        return [span for span in self.spans if span.name.startswith("chat")]

    @property
    def events(self) -> list[Event]:
        found = []
        for data in self._logs.get_finished_logs():
            record = data.log_record
            found.append(
                Event(record.event_name or "", dict(record.attributes or {}), record.trace_id or 0, record.span_id or 0)
            )
        return found

    def metrics(self) -> dict[str, list[Any]]:
        """The points of each metric."""
        data = self._reader.get_metrics_data()
        scopes = [scope for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics]
        return {metric.name: list(metric.data.data_points) for scope in scopes for metric in scope.metrics}


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def parent(span: ReadableSpan) -> int:
    return span.parent.span_id if span.parent else 0


def ident(span: ReadableSpan) -> int:
    return span.context.span_id if span.context else 0
