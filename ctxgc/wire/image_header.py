"""The size of an image, read from its first bytes without an image library.

Rule: reading is total: garbage, a cut header or another format is None, never an error.
"""

from __future__ import annotations

HEADER = 65_536
"""Bytes looked at. Ordinary JPEGs have their frame header within this, after thumbnails and colour profiles."""

Size = tuple[int, int]


def image_size(data: bytes) -> Size | None:
    """Width and height in pixels of a PNG, JPEG, GIF or WebP image, or None.

    Formats: PNG (W3C, IHDR), JPEG (ITU T.81, SOFn), GIF89a (logical screen), WebP (RFC 9649, VP8, VP8L, VP8X).
    """
    head = bytes(data[:HEADER])
    for reader in (_png, _gif, _webp, _jpeg):
        size = reader(head)
        if size is not None:
            return size if min(size) > 0 else None
    return None


def _png(head: bytes) -> Size | None:
    if len(head) < 24 or not head.startswith(b"\x89PNG\r\n\x1a\n") or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> Size | None:
    if len(head) < 10 or head[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    return _little(head, 6), _little(head, 8)


def _webp(head: bytes) -> Size | None:
    if len(head) < 30 or head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = _little(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head, 26) & 0x3FFF, _little(head, 28) & 0x3FFF
    return None


def _jpeg(head: bytes) -> Size | None:
    if not head.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD7:  # fill byte, or a marker without a segment
            at += 1 if marker == 0xFF else 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a frame header, not a table
            return _big(head, at + 7), _big(head, at + 5)
        else:
            at += 2 + max(_big(head, at + 2), 2)
    return None


def _little(head: bytes, at: int, size: int = 2) -> int:
    return int.from_bytes(head[at : at + size], "little")


def _big(head: bytes, at: int) -> int:
    return int.from_bytes(head[at : at + 2], "big")
