"""Parts that fail when they are told to, around the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from ctxgc.store import Record, Store


class FaultyStore:
    """The real store, whose appends fail while ``error`` is set: in the future, or at once (``raises``).

    While ``held`` is a list, appends wait in it until they are let go.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.error: Exception | None = None
        self.raises = False
        self.held: list[tuple[Sequence[Record], Future[None]]] | None = None
        self.appends: list[tuple[str, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, records: Sequence[Record]) -> Future[None]:
        self.appends.append(tuple(record.kind for record in records))
        if self.held is not None:
            future: Future[None] = Future()
            self.held.append((records, future))
            return future
        if self.error is None:
            return self._store.append(records)
        if self.raises:
            raise self.error
        failed: Future[None] = Future()
        failed.set_exception(self.error)
        return failed

    def release(self) -> None:
        """Let the oldest append that is held go its way, in this thread."""
        assert self.held
        records, future = self.held.pop(0)
        if self.error is not None:
            future.set_exception(self.error)
        else:
            self._store.append(records).result()
            future.set_result(None)
