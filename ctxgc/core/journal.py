"""The journal: every kind of entry a session's log may hold, and their one encoding.

Rule: an entry is never changed. New fields get defaults, so that later versions can fold the logs of earlier ones.
"""

from __future__ import annotations

import msgspec

from ctxgc.core.bookings import AnyBooking
from ctxgc.core.cells import NewCell as NewCell
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.entry import Entry


class Open(Entry, frozen=True, tag="open", kw_only=True):
    """A session begins. ``scope`` is the hash of credential and session id that its chains start from."""

    scope: bytes
    origin: str
    codec: str


class NewNode(msgspec.Struct, frozen=True, array_like=True):
    """A message never seen after this parent. Node ids are numbered in the order of the log; -1 is the empty history.

    ``blob`` is the sha256 of its exact bytes, ``gap`` the bytes between it and what stands before it in the body.
    """

    parent: int
    chain: bytes
    message: bytes
    blob: bytes
    gap: bytes
    role: str
    turn: int
    cells: tuple[NewCell, ...]
    eden: bool = True


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A part of a request body around its messages: the bytes themselves, or the sha256 of those kept as a blob.

    ``withheld`` says that a credential stood here: it is not kept in any form.
    """

    inline: bytes = b""
    blob: bytes = b""
    withheld: bool = False


class Variant(msgspec.Struct, frozen=True, array_like=True):
    """A message of this request whose bytes differ from those its node was made from (a cache marker moved)."""

    node: int
    blob: bytes
    gap: bytes


class Pace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the pacer decided for a request, and the figures it was decided by; see ``core.pacer.Decision``.

    ``trigger`` is empty where nothing was collected. ``candidates`` are how many cells could have been, ``dead`` the
    tokens they take each turn. ``read`` and ``write`` are the tariff's, ``paid`` and ``untouched`` what the session's
    input has cost with this request, and would have cost, in its unit.
    """

    trigger: str = ""
    cold: bool = False
    candidates: int = 0
    dead: int = 0
    live: int = 0
    rent: float = 0.0
    price: float = 0.0
    read: float = 0.0
    write: float = 0.0
    paid: float = 0.0
    untouched: float = 0.0


class Offer(msgspec.Struct, frozen=True, array_like=True):
    """A tool of ctxgc's own that a history offers from its first request on: its JSON as it is sent, and its cell."""

    tool: bytes
    cell: NewCell


class Allocation(Entry, frozen=True, tag="allocation", kw_only=True):
    """A request: which history it carries, what is new in it, and all that is needed to rebuild its bytes.

    ``parent`` is the newest node it shares with what was there before, ``head`` its last node. ``toolset`` numbers the
    tool list in use (-1: none); for a new list, ``tools`` is the sha256 of its bytes and ``schemas`` its cells.
    ``received`` and ``sent`` are the sha256 of the body as it came and as it left. ``continues`` is False for a history
    that shares nothing beyond system prompts with what was there: a helper call, or another conversation.
    ``offer`` says that a history begins here that offers a tool of ours, ``offered`` that it left with this request.
    ``again`` marks what no client asked for: the same request, sent once more with what the model recalled.
    """

    call: bytes
    model: str
    parent: int
    head: int
    continues: bool
    received: bytes
    sent: bytes
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    nodes: tuple[NewNode, ...] = ()
    variants: tuple[Variant, ...] = ()
    toolset: int = -1
    tools: bytes = b""
    schemas: tuple[NewCell, ...] | None = None
    size: int = 0
    pace: Pace | None = None
    offer: Offer | None = None
    offered: bool = False
    again: bool = False


class Collection(Entry, frozen=True, tag="collection", kw_only=True):
    """What the collector changed, from this request on. The texts are here, so that the same journal sends the same.

    ``generation`` is ``eden`` (cells that were never sent), ``minor`` (young cells only) or ``major``.
    """

    call: bytes
    generation: str
    edits: tuple[Edit, ...]


class Edge(msgspec.Struct, frozen=True, array_like=True):
    """A reference: the cell ``source`` refers to ``target``, at these character offsets; ``evidence`` says by what."""

    source: int
    target: int
    marks: tuple[int, ...] = ()
    evidence: str = ""


