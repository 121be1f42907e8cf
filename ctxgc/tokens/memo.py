"""A bounded memory of counts. Rule: it holds digests and numbers, never the texts."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock


class CountMemo:
    """Least-recently-used map from the content of a text to its count; safe to share between threads."""

    __slots__ = ("_counts", "_lock", "_size")

    def __init__(self, size: int = 16_384) -> None:
        """Remember at most `size` counts (about 150 bytes each)."""
        self._size = size
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._counts)

    def get(self, key: bytes) -> int | None:
        """The count remembered under `key`, or None."""
        with self._lock:
            count = self._counts.get(key)
            if count is not None:
                self._counts.move_to_end(key)
            return count

    def put(self, key: bytes, count: int) -> None:
        """Remember `count`, forgetting what was used longest ago when full."""
        with self._lock:
            self._counts[key] = count
            self._counts.move_to_end(key)
            if len(self._counts) > self._size:
                self._counts.popitem(last=False)


def content_key(data: bytes) -> bytes:
    """A 16-byte digest: two texts with one key would need about 2**64 tries to find."""
    return blake2b(data, digest_size=16).digest()
