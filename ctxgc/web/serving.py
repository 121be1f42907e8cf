"""Running HTTP servers: sockets, signals, and the page alone over a store.

Rule: whatever may go on for ever is told to end before a server waits for it.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from types import FrameType
from typing import Any

import msgspec
import uvicorn

from ctxgc.errors import BindError
from ctxgc.store import open_store
from ctxgc.web.app import Page
from ctxgc.web.desk import Desk, InChild
from ctxgc.web.doors import mounted
from ctxgc.web.frames import Asked, Terms
from ctxgc.web.token import token_of

SETTINGS: dict[str, Any] = {
    "ws": "none",
    "lifespan": "off",
    "access_log": False,
    "log_config": None,
    "log_level": "critical",
    "server_header": False,
    "proxy_headers": False,
    "date_header": False,
    "timeout_keep_alive": 75,
    "timeout_graceful_shutdown": 30,
}
"""How uvicorn serves: it adds nothing to what is answered, and prints nothing."""


class Server(uvicorn.Server):
    """uvicorn's server. ``ending`` is called before it waits for the answers that are under way; ``signals`` says
    whether it ends by them."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None], *, signals: bool = True) -> None:
        super().__init__(config)
        self._ending, self._signals = ending, signals

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See ``uvicorn.Server``."""
        self._ending()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See ``uvicorn.Server``. Only one server of a process can have them."""
        if not self._signals:
            yield
            return
        with super().capture_signals():
            yield


@asynccontextmanager
async def serving(server: Server, listener: socket.socket) -> AsyncIterator[asyncio.Task[None]]:
    """A server, until the block ends (or the task does that it gives)."""
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield task
    finally:
        server.should_exit = True
        await task


def page_server(page: Page, host: str, allowed: Sequence[str]) -> Server:
    """A server of the page alone."""
    app = mounted(page.app, (host, *allowed))
    return Server(uvicorn.Config(app, **SETTINGS), page.end_streams, signals=False)


async def serve_page(
    terms: Terms, host: str, port: int, ready: Callable[[str, str], None], allowed: Sequence[str] = ()
) -> int:
    """Serve the page over the store of these terms until a signal asks to stop; its number.

    ``ready`` is called with the server's base URL and the token; ``allowed`` are more names that it may be called by.
    Raises ``BindError``, ``StoreError``.
    """
    store = open_store(terms.url, create=False, read_only=True)
    try:
        token = token_of(store.secret)
    finally:
        store.close()
    with closing(listen(host, port)) as listener, signals() as stopped:
        desk = InChild(terms)
        page = Page(desk, token)
        try:
            async with serving(page_server(page, host, allowed), listener) as task:
                reading = asyncio.create_task(_ahead(desk))
                ready(base_of(host, listener), token)
                await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
                reading.cancel()
        finally:
            await page.close()
        return stopped.result() if stopped.done() else 0


async def _ahead(desk: Desk) -> None:
    """Have the newest session read before anybody asks: whoever serves the page alone will look at it."""
    listed = await desk.ask(Asked(path="sessions"))
    if listed.status == 200 and (newest := msgspec.json.decode(listed.body, type=_Listed).sessions[:1]):
        await desk.ask(Asked(path=f"sessions/{newest[0].id}"))


class _Line(msgspec.Struct):
    id: str


class _Listed(msgspec.Struct):
    sessions: list[_Line]


def base_of(host: str, listener: socket.socket) -> str:
    """The base URL of a server that listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def listen(host: str, port: int, setting: str = "--port") -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises ``BindError``, which names the ``setting`` of the port."""
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
        raise BindError(f"cannot listen on {host}:{port}: {text}; choose another with {setting}") from None
    listener.setblocking(False)
    return listener


@contextmanager
def signals() -> Iterator[asyncio.Future[int]]:
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
