"""Which of a request's messages a session knows already, and what the others are.

Rule: known messages are recognised by the hash of their bytes and never decoded again; what is decoded is new, or has
moved a marker that means nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from ctxgc.core.block import Author, Message
from ctxgc.core.journal import Variant
from ctxgc.core.state import State
from ctxgc.wire.codec import Body, Codec

SLICE = 16
"""Messages decoded between two points at which an event loop may serve others."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that is to become a node: its bytes, what stood before it in the body, and where it belongs."""

    raw: bytes
    blob: bytes
    gap: bytes
    message: Message
    digest: bytes
    chain: bytes
    turn: int
    eden: bool = False


@dataclass(slots=True)
class Recognised:
    """A history as a session sees it: the nodes it knows, from the first message on, and drafts of the rest."""

    parent: int
    known: list[int] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)


def raw_messages(body: Body) -> list[tuple[bytes, bytes]]:
    """The messages of a body that were split, each with the bytes between it and what stands before it."""
    found, last = [], body.behind
    for span in body.messages:
        found.append((body.text[last : span.start], body.text[span.start : span.end]))
        last = span.end
    return found


def chain_of(parent: bytes, digest: bytes) -> bytes:
    """The hash of a history: of the history before its last message, and of that message."""
    return hashlib.sha256(b"n\0" + parent + digest).digest()


def scoped(scope: bytes, message: Message) -> bytes:
    """The digest of a message within a credential's scope, so that no two tenants share a chain."""
    return hashlib.sha256(b"m\0" + scope + message.digest).digest()


def recognise(
    state: State, codec: Codec, scope: bytes, raws: Sequence[tuple[bytes, bytes]], parent: int
) -> Generator[None, None, Recognised]:
    """Recognise messages behind the node ``parent``. Yields between slices of work. Raises ``Malformed``."""
    result = Recognised(parent)
    for number, (gap, raw) in enumerate(raws):
        blob = hashlib.sha256(raw).digest()
        node = None if result.drafts else state.by_blob.get((result.parent, blob))
        if node is None:
            _meet(result, state, codec, scope, gap, raw, blob)
            if number % SLICE == SLICE - 1:
                yield
        else:
            _know(result, state, node, blob, gap)
    result.drafts = _with_eden(result.drafts)
    return result


def _know(result: Recognised, state: State, node: int, blob: bytes, gap: bytes) -> None:
    result.known.append(node)
    result.parent = node
    found = state.nodes[node]
    if found.blob != blob or found.gap != gap:
        result.variants.append(Variant(node, blob, gap))


def _meet(result: Recognised, state: State, codec: Codec, scope: bytes, gap: bytes, raw: bytes, blob: bytes) -> None:
    message = codec.decode(raw)
    digest = scoped(scope, message)
    before = result.drafts[-1].chain if result.drafts else state.node(result.parent).chain
    chain = chain_of(before, digest)
    node = None if result.drafts else state.by_chain.get(chain)
    if node is not None:
        _know(result, state, node, blob, gap)
        return
    last = result.drafts[-1].turn if result.drafts else state.node(result.parent).turn
    turn = last + (message.author is Author.AGENT)
    result.drafts.append(Draft(raw, blob, gap, message, digest, chain, turn))


def _with_eden(drafts: list[Draft]) -> list[Draft]:
    """Mark what was never sent to the model by anyone: what follows the last reply of the agent.

    A reply was made from everything before it: of a history that we see for the first time in the middle, that part
    has been forwarded (and is perhaps cached), if not by us.
    """
    last = max((at for at, draft in enumerate(drafts) if draft.message.author is Author.AGENT), default=-1)
    return [replace(draft, eden=at > last) for at, draft in enumerate(drafts)]
