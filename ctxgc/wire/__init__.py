"""Wire formats: provider JSON to blocks and back, by splicing. Pure: bytes in, values and bytes out."""

from __future__ import annotations

from ctxgc.wire.codec import Body, Codec, Known, Reply, ReplyReader

__all__ = ["Body", "Codec", "Known", "Reply", "ReplyReader"]
