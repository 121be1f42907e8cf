"""What a data URL tells of its image without decoding it: only the first bytes are looked at, for the dimensions.

Rule: nothing is fetched, and nothing in a URL can raise.
"""

from __future__ import annotations

import base64
import binascii
import struct

from ctxgc.core.block import Media

_LOOKED_AT = 64 * 1024
_JPEG_SIZES = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})


def data_url_media(url: str, detail: str = "") -> Media:
    """The media behind a ``data:`` URL; for any other URL only ``detail`` is known."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:"):
        return Media(detail=detail or None)
    sizes = image_size(_first_bytes(data)) if head.endswith(";base64") else None
    width, height = sizes or (None, None)
    return Media(width, height, detail or None, len(data) * 3 // 4)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the header of a PNG, GIF, WebP or JPEG; None for anything else."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return _pair(struct.unpack(">II", data[16:24]))
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return _pair(struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        return _jpeg(data) if data[:2] == b"\xff\xd8" else None
    except (struct.error, IndexError):
        return None


def _first_bytes(data: str) -> bytes:
    part = data[:_LOOKED_AT]
    try:
        return base64.b64decode(part[: len(part) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _webp(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if form == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return _pair((width & 0x3FFF, height & 0x3FFF))
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in _JPEG_SIZES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return _pair((width, height))
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _pair(sizes: tuple[int, ...]) -> tuple[int, int] | None:
    return (sizes[0], sizes[1]) if sizes[0] > 0 and sizes[1] > 0 else None
