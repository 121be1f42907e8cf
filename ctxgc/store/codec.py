"""How contents are kept: as they are, or as one zstd frame where that is smaller.

Rule: unpacking yields exactly the announced number of bytes, or an error; a frame cannot ask for more.
"""

import threading

import zstandard

from ctxgc.store.errors import StoreCorrupt

RAW = 0
ZSTD = 1
WORTH = 96  # a frame costs about 12 bytes, and shorter texts hardly shrink


class _Own(threading.local):
    """What decompresses for one thread (it must not be shared either): making one takes longer than what it does."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor()


_OWN = _Own()


class Packer:
    """Compresses for one thread (a compressor must not be shared)."""

    __slots__ = ("_zstd",)

    def __init__(self, level: int = 3) -> None:
        self._zstd = zstandard.ZstdCompressor(level=level)

    def pack(self, data: bytes) -> tuple[int, bytes]:
        """The encoding and the bytes to keep."""
        if len(data) < WORTH:
            return RAW, data
        packed = self._zstd.compress(data)
        return (ZSTD, packed) if len(packed) < len(data) else (RAW, data)


def unpack(encoding: int, kept: bytes, size: int | None = None) -> bytes:
    """The content, of `size` bytes if that is known. Raises StoreCorrupt."""
    data = kept if encoding == RAW else _decompress(encoding, kept, size)
    if size is not None and len(data) != size:
        raise StoreCorrupt(f"content has {len(data)} bytes instead of {size}: run verify")
    return data


def _decompress(encoding: int, kept: bytes, size: int | None) -> bytes:
    if encoding != ZSTD:
        raise StoreCorrupt(f"content has the unknown encoding {encoding}: run verify")
    try:
        # Streaming grows with what is there; the one-shot call would allocate what a broken header claims.
        inflater = _OWN.zstd.decompressobj()
        data = inflater.decompress(kept)
    except (zstandard.ZstdError, MemoryError) as error:
        raise StoreCorrupt(f"content does not decompress ({error}): run verify") from error
    if not inflater.eof or inflater.unused_data:
        raise StoreCorrupt("content is cut or has bytes after its end: run verify")
    return data
