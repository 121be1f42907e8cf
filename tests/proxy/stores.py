"""A real store with a hand on it: it can be made to answer late, to refuse, or not to be readable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from ctxgc.core.journal import AnyEntry, decode
from ctxgc.store import Record, Store, Stored
from tests.proxy.upstream import HANG


class Handled:
    """A store with a hand on it: ``held`` keeps back what is durable, ``error`` and ``reading`` make calls fail."""

    def __init__(self, store: Store) -> None:
        self.inner = store
        self.held = False
        self.error: Exception | None = None
        self.reading: Exception | None = None
        self.written: list[AnyEntry] = []
        self.tried = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._kept: list[Future[None]] = []
        self._news = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def append(self, records: Sequence[Record]) -> Future[None]:
        self.tried.set()
        if self.error is not None:
            if not isinstance(self.error, Refusal):
                raise self.error
            failed: Future[None] = Future()
            failed.set_exception(self.error.error)
            return failed
        done = self.inner.append(records)
        done.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._note, records))
        if not self.held:
            return done
        kept: Future[None] = Future()
        self._kept.append(kept)
        return kept

    def release(self) -> None:
        """Say that all which was held back is durable."""
        self.held = False
        kept, self._kept = self._kept, []
        for future in kept:
            future.set_result(None)

    def entries(self, session: bytes, start: int = 0) -> Iterator[Stored]:
        if self.reading:
            raise self.reading
        return self.inner.entries(session, start)

    def find(self, chain: bytes) -> bytes | None:
        if self.reading:
            raise self.reading
        return self.inner.find(chain)

    async def until(self, kind: type[AnyEntry], count: int = 1) -> list[Any]:
        """The entries of a kind that were written, when there are as many."""
        while len(found := self.of(kind)) < count:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), HANG)
        return found

    def of(self, kind: type[AnyEntry]) -> list[Any]:
        return [entry for entry in self.written if isinstance(entry, kind)]

    def _note(self, records: Sequence[Record]) -> None:
        self.written += [decode(record.body) for record in records]
        self._news.set()


class Refusal(Exception):
    """To be given as ``error``: appends are taken and fail with ``error`` later, as a store's do."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
