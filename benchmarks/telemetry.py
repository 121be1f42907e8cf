"""What telemetry costs a request: prepare, admit and settle of the same session, with figures, with spans, and without.

One turn at a time, by all variants, in an order that changes. ``off`` runs twice, as two variants: how far these are
apart is what cannot be told from noise. ``prepare`` and ``settle`` are what a client waits for; ``admit`` is done while
the upstream thinks, and ``later``, the counting of a request that has ended and the making of its spans, when nobody waits. The store's own work
is waited for outside of what is measured.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import click

from benchmarks.workload import Message, body, history, spread, turns
from ctxgc.assemble import make_kit, prices
from ctxgc.core.journal import AnyEntry, Settlement, Usage
from ctxgc.core.state import State
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import open_store
from ctxgc.telemetry import Figures
from ctxgc.telemetry.otel import UNTRACED, Sending, observing
from ctxgc.tokens import counter_for

if TYPE_CHECKING:
    from ctxgc.telemetry.otel.tracing import Tracing

SHOWN = {"prepare": (0,), "settle": (2,), "prepare + settle": (0, 2), "admit": (1,), "later": (3,), "all": (0, 1, 2, 3)}
"""What is shown, and of which of the four steps that are measured it is the sum."""
CASES = ((40, 1_000), (800, 2_000))
WARMING = 3
"""Rounds that are not counted."""
BAR = 1.05
"""How many times as long ``prepare + settle`` may take."""
REPLY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Done. " * 200}}]}).encode()
Observe = Callable[[State, AnyEntry], None]


class Variant:
    """One session, observed in one way: seconds per step and round."""

    def __init__(
        self,
        name: str,
        observe: Observe | None,
        figures: Figures | None,
        policy: str,
        tracing: Tracing | None = None,
    ) -> None:
        self.name, self.figures, self.tracing, self._store = name, figures, tracing, open_store("sqlite://")
        timer = figures.timer if figures else None
        kit = make_kit(self._store, preset(policy), observe=observe or (lambda _state, _entry: None), timer=timer)
        self.session = Session(bytes(32), bytes(32), "benchmark", kit)
        self.taken: list[tuple[float, ...]] = []

    def turn(self, text: bytes, usage: Usage) -> None:
        """One request from its body to its end. What may be done later is done, and not measured."""
        session, clock, tracer = self.session, time.perf_counter, self.tracing or UNTRACED
        trail = tracer.request("POST", "/v1/chat/completions", {})
        began = clock()
        prepared = session.prepare(text)
        decided = clock()
        session.admit()
        booked = clock()
        session.flush()
        settlement = Settlement(
            at=time.time(), call=prepared.call, outcome="ok", status=200, model=prepared.model, usage=usage,
            first_byte=0.5, first_token=0.5, duration=3.0, overhead=0.002,
        )  # fmt: skip
        trail.prepared(prepared.call, session.key, 0.002)
        sending = Sending(prepared.call, prepared.model, prepared.stream, prepared.body != text, prepared.body)
        trail.send(sending, [])
        if self.figures is not None:
            self.figures.request_started(prepared.call, trail.trace)
        settling = clock()
        done = session.settle(settlement, REPLY)
        ended = clock()
        done.result()
        later = clock()
        if self.figures is not None:
            self.figures.request_ended(prepared.call)
            self.figures.catch_up()
        trail.end(200)
        if self.tracing is not None:
            self.tracing.flush()
        assert not prepared.bypass, prepared.bypass
        self.taken.append((decided - began, booked - decided, ended - settling, clock() - later))

    def close(self) -> None:
        """Let go of the store, and of the thread that makes spans."""
        if self.tracing is not None:
            self.tracing.close()
        self._store.close()


def variants(policy: str) -> list[Variant]:
    """Off, off once more, figures, and figures with spans, all of which are made and kept in memory."""
    figures, both, tracing = Figures(prices()), Figures(prices()), traced()
    made = [
        Variant("off", None, None, policy),
        Variant("off again", None, None, policy),
        Variant("figures", figures.observe, figures, policy),
    ]
    return [*made, Variant("figures + otel", observing(both.observe, tracing), both, policy, tracing)]


def traced() -> Tracing:
    """Tracing whose spans, log records and measurements stay in memory."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from ctxgc.telemetry.otel.providers import Providers
    from ctxgc.telemetry.otel.tracing import Tracing

    traces, logs = TracerProvider(), LoggerProvider()
    traces.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    logs.add_log_record_processor(SimpleLogRecordProcessor(InMemoryLogRecordExporter()))  # type: ignore[no-untyped-call]
    return Tracing(Providers(traces, logs, MeterProvider([InMemoryMetricReader()])), price=prices())


Row = dict[str, dict[str, float]]
"""By step, and by steps together: microseconds, and how many times as long as without telemetry."""


def measure(count: int, size: int, rounds: int, policy: str) -> dict[str, Row]:
    """A history of ``count`` messages that grows by a turn in each round."""
    running = variants(policy)
    messages: list[Message] = history(count, size)
    order = Random(5)
    try:
        for turn in islice(turns(size, seed=11), rounds + WARMING):
            text = body(messages)
            usage = Usage(uncached=900, cached=len(text) // 5, output=200, reasoning=50)
            for variant in order.sample(running, len(running)):
                variant.turn(text, usage)
            messages += turn
        return {variant.name: _row(variant, running[0]) for variant in running}
    finally:
        for variant in running:
            variant.close()


def _row(variant: Variant, off: Variant) -> Row:
    """The ratio is the median over the rounds: each variant's turn beside that of ``off`` in the same round."""
    mine, bare = variant.taken[WARMING:], off.taken[WARMING:]
    row: Row = {}
    for name, steps in SHOWN.items():
        taken, beside = ([sum(one[at] for at in steps) for one in both] for both in (mine, bare))
        ratio = statistics.median(a / b for a, b in zip(taken, beside, strict=True))
        row[name] = {**spread(taken, 1e6), "ratio": ratio}
    return row


@click.command()
@click.option("--rounds", default=120, show_default=True, help="Turns measured per history.")
@click.option("--policy", default="generational", show_default=True, help="The preset in force.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(rounds: int, policy: str, as_json: bool) -> None:
    """What telemetry costs a request, beside the same request without it."""
    counter_for("gpt-5").count("warm the tokenizer")
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as the proxy does
    results = {f"{count} messages": measure(count, size, rounds, policy) for count, size in CASES}
    if as_json:
        json.dump({"schema": "ctxgc.bench.telemetry/1", "bar": BAR, "results": results}, sys.stdout, indent=2)
        return
    for name, rows in results.items():
        print(f"{name}, us (p10-p90) ratio".ljust(30) + "".join(step.rjust(28) for step in SHOWN))
        for variant, row in rows.items():
            print(variant.ljust(30) + "".join(_shown(one).rjust(28) for one in row.values()))


def _shown(one: dict[str, float]) -> str:
    within = f"{one['median']:.0f} ({one['p10']:.0f}-{one['p90']:.0f})"
    return within if one["ratio"] > 10 else f"{within} {one['ratio']:.3f}"  # of next to nothing, no ratio says much


if __name__ == "__main__":
    main()
