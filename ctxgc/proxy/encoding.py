"""Content encodings: compressed request bodies are opened to be read, never beyond a limit.

Rule: output is bounded while it is produced, so that a small body cannot become a large one in memory (a zip bomb).
"""

from __future__ import annotations

import zlib
from typing import Protocol

ENCODINGS = ("gzip", "x-gzip", "deflate", "zstd", "br")


class TooLarge(Exception):
    """The body is larger than the limit."""


class Undecodable(Exception):
    """The body is not in the encoding it claims, or in none that is known."""


class _Decoder(Protocol):
    def decompress(self, data: bytes, limit: int) -> bytes: ...


def decode(body: bytes, encoding: str, limit: int) -> bytes:
    """The plain body. ``encoding`` is the Content-Encoding value; one layer. Raises ``TooLarge``, ``Undecodable``."""
    name = encoding.strip().lower()
    try:
        if name in ("gzip", "x-gzip", "deflate"):
            return _zlib(body, name, limit)
        if name == "zstd":
            return _zstd(body, limit)
        if name == "br":
            return _brotli(body, limit)
    except (TooLarge, Undecodable):
        raise
    except Exception as error:  # each library has errors of its own, with no common base
        raise Undecodable(f"not {name}: {type(error).__name__}") from None
    raise Undecodable(f"unknown encoding {name[:40]!r}")


def _zlib(body: bytes, name: str, limit: int) -> bytes:
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32 if name != "deflate" else zlib.MAX_WBITS)
    plain = decoder.decompress(body, limit + 1)
    return _checked(plain, limit, ended=decoder.eof)


def _zstd(body: bytes, limit: int) -> bytes:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body)
    return _checked(reader.read(limit + 1), limit, ended=True)


def _brotli(body: bytes, limit: int) -> bytes:
    import brotli

    decoder = brotli.Decompressor()
    plain = b""
    step = body
    while len(plain) <= limit and not decoder.is_finished():
        piece = decoder.process(step, output_buffer_limit=limit + 1 - len(plain))
        step = b""
        if not piece and decoder.can_accept_more_data():
            break
        plain += piece
    return _checked(plain, limit, ended=decoder.is_finished())


def _checked(plain: bytes, limit: int, *, ended: bool) -> bytes:
    if len(plain) > limit:
        raise TooLarge
    if not ended:
        raise Undecodable("the body breaks off")
    return plain
