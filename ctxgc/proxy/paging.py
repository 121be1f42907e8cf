"""The profiler page beside the proxy: what it reads, what it may do, and where it is served.

Rule: it is served by the proxy's own port, or by one of its own, or not at all; never by two.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from starlette.types import ASGIApp

from ctxgc.config import Config, default_store
from ctxgc.proxy.chat import Chat
from ctxgc.session import Session, Sessions
from ctxgc.store import Store
from ctxgc.web.actions import Actions
from ctxgc.web.app import Page, turned_off
from ctxgc.web.desk import Desk, InChild, InThread
from ctxgc.web.frames import Terms
from ctxgc.web.serving import base_of, listen, page_server, serving
from ctxgc.web.token import link, token_of

OFF = "the profiler page is off: page = true in ctxgc.toml turns it on"


def page_of(config: Config, store: Store, sessions: Sessions, chat: Chat) -> Page | None:
    """The page over the proxy's store; None where it is off."""
    if not config.page:
        return None
    lock: Callable[[Session], asyncio.Lock] = chat.lock
    return Page(_desk(config, store), token_of(store.secret), Actions(sessions, lock, chat.milestone))


def own_page(config: Config, page: Page | None) -> ASGIApp:
    """What the proxy's own port answers below ``/ctxgc/``."""
    if page is None:
        return turned_off(OFF)
    return turned_off(f"the profiler page is served at port {config.page_port}") if config.page_port else page.app


@asynccontextmanager
async def page_only(config: Config, page: Page | None) -> AsyncIterator[str]:
    """Serve the page at its own port, if it has one; its base URL (empty: it has none). Raises ``BindError``."""
    if page is None or not config.page_port:
        yield ""
        return
    with closing(listen(config.host, config.page_port, "page_port")) as listener:
        async with serving(page_server(page, config.host, config.allowed_hosts), listener):
            yield base_of(config.host, listener)


def announced(base: str, store: Store) -> str:
    """The page's address for a browser, with its token."""
    return link(base, token_of(store.secret))


def _desk(config: Config, store: Store) -> Desk:
    from ctxgc.store.opening import place_of

    url = config.store or default_store()
    path: Path | None = place_of(url).path
    terms = Terms(url=f"sqlite:///{path}" if path else url, ledger=config.ledger, pacer=config.pacer())
    return InChild(terms) if path else InThread(store, terms)
