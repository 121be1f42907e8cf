"""Running the proxy: socket, server, upstream and store, opened in this order and closed in the other.

Rule: everything that can be refused is refused before the first request is taken.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing

import uvicorn

from ctxgc.assemble import ledgers, make_kit, prices, summariser_of, watches
from ctxgc.config import Config, default_store
from ctxgc.core.policy import Policy
from ctxgc.errors import ConfigError
from ctxgc.proxy.app import Proxy
from ctxgc.proxy.chat import Chat
from ctxgc.proxy.http import Http
from ctxgc.proxy.own import make_own
from ctxgc.proxy.paging import announced, own_page, page_of, page_only
from ctxgc.proxy.upstream import Upstream
from ctxgc.session import Kit, Sessions
from ctxgc.session.timing import Timer
from ctxgc.store import Store, open_store
from ctxgc.telemetry import Figures, otel, watched
from ctxgc.telemetry.otel.complaints import spoken_for
from ctxgc.tokens.measure import meter_for
from ctxgc.web.serving import SETTINGS, Server, base_of, listen, serving, signals

_LOG = logging.getLogger("ctxgc")
_TYPICAL = "gpt-5"
_RETRY = 5.0
"""Seconds between two attempts to store what a failing store has not taken."""
_LAST = 1.0
"""Seconds that the end waits for a store to take what it has not."""


@asynccontextmanager
async def running(
    config: Config,
    policies: Sequence[Policy],
    listener: socket.socket,
    announce: Callable[[str], None] = lambda _page: None,
) -> AsyncIterator[asyncio.Task[None]]:
    """The proxy, answering on ``listener`` until the block ends (or the task does that it gives: it failed).

    ``announce`` is told the address of the profiler page, if there is one. Raises ``ConfigError``, ``StoreError``,
    ``BindError``. What was opened first is closed last.
    """
    await asyncio.to_thread(meter_for(_TYPICAL).count, "load the tokenizer before the first request needs it")
    async with AsyncExitStack() as opened:
        store = open_store(config.store or default_store())
        opened.callback(store.close)
        tracing = otel.start(config.otel, upstream=config.upstream, price=prices(), failed=lambda: figures.failed())
        if tracing:
            opened.enter_context(spoken_for(_LOG.warning))
            opened.push_async_callback(asyncio.to_thread, tracing.close)
        figures = Figures(
            prices(), lambda: len(sessions), store.size, live=lambda: [each.state for each in sessions],
            exclude=config.metrics_exclude, sources=config.metrics_sources,
            suspected=tracing.suspected if tracing else None,
        )  # fmt: skip
        store = watched(store, figures.corrupt)
        kit = _kit(config, policies, store, otel.observing(figures.observe, tracing), figures.timer)
        sessions = Sessions(kit)
        opened.push_async_callback(_flush, sessions)
        upstream = await opened.enter_async_context(Upstream(config.upstream))
        strict = config.audit == "strict"
        chat = Chat(upstream, sessions, figures, strict=strict, limit=config.body_limit, tracing=tracing)
        page = page_of(config, store, sessions, chat)
        if page is not None:
            opened.push_async_callback(page.close)
        own = make_own(sessions, figures, chat.milestone, own_page(config, page))
        hosts = (config.host, *config.allowed_hosts)
        app = Proxy(upstream, chat, own, figures, hosts=hosts, limit=config.body_limit)
        opened.callback(asyncio.create_task(_retrying(sessions)).cancel)
        apart = await opened.enter_async_context(page_only(config, page))
        server = Server(uvicorn.Config(app, http=Http, **SETTINGS), page.end_streams if page else lambda: None)
        task = await opened.enter_async_context(serving(server, listener))
        announce(announced(apart or base_of(config.host, listener), store) if page else "")
        yield task


def _kit(config: Config, policies: Sequence[Policy], store: Store, observe: otel.Observe, timer: Timer) -> Kit:
    recall = config.recall and bool(policies)
    return make_kit(
        store, policies, config.tags, observe, config.pacer(), recall=recall,
        summariser=summariser_of(config.summariser), ledger=ledgers(store, config.ledger),
        milestones=watches(config.milestones), timer=timer,
    )  # fmt: skip


async def _retrying(sessions: Sessions) -> None:
    """Offer a store that failed what it has not taken, until it does."""
    while True:
        await asyncio.sleep(_RETRY)
        for session in sessions:
            try:
                session.retry()
            except Exception:  # one session's fault must not end the attempts for all
                pass


async def _flush(sessions: Sessions) -> None:
    """Give what is not on disk a last chance. What was answered was answered, so this does not wait for ever."""
    last = [future for session in sessions if (future := session.retry())]
    if not last:
        return
    waits = [asyncio.wrap_future(future) for future in last]
    done, late = await asyncio.wait(waits, timeout=_LAST)
    lost = len(late) + sum(future.exception() is not None for future in done)
    if lost:
        _LOG.error("ctxgc: the store took nothing: what was still to be stored of %d conversations is lost", lost)


async def serve(config: Config, policies: Sequence[Policy], ready: Callable[[str, str], None]) -> int:
    """Run until a signal asks to stop, and return its number. ``ready`` is called with the proxy's base URL, and the
    address of its profiler page (empty: it has none)."""
    if not config.upstream:
        raise ConfigError("no upstream: give --upstream https://api.example.com/v1, or set it in ctxgc.toml")
    _calm_gc()
    with closing(listen(config.host, config.port)) as listener, signals() as stopped:
        base = base_of(config.host, listener)
        async with running(config, policies, listener, lambda page: ready(base, page)) as task:
            await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)  # a signal that was raised again is noted by now
        return stopped.result() if stopped.done() else 0


def _calm_gc() -> None:
    """Have Python's own collector look less often at what stays: sessions are many small values, and few are cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
