"""Content encodings: compressed request bodies are opened to be read, never beyond a limit.

Rule: output is bounded while it is produced, so that a small body cannot become a large one in memory (a zip bomb).
"""

from __future__ import annotations

import zlib

_WINDOW = 1 << 23
"""The largest window that the zstd content coding may have (RFC 9659)."""
_STEP = 512


class TooLarge(Exception):
    """The body is larger than the limit."""


class Undecodable(Exception):
    """The body is not in the encoding it claims, or in none that is known."""


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
    return _checked(plain, limit, ended=decoder.eof and not decoder.unused_data)


def _zstd(body: bytes, limit: int) -> bytes:
    """In small steps, since this decoder has no limit of its own: one of them can make ``_STEP * 32`` KiB at most."""
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    pieces, size, at, view = [], 0, 0, memoryview(body)
    while at < len(body) and size <= limit and not decoder.eof:
        pieces.append(decoder.decompress(view[at : at + _STEP]))
        size += len(pieces[-1])
        at += _STEP
    ended = decoder.eof and not decoder.unused_data and at >= len(body)
    return _checked(b"".join(pieces), limit, ended=ended)


def _brotli(body: bytes, limit: int) -> bytes:
    import brotli

    decoder = brotli.Decompressor()
    plain, step = bytearray(), body
    while len(plain) <= limit and not decoder.is_finished():
        piece = decoder.process(step, output_buffer_limit=limit + 1 - len(plain))
        step = b""
        if not piece and decoder.can_accept_more_data():
            break
        plain += piece
    return _checked(bytes(plain), limit, ended=decoder.is_finished())


def _checked(plain: bytes, limit: int, *, ended: bool) -> bytes:
    if len(plain) > limit:
        raise TooLarge
    if not ended:
        raise Undecodable("the body breaks off, or goes on behind its end")
    return plain
