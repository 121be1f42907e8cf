"""Admission: a request that has left is booked. Its new messages become cells with their tokens, and journal entries.

Rule: the entries hold all that is needed to rebuild the bytes that came and the bytes that left, and are made in
slices, so that a long history does not hold up other streams.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ctxgc.core.block import Author, Block, Kind, Message
from ctxgc.core.compaction import Compaction
from ctxgc.core.constraints import binding
from ctxgc.core.heap import Arrival, content_digest, tag_of
from ctxgc.core.journal import Allocation, Collection, Insertion, NewCell, NewNode, Piece
from ctxgc.core.pacer import Tariff
from ctxgc.core.state import State
from ctxgc.session.changes import collections, compaction, news, record
from ctxgc.session.collecting import Collected
from ctxgc.session.eden import Planned, clean
from ctxgc.session.offering import NOTHING, Offering, offer
from ctxgc.session.pacing import paced
from ctxgc.session.projection import Outgoing, Track
from ctxgc.session.recognise import Draft, Recognised
from ctxgc.session.timing import TOKENIZE, Timer, Untimed
from ctxgc.wire.codec import Body, Codec

_INLINE = 256
"""Bytes above which a member of a body is kept as a blob, and so only once for all requests that carry it."""
_SECRETS = frozenset(
    {
        "api_key", "apikey", "api-key", "authorization", "access_token", "auth_token", "token", "password",
        "credentials", "vertex_credentials", "aws_access_key_id", "aws_secret_access_key", "aws_session_token",
        "headers", "extra_headers", "user_config",
    }
)  # fmt: skip
"""Members of a body that gateways take credentials in."""
_WITHHELD = Piece(withheld=True)
_UNTIMED = Untimed()
BINDING = 16 * 1024
"""Characters at either end of a user's text that are read for constraints; what lies between is pasted data."""
LONG = 32 * 1024
"""Characters above which a text is counted in slices."""


class Meter(Protocol):
    """Counts for one model, offline."""

    @property
    def exact(self) -> bool:
        """False where the model's own tokenizer is not known."""

    def count(self, text: str) -> int:
        """Tokens of a text."""

    def measure(self, block: Block) -> int:
        """Tokens of a block with its framing: what it adds to a request."""

    def warming(self, text: str) -> Iterator[int]:
        """Count a long text in steps, so that counting it afterwards is a look-up."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that has left and is not booked yet."""

    call: bytes
    at: float
    model: str
    body: Body
    outgoing: Outgoing
    recognised: Recognised
    planned: tuple[Planned, ...]
    previous: Track | None
    track: Track
    meter: Meter
    tariff: Tariff
    collected: Collected
    offering: Offering = NOTHING
    again: bool = False


@dataclass(frozen=True, slots=True)
class Booked:
    """The entries of an admission, and the plaintexts that they name by hash."""

    allocation: Allocation
    collections: tuple[Collection, ...]
    blobs: tuple[bytes, ...]
    compaction: Compaction | None = None
    news: Insertion | None = None


def admission(pending: Pending, state: State, codec: Codec, timer: Timer = _UNTIMED) -> Generator[None, None, Booked]:
    """Make the entries for a request. Yields between slices of work. ``timer`` times the counting."""
    blobs: list[bytes] = [plan.draft.raw for plan in pending.planned]
    before, after = _around(pending.body, blobs)
    toolset, tools, schemas = _toolset(state, pending.body, codec, pending.meter)
    nodes = yield from timer.steps(TOKENIZE, _nodes(pending, len(state.nodes)))
    blobs += (*_variants(pending), *record(pending))
    received, sent = _hashes(pending)
    parent, told = pending.recognised.parent, news(pending, codec)
    begins = offer(pending.offering, _offered(pending), exact=pending.meter.exact)
    allocation = Allocation(
        at=pending.at,
        call=pending.call,
        model=pending.model,
        parent=parent,
        head=pending.track.head,
        continues=begun(state, parent),
        received=received,
        sent=sent,
        before=before,
        after=after,
        nodes=tuple(nodes),
        variants=tuple(pending.recognised.variants),
        toolset=toolset,
        tools=tools,
        schemas=schemas,
        size=len(pending.body.text),
        pace=paced(pending, state, toolset, nodes, schemas, begins, told),
        offer=begins,
        offered=pending.offering.spliced,
        again=pending.again,
    )
    return Booked(allocation, tuple(collections(pending)), tuple(blobs), compaction(pending), told)


def _nodes(pending: Pending, first: int) -> Generator[None, None, list[NewNode]]:
    """The new messages with their cells, counted."""
    nodes: list[NewNode] = []
    for plan in pending.planned:
        yield from warmed(pending.meter, plan.draft)
        nodes.append(_node(plan, first + len(nodes), pending))
        yield
    return nodes


def _offered(pending: Pending) -> int:
    """The tokens of the tool that a history begins to offer."""
    tool = Block(Kind.TOOL_SCHEMA, Author.SYSTEM, pending.offering.tool.decode())
    return pending.meter.measure(tool) if pending.offering.begins else 0


def warmed(meter: Meter, draft: Draft) -> Generator[None, None, None]:
    """Count the long texts of a draft in slices, before anything asks for their tokens at once."""
    for block in draft.message.blocks:
        if len(block.text) > LONG:
            for _ in meter.warming(block.text):
                yield


def model_of(body: Body) -> str:
    """The model a request names; empty if it names none."""
    try:
        model = json.loads(body.fields.get("model", b'""'))
    except ValueError:
        return ""
    return clean(model) if isinstance(model, str) else ""


