"""A store that tells when what is read from it does not match its hash.

Rule: it changes nothing of what the store gives or raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from ctxgc.store import Store, StoreCorrupt, Stored


class _Watched:
    """A store, seen through."""

    def __init__(self, store: Store, corrupt: Callable[[], None]) -> None:
        self._store, self._corrupt = store, corrupt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def entries(self, session: bytes, start: int = 0) -> Iterator[Stored]:
        try:
            yield from self._store.entries(session, start)
        except StoreCorrupt:
            self._corrupt()
            raise

    def blob(self, digest: bytes) -> bytes:
        try:
            return self._store.blob(digest)
        except StoreCorrupt:
            self._corrupt()
            raise


def watched(store: Store, corrupt: Callable[[], None]) -> Store:
    """The same store; ``corrupt`` is called whenever an entry or a blob that is read contradicts its hash."""
    return cast(Store, _Watched(store, corrupt))
