"""Whom the page's server asks: a reader in a child process, begun when somebody opens the page, or in a thread.

Rule: whoever asks gets an answer, whatever becomes of the reader; it knows no key of anybody's, and ends with us.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from ctxgc.store import Store
from ctxgc.web.frames import HEAD, Answer, Asked, Terms, frame, refusal, unframe

MOST = 64
"""Questions that may wait; more are refused."""
PATIENCE = 60.0
"""Seconds that an answer may take before the reader is taken for dead."""
KEPT = ("PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONHOME", "TZ")
"""What a reader's environment has of ours: no key is under any of these names."""

_ROOT = str(Path(__file__).parents[2])
_LAST = 1.0


class Desk(Protocol):
    """Answers questions about a store."""

    def begin(self) -> None:
        """Have the reader ready soon: somebody will ask."""

    async def ask(self, asked: Asked) -> Answer:
        """The answer to a question. Never raises."""

    async def close(self) -> None:
        """End the reader."""


class InThread:
    """A reader in a thread of this process: for a store in memory, which no other process can read."""

    def __init__(self, store: Store, terms: Terms) -> None:
        from ctxgc.web.reader import Reader

        self._reader = Reader(store, terms)
        self._thread = ThreadPoolExecutor(1, "ctxgc-page")

    def begin(self) -> None:
        """See ``Desk``: it always is."""

    async def ask(self, asked: Asked) -> Answer:
        """See ``Desk``."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._reader.answer, asked)
        except RuntimeError:  # it has been closed
            return _CLOSED

    async def close(self) -> None:
        """See ``Desk``."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)


class InChild:
    """A reader in a process of its own. One that dies is begun anew, and asked once more."""

    def __init__(self, terms: Terms, python: str = sys.executable) -> None:
        self._terms, self._python = terms, python
        self._child: _Child | None = None
        self._starting = asyncio.Lock()
        self._beginning: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process that reads; None where there is none now."""
        return self._child.process.pid if self._child is not None and not self._child.dead else None

    def begin(self) -> None:
        """See ``Desk``."""
        if self.pid is None and (self._beginning is None or self._beginning.done()):
            self._beginning = asyncio.create_task(self._begun())

    async def ask(self, asked: Asked) -> Answer:
        """See ``Desk``."""
        for _ in range(2):
            try:
                child = await self._running()
                if len(child.waiting) >= MOST:
                    return _BUSY
                return await child.ask(frame(asked))
            except (OSError, EOFError):
                continue
            except UnicodeError:
                return _UNSAYABLE
            except TimeoutError:
                break
        return _CLOSED if self._closed else _DEAD

    async def close(self) -> None:
        """See ``Desk``."""
        self._closed = True
        async with self._starting:  # one that is being begun ends too
            if self._child is not None:
                await self._child.end()

    async def _begun(self) -> None:
        with suppress(OSError, EOFError, UnicodeError):  # whoever asks is told
            await self._running()

    async def _running(self) -> _Child:
        async with self._starting:
            if self._closed:
                raise EOFError
            if self._child is None or self._child.dead:
                if self._child is not None:
                    await self._child.end()
                self._child = await _begin(self._python, self._terms)
            return self._child


class _Child:
    """A process, and who waits for its answers, in order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.waiting: deque[asyncio.Future[Answer]] = deque()
        self.dead = False
        self._reading = asyncio.create_task(self._read())

    async def ask(self, question: bytes) -> Answer:
        """Raises ``EOFError`` where the process has died, ``TimeoutError`` where it does not answer."""
        if self.dead:
            raise EOFError
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        self.tell(question)
        try:
            return await asyncio.wait_for(future, PATIENCE)
        except TimeoutError:
            self._kill()
            raise

    def tell(self, data: bytes) -> None:
        """Write something, without waiting until it is read: questions are small, and few."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def end(self) -> None:
        """Have it end by itself, and soon."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reading), _LAST)
        self._kill()
        await self.process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while True:
                size = int.from_bytes(await self.process.stdout.readexactly(HEAD), "big")
                answer = unframe(await self.process.stdout.readexactly(size), Answer)
                future = self.waiting.popleft()
                if not future.done():  # who asked may have left
                    future.set_result(answer)
        except (EOFError, OSError, ValueError, IndexError, msgspec.MsgspecError):
            self._died()

    def _died(self) -> None:
        self.dead = True
        self._kill()
        while self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_exception(EOFError())

    def _kill(self) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()


async def _begin(python: str, terms: Terms) -> _Child:
    begun = frame(terms)  # before there is a process that nobody would end
    # -P: what lies in the working directory is not to pass for a module.
    process = await asyncio.create_subprocess_exec(
        *(python, "-P", "-m", "ctxgc.web.child"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(os.environ),
        start_new_session=True,  # Ctrl-C is for us: it ends when we do
    )
    child = _Child(process)
    child.tell(begun)
    return child


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """The environment of a reader: what it takes to run Python, and nothing that could be a secret."""
    kept = {name: value for name, value in ours.items() if name in KEPT or name.startswith("LC_")}
    path = os.pathsep.join(filter(None, (_ROOT, ours.get("PYTHONPATH", ""))))
    return {**kept, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


_DEAD = refusal(503, "the page's reader ended: try again", "ctxgc_reader")
_BUSY = refusal(503, "too many questions at once: try again", "ctxgc_reader")
_UNSAYABLE = refusal(400, "a name in it, or the store's path, is no UTF-8", "ctxgc_reader")
_CLOSED = refusal(503, "the page is being closed", "ctxgc_reader")