def begun(state: State, node: int) -> bool:
    """Whether a history has come to a user's message: before, two conversations may share their opening by chance."""
    at = state.node(node)
    while at.id >= 0:
        if at.role == "user" or at.turn > 0:
            return True
        at = state.node(at.parent)
    return False


def _toolset(state: State, body: Body, codec: Codec, meter: Meter) -> tuple[int, bytes, tuple[NewCell, ...] | None]:
    """The number of the body's tool set (-1: none); for a new one also the key of its bytes, and its cells."""
    key = _tools_key(body)
    if not key:
        return -1, b"", None
    if key in state.by_toolset:
        return state.by_toolset[key], b"", None
    cells = tuple(_schema_cell(message, meter) for message in codec.schemas(body))
    return len(state.toolsets), key, cells


def new_schemas(state: State, body: Body, codec: Codec) -> int:
    """How many cells a body's tool set will add: cells are numbered before they are counted."""
    key = _tools_key(body)
    return len(codec.schemas(body)) if key and key not in state.by_toolset else 0


def _tools_key(body: Body) -> bytes:
    raw = b"\0".join(body.fields.get(key, b"") for key in ("tools", "functions"))
    return hashlib.sha256(raw).digest() if len(raw) > 1 else b""


def _schema_cell(message: Message, meter: Meter) -> NewCell:
    block = message.blocks[0]
    tag, name = tag_of(block, lambda _: None), clean(block.name)
    content = content_digest(block.text)
    return NewCell(str(block.kind), clean(tag), name, meter.measure(block), content, True, exact=meter.exact)


def _node(plan: Planned, number: int, pending: Pending) -> NewNode:
    draft = plan.draft
    parent = number - 1 if plan is not pending.planned[0] else pending.recognised.parent
    cells = tuple(_cell(arrival, pending.meter) for arrival in plan.arrivals)
    role = clean(draft.message.role)
    return NewNode(parent, draft.chain, draft.digest, draft.blob, draft.gap, role, draft.turn, cells, draft.eden)


def _cell(arrival: Arrival, meter: Meter) -> NewCell:
    block = arrival.block
    call_id = block.call_id if block.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else ""
    tokens, pinned = meter.measure(block), arrival.pinned or _binds(block)
    fixed = block.path is None or (block.kind is Kind.THINKING and block.author is not Author.AGENT)
    return NewCell(
        str(block.kind), arrival.tag, arrival.site, tokens, arrival.content, pinned, call_id, meter.exact, fixed
    )


def _binds(block: Block) -> bool:
    """Whether a text of the user's states a constraint. Nobody else's can: what tools say is data."""
    if block.author is not Author.USER or block.kind is not Kind.TEXT:
        return False
    return bool(binding(block.text[:BINDING]) or binding(block.text[BINDING:][-BINDING:]))


def _variants(pending: Pending) -> list[bytes]:
    """The bytes of known messages that came in another form this time."""
    wanted = {variant.blob for variant in pending.recognised.variants}
    text = pending.body.text
    raws = (text[span.start : span.end] for span in pending.body.messages) if wanted else ()
    return [raw for raw in raws if hashlib.sha256(raw).digest() in wanted]


def _around(body: Body, blobs: list[bytes]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The body's bytes before and after its history, with big members as blobs."""
    after = {key: raw for key, raw in body.fields.items() if key not in body.head}
    return (
        _pieces(body.text[: body.start], body.head, blobs),
        _pieces(body.text[body.end :], after, blobs),
    )


def _pieces(region: bytes, members: Mapping[str, bytes], blobs: list[bytes]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    at = 0
    for key, raw in members.items():
        secret = key.lower() in _SECRETS
        if len(raw) <= _INLINE and not secret:
            continue
        start = region.find(raw, max(region.find(json.dumps(key).encode(), at), at))
        if start < 0 and secret:  # its place is not certain, so nothing of the rest is kept
            return (*pieces, _WITHHELD)
        if start < 0:
            continue
        pieces += (Piece(inline=region[at:start]), _WITHHELD if secret else Piece(blob=hashlib.sha256(raw).digest()))
        blobs += () if secret else (raw,)
        at = start + len(raw)
    if len(region) - at > 4 * _INLINE:
        blobs.append(region[at:])
        return (*pieces, Piece(blob=hashlib.sha256(region[at:]).digest()))
    return (*pieces, Piece(inline=region[at:]))


def _hashes(pending: Pending) -> tuple[bytes, bytes]:
    """The sha256 of the body as it came and as it left, hashed on from where the previous request's history ended."""
    _ = pending.track.known  # copied now: the request has left
    previous, track, text, sent = pending.previous, pending.track, pending.body.text, pending.outgoing
    known = len(previous.known.prefix) if previous else 0
    base = previous.received_hash if previous else None
    track.received_hash = base.copy() if base else hashlib.sha256()
    track.received_hash.update(memoryview(text)[known if base else 0 : pending.body.end])
    received = track.received_hash.copy()
    received.update(memoryview(text)[pending.body.end :])
    if sent.text is text:
        track.sent_hash = track.received_hash
        return received.digest(), received.digest()
    base = previous.sent_hash if previous and not sent.anew else None
    track.sent_hash = base.copy() if base and previous else hashlib.sha256()
    track.sent_hash.update(memoryview(sent.text)[len(previous.sent) if base and previous else 0 : sent.end])
    out = track.sent_hash.copy()
    out.update(memoryview(sent.text)[sent.end :])
    return received.digest(), out.digest()
