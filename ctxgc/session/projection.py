"""The outgoing body: the original bytes with the edits spliced in, checked before it may leave.

Rule: what was sent before is sent again from memory, byte for byte; a body that breaks a rule is not sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ctxgc.core.block import Kind
from ctxgc.core.journal import Variant
from ctxgc.core.nodes import Compacted
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.session.eden import Planned
from ctxgc.session.recognise import Recognised
from ctxgc.wire.codec import Body, Codec, Known

Hash = type(hashlib.sha256())
_NOTHING: Mapping[int, Mapping[int, str]] = {}


class Invalid(Exception):
    """The body that we made breaks a rule of its format."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What leaves: the whole body, and how much of it is history, up to the client's last message. ``anew`` says that
    it was assembled from its beginning on, and does not go on from what was sent before."""

    text: bytes
    end: int
    anew: bool = False


class Track:
    """A history that was sent lately: its bytes as they came and as they left, up to the end of its last message.

    What stands of ours behind its last message is no part of it. ``head`` is its last node, ``variants`` its messages
    whose bytes differ from those of their nodes. The hashes are running sha256 of both forms, so that a longer body is
    hashed from here on. The bytes are copied when they are first asked for, which is after the request has left.
    """

    def __init__(self, body: Body, outgoing: Outgoing, head: int, variants: tuple[Variant, ...] = ()) -> None:
        self.head = head
        self.variants = variants
        self.received_hash: hashlib._Hash | None = None
        self.sent_hash: hashlib._Hash | None = None
        self._whole: tuple[Body, Outgoing] | None = (body, outgoing)

    @cached_property
    def known(self) -> Known:
        """The history as it came."""
        return self._cut()[0]

    @cached_property
    def sent(self) -> bytes:
        """The history as it left: the same object as ``known.prefix`` where nothing of it is edited."""
        return self._cut()[1]

    def _cut(self) -> tuple[Known, bytes]:
        """Copy both prefixes, and let the whole bodies go."""
        assert self._whole is not None
        body, outgoing = self._whole
        known = body.known()
        sent = known.prefix if outgoing.text is body.text else outgoing.text[: outgoing.end]
        self.__dict__.update(known=known, sent=sent)
        self._whole = None
        return known, sent


def project(
    body: Body,
    track: Track | None,
    raws: Sequence[tuple[bytes, bytes]],
    state: State,
    recognised: Recognised,
    planned: Sequence[Planned],
    codec: Codec,
    changed: Mapping[int, Mapping[int, str]] = _NOTHING,
    tool: bytes = b"",
    made: Compacted | None = None,
    news: Sequence[bytes] = (),
) -> Outgoing:
    """Assemble what is sent for ``body``, with ``tool`` behind its tools, if one is given, and ``news`` at its end.

    ``changed`` has the edits of known nodes from now on, where they change with this request, ``made`` the span that
    is left out of a history that is assembled anew. Raises ``Invalid`` (or ``Malformed``) where it must not be sent.
    """
    known = [changed.get(node, state.nodes[node].edits) for node in recognised.known]
    texts = known + [plan.texts() for plan in planned]
    after = [codec.project(raw, edits) for (_, raw), edits in zip(raws, texts, strict=True)]
    before = [raw for _, raw in raws]
    same_prefix = track is None or track.sent is track.known.prefix
    ours = _ours(state, track, recognised, len(raws), made)
    ours[-1] += [part for raw in news for part in (b",", raw)]
    if before == after and same_prefix and not tool and not any(ours):
        return Outgoing(body.text, body.end)
    shown = _shown(state, recognised, len(raws), made)
    found = _left_out(before, after, shown, ours, codec) if made else ()
    first = None if made else _unchecked(before, after, state, recognised, planned, changed)
    if found or (first is not None and (found := codec.problems(before[first:], after[first:]))):
        raise Invalid(found[0])
    prefix = _offer(codec, body.text[: body.start], tool) if track is None else track.sent
    parts = [ours[0]]
    for (gap, _), raw, stays, behind in zip(raws, after, shown, ours[1:], strict=True):
        parts += ([gap, raw] if stays else [], behind)
    history = b"".join((prefix, *(part for each in parts[:-1] for part in each)))
    text = b"".join((history, *parts[-1], _offer(codec, body.text[body.end :], tool)))
    _check(text, prefix, track, sum(shown) + sum(map(len, ours)) // 2, codec)
    return Outgoing(text, len(history), track is None)


def _ours(
    state: State, track: Track | None, recognised: Recognised, count: int, made: Compacted | None
) -> list[list[bytes]]:
    """What of ours goes before the first of ``count`` messages, and behind each: separators and messages by turns.

    What stands behind the last belongs to no track, since a later request may go on without it.
    """
    found: list[list[bytes]] = [[] for _ in range(count + 1)]
    nodes = [track.head if track else -1, *recognised.known]
    for at, (node, child) in enumerate(zip(nodes, [*nodes[1:], -1], strict=True)):
        if made and node >= 0 and node != made.upto and state.inside(state.nodes[node], made):
            continue
        messages = [raw for each in state.own.behind(node, child) for raw in each.messages]
        messages += made.messages if made and node == made.after else ()
        found[at] = [part for raw in messages for part in (b",", raw)]
    return found


def _shown(state: State, recognised: Recognised, count: int, made: Compacted | None) -> list[bool]:
    """Which of ``count`` messages are sent."""
    if made is None:
        return [True] * count
    known = [not state.hidden(state.nodes[node], made) for node in recognised.known]
    return known + [True] * (count - len(known))


def _left_out(
    before: Sequence[bytes],
    after: Sequence[bytes],
    shown: Sequence[bool],
    ours: Sequence[Sequence[bytes]],
    codec: Codec,
) -> tuple[str, ...]:
    """Which rules a history breaks that is sent without a span."""
    inserted = [raw for parts in ours for raw in parts[1::2]]
    theirs = ([raw] if stays else [] for raw, stays in zip(after, shown, strict=True))
    sent = [raw for raws, behind in zip(theirs, ours[1:], strict=True) for raw in (*raws, *behind[1::2])]
    return codec.left_out(before, [*ours[0][1::2], *sent], inserted)


def _offer(codec: Codec, around: bytes, tool: bytes) -> bytes:
    return codec.offer(around, tool) if tool else around


def _unchecked(
    before: Sequence[bytes],
    after: Sequence[bytes],
    state: State,
    recognised: Recognised,
    planned: Sequence[Planned],
    changed: Collection[int],
) -> int | None:
    """Where the part begins that is to be checked: at the call behind which the first message was changed just now.

    What was changed in earlier requests was checked then, and is spliced from the journal.
    """
    changed = {variant.node for variant in recognised.variants}.union(changed)
    known = recognised.known
    news = (at for at in range(len(before)) if at >= len(known) or known[at] in changed)
    first = next((at for at in news if before[at] != after[at]), None)
    while first and not _calls(first - 1, state, recognised, planned):
        first -= 1
    return max(first - 1, 0) if first is not None else None


def _calls(at: int, state: State, recognised: Recognised, planned: Sequence[Planned]) -> bool:
    """Whether a message calls tools."""
    if at < len(recognised.known):
        cells = state.nodes[recognised.known[at]].cells
        return any(state.cells[cell].kind is Kind.TOOL_CALL for cell in cells)
    blocks = planned[at - len(recognised.known)].draft.message.blocks
    return any(block.kind is Kind.TOOL_CALL for block in blocks)


def _check(text: bytes, prefix: bytes, track: Track | None, count: int, codec: Codec) -> None:
    """Read back what is to be sent: it must be JSON and hold as many messages as came."""
    if track is None:
        found: Body | None = codec.split(text)
    else:
        found = codec.resume(text, Known(prefix, track.known.count, track.known.start, track.known.head))
    if found is None or len(found.messages) != count:
        raise Malformed("the outgoing body does not read back")
