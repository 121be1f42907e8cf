"""Running the proxy: socket, server, upstream and store, opened in this order and closed in the other.

Rule: everything that can be refused is refused before the first request is taken.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from types import FrameType

import uvicorn

from ctxgc.assemble import ledgers, make_kit, prices, summariser_of, watches
from ctxgc.config import Config, default_store
from ctxgc.core.policy import Policy
from ctxgc.errors import BindError, ConfigError
from ctxgc.proxy.app import Proxy
from ctxgc.proxy.chat import Chat
from ctxgc.proxy.http import Http
from ctxgc.proxy.own import make_own
from ctxgc.proxy.upstream import Upstream
from ctxgc.session import Sessions
from ctxgc.store import open_store
from ctxgc.telemetry import Figures
from ctxgc.tokens.measure import meter_for

_LOG = logging.getLogger("ctxgc")
_TYPICAL = "gpt-5"
_RETRY = 5.0
"""Seconds between two attempts to store what a failing store has not taken."""
_LAST = 1.0
"""Seconds that the end waits for a store to take what it has not."""


@asynccontextmanager
async def running(
    config: Config, policies: Sequence[Policy], listener: socket.socket
) -> AsyncIterator[asyncio.Task[None]]:
    """The proxy, answering on ``listener`` until the block ends (or the task does that it gives: it failed).

    Raises ``ConfigError``, ``StoreError``.
    """
    await asyncio.to_thread(meter_for(_TYPICAL).count, "load the tokenizer before the first request needs it")
    store = open_store(config.store or default_store())
    try:
        figures = Figures(prices(), lambda: len(sessions), store.size)
        recall = config.recall and bool(policies)
        kit = make_kit(
            store, policies, config.tags, figures.observe, config.pacer(), recall=recall,
            summariser=summariser_of(config.summariser), ledger=ledgers(store, config.ledger),
            milestones=watches(config.milestones),
        )  # fmt: skip
        sessions = Sessions(kit)
        async with Upstream(config.upstream) as upstream:
            strict = config.audit == "strict"
            chat = Chat(upstream, sessions, figures, strict=strict, limit=config.body_limit)
            own = make_own(sessions, figures, chat.milestone)
            hosts = (config.host, *config.allowed_hosts)
            app = Proxy(upstream, chat, own, figures, hosts=hosts, limit=config.body_limit)
            server = uvicorn.Server(_server_config(app))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            retrying = asyncio.create_task(_retrying(sessions))
            try:
                yield serving
            finally:
                server.should_exit = True
                await serving
                retrying.cancel()
                await _flush(sessions)
    finally:
        store.close()


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


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises ``BindError``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, or else asyncio leaves Nagle's algorithm on, and small chunks wait 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        text = error.strerror or str(error)
        raise BindError(f"cannot listen on {host}:{port}: {text}; choose another with --port") from None
    listener.setblocking(False)
    return listener


async def serve(config: Config, policies: Sequence[Policy], ready: Callable[[str], None]) -> int:
    """Run until a signal asks to stop, and return its number. ``ready`` is called with the proxy's base URL."""
    if not config.upstream:
        raise ConfigError("no upstream: give --upstream https://api.example.com/v1, or set it in ctxgc.toml")
    _calm_gc()
    with closing(listen(config.host, config.port)) as listener, _signals() as stopped:
        async with running(config, policies, listener) as serving:
            host = f"[{config.host}]" if ":" in config.host else config.host
            ready(f"http://{host}:{listener.getsockname()[1]}")
            await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)  # a signal that was raised again is noted by now
        return stopped.result() if stopped.done() else 0


def _calm_gc() -> None:
    """Have Python's own collector look less often at what stays: sessions are many small values, and few are cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@contextmanager
def _signals() -> Iterator[asyncio.Future[int]]:
    """A future that SIGINT or SIGTERM completes with its number.

    While uvicorn serves, it takes them, and raises them again when the last answer has ended: without this, that would
    end the process with the store still open.
    """
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def caught(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop, number)

    def stop(number: int) -> None:
        if not stopped.done():
            stopped.set_result(number)

    before = {number: signal.signal(number, caught) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _server_config(app: Proxy) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Http,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=30,
    )
