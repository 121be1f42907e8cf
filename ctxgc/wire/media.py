"""What a data URL tells of its image without decoding it: only the first bytes are looked at, for the dimensions.

Rule: nothing is fetched, and nothing in a URL can raise.
"""

from __future__ import annotations

import base64
import binascii

from ctxgc.core.block import Media
from ctxgc.wire.image_header import image_size

_LOOKED_AT = 64 * 1024


def data_url_media(url: str, detail: str = "") -> Media:
    """The media behind a ``data:`` URL; for any other URL only ``detail`` is known."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:"):
        return Media(detail=detail or None)
    sizes = image_size(_first_bytes(data)) if head.endswith(";base64") else None
    width, height = sizes or (None, None)
    return Media(width, height, detail or None, len(data) * 3 // 4)


def _first_bytes(data: str) -> bytes:
    part = data[:_LOOKED_AT]
    try:
        return base64.b64decode(part[: len(part) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""
