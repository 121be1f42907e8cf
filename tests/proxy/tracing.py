"""A proxy that traces into memory, and what its spans should say by the store of the same run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from opentelemetry.sdk.trace.sampling import Sampler

from ctxgc.core.journal import Allocation, AnyEntry, Settlement
from ctxgc.core.state import State
from ctxgc.telemetry import otel
from ctxgc.telemetry.otel import providers
from tests.proxy.harness import Running
from tests.telemetry.otel.memory import Memory

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TRACEPARENT = ("traceparent", f"00-{CALLER}-{PARENT}-01")
UNSAMPLED = ("traceparent", f"00-{CALLER}-{PARENT}-00")
TRACESTATE = ("tracestate", "vendor=1")


class Tracing:
    """Runs proxies that trace into ``memory``: what it has is whole when they have ended."""

    def __init__(self, start: Any, memory: Memory) -> None:
        self._start, self.memory = start, memory
        self.made: list[Any] = []

    def faults(self) -> int:
        """What the last proxy's tracing failed at."""
        return int(self.made[-1].faults)

    @contextlib.asynccontextmanager
    async def __call__(self, otel: str = "always", **settings: Any) -> AsyncIterator[Running]:
        async with self._start(otel=otel, **settings) as running:
            yield running


def traced(start: Any, patch: pytest.MonkeyPatch, sampler: Sampler | None = None) -> Tracing:
    found = Tracing(start, Memory(sampler))
    begin = otel.start

    def starting(*args: Any, **kwargs: Any) -> Any:
        found.made.append(begin(*args, **kwargs))
        return found.made[-1]

    patch.setattr(providers, "from_environment", lambda: found.memory.providers)
    patch.setattr(otel, "start", starting)
    return found


def entries(running: Running) -> list[AnyEntry]:
    """The entries of the only session in the store."""
    (found,) = running.journals().values()
    return found


def settlements(running: Running) -> list[Settlement]:
    return [one for one in entries(running) if isinstance(one, Settlement)]


def carried(running: Running) -> list[tuple[int, int]]:
    """Of each request in the store: its tokens as it came and as it left, by the state as it was when it left."""
    state, found, open_ = State(), list[tuple[int, int]](), None
    for entry in entries(running):
        if isinstance(entry, Settlement) and open_ is not None:
            came = 0 if open_.again else state.tokens(open_.head, open_.toolset, sent=False)
            left = state.tokens(open_.head, open_.toolset, sent=True, offered=open_.offered)
            found.append((came, left))
            open_ = None
        state.apply(entry)
        open_ = entry if isinstance(entry, Allocation) else open_
    return found