class Overwritten(msgspec.Struct, frozen=True, array_like=True):
    """A cell is out of date (or a failure that was overcome) because of the cell ``by``; ``why`` in plain words."""

    cell: int
    by: int
    why: str
    overcome: bool = False


class Marking(Entry, frozen=True, tag="marking", kw_only=True):
    """What the new cells of a request refer to, and which cells they put out of date.

    With it, so many ``nodes`` of the session are marked; ``call`` is empty where that was done after a restart.
    """

    call: bytes = b""
    nodes: int = 0
    edges: tuple[Edge, ...] = ()
    overwritten: tuple[Overwritten, ...] = ()


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens as the provider reported them, in disjoint kinds; ``reasoning`` is a part of ``output``."""

    uncached: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def input(self) -> int:
        """All input tokens, however they were billed."""
        return self.uncached + self.cached + self.written


class Settlement(Entry, frozen=True, tag="settlement", kw_only=True):
    """How a call ended: ``ok``, ``partial`` (the upstream broke off), ``aborted`` (the client left) or ``error``.

    ``estimated`` is what we counted for the input, before calibration; ``reply`` the sha256 of the reply as it came.
    In seconds: ``first_byte`` and ``first_token`` (0: none came) and the whole ``duration`` from when it was sent, and
    the ``overhead`` that ctxgc itself took before that.
    """

    call: bytes
    outcome: str
    status: int
    model: str = ""
    estimated: int = 0
    usage: Usage | None = None
    reply: bytes = b""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    first_byte: float = 0.0
    duration: float = 0.0
    first_token: float = 0.0
    overhead: float = 0.0


class Recall(Entry, frozen=True, tag="recall", kw_only=True):
    """Collected content was read back, by the ``host`` or by the ``model`` (in the reply to ``call``).

    ``found`` is False for a dead handle.
    """

    handle: str
    by: str
    cell: int = -1
    found: bool = True
    call: bytes = b""


class Insertion(Entry, frozen=True, tag="insertion", kw_only=True):
    """Messages of ctxgc's own stand behind the node ``head`` from here on: the model's recall and what it was given.

    ``call`` is the request in whose reply the model asked. The messages are here as they are sent, and ``cells`` are
    theirs: nothing of it came from the client, and all of it is sent.

    ``void`` takes back what was inserted for ``call``, since the provider refused the round that carried it: it has
    neither messages nor cells. ``told`` marks news from the ledger, which leave with the very request ``call``: the
    position in the ledger's log up to which they go.
    """

    call: bytes
    head: int
    messages: tuple[bytes, ...]
    cells: tuple[NewCell, ...]
    void: bool = False
    told: int = -1


class Bypass(Entry, frozen=True, tag="bypass", kw_only=True):
    """A request went on as it came, because of us: why, and the sha256 of its body (and its size in bytes).

    ``plain`` says that the session's requests go as they come from here on: all its edits are taken back.
    """

    call: bytes
    reason: str
    received: bytes = b""
    size: int = 0
    plain: bool = False


class Pin(Entry, frozen=True, tag="pin", kw_only=True):
    """The host pinned a cell, so that it is never collected, or let go of it again (``pinned`` is False)."""

    cell: int
    pinned: bool = True


class Gap(Entry, frozen=True, tag="gap", kw_only=True):
    """Calls whose entries could not be stored: how many, since when, and why."""

    calls: int
    since: float
    reason: str


class Recovery(Entry, frozen=True, tag="recovery", kw_only=True):
    """A call was begun and never settled: the process died in between. Found at the next start."""

    call: bytes


SessionEntry = (
    Open | Allocation | Collection | Marking | Settlement | Recall | Insertion | Bypass | Gap | Recovery
    | Pin | Compaction | Milestone | Summary
)  # fmt: skip
AnyEntry = SessionEntry | AnyBooking

_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(AnyEntry)


def encode(entry: AnyEntry) -> bytes:
    """The canonical JSON of an entry: members in the order of the class, no spaces, byte strings in base64."""
    return _ENCODER.encode(entry)


def decode(body: bytes) -> AnyEntry:
    """The entry in a log's bytes. Raises ``msgspec.ValidationError`` for an unknown kind or a missing field."""
    return _DECODER.decode(body)


def kind(entry: AnyEntry) -> str:
    """The entry's kind, as the log names it."""
    return type(entry).__struct_config__.tag  # type: ignore[return-value]
