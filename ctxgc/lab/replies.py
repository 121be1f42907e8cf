"""The tools that a reply calls: what the journal knows of only when the next request carries them.

Rule: a reply that was not kept, or cannot be read, calls nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxgc.core.block import Block, Kind
from ctxgc.store import Store, StoreError
from ctxgc.wire.codec import Codec


def called_in(reply: bytes, store: Store, codec: Codec) -> tuple[str, ...]:
    """The tools called in a reply, by its digest in the store; none where it was not kept or cannot be read."""
    if not reply:
        return ()
    try:
        raw = store.blob(reply)
    except StoreError:
        return ()
    reader = codec.reader(stream=not raw.lstrip().startswith(b"{"))
    reader.feed(raw)
    return called(reader.finish().blocks)


def called(blocks: Iterable[Block]) -> tuple[str, ...]:
    """The tools called in the blocks of a message, by name."""
    return tuple(block.name for block in blocks if block.kind is Kind.TOOL_CALL)
