"""The values that go into a store and come out of it.

Rule: a record says everything that must become durable together with one journal entry.
"""

from dataclasses import dataclass

from ctxgc.store.errors import StoreRefused

KINDS = frozenset(
    {
        "open",
        "allocation",
        "collection",
        "marking",
        "settlement",
        "recall",
        "insertion",
        "pin",
        "milestone",
        "summary",
        "compaction",
        "artifact",
        "fact",
        "supersession",
        "restoration",
        "period",
        "reconciliation",
        "gap",
        "bypass",
        "recovery",
    }
)
DIGEST = 32
IDEM = 16
HANDLE = 16
HANDLE_ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyz234567")


@dataclass(frozen=True, slots=True)
class Node:
    """One message in the prefix trie of a session.

    `id` is dense per session (0, 1, 2, ...), `parent` an earlier id or -1 at a root. `chain` is
    `digests.chain(parent's chain, message)`; `message` is the caller's canonical digest of the message,
    opaque here; `blob` is the sha256 of the exact message bytes, which must be stored or come along.
    """

    id: int
    parent: int
    chain: bytes
    message: bytes
    blob: bytes


@dataclass(frozen=True, slots=True)
class Stub:
    """A handle (16 characters of a-z2-7) left in place of the content of a cell."""

    handle: str
    cell: int


@dataclass(frozen=True, slots=True)
class Record:
    """One journal entry with what must be durable together with it.

    `session` is a key of 32 bytes, `body` the canonical JSON of the entry in UTF-8, `idem` 16 bytes made by
    the caller and unique in the log: writing the same record again is a no-op. `blobs` are plain contents,
    each stored once under its sha256. `at` is the position (`Stored.seq`) that the entry must get: its writer has
    read all that comes before. None takes whichever is next.
    """

    session: bytes
    kind: str
    body: bytes
    idem: bytes
    blobs: tuple[bytes, ...] = ()
    nodes: tuple[Node, ...] = ()
    stubs: tuple[Stub, ...] = ()
    at: int | None = None

    @property
    def weight(self) -> int:
        """Bytes this record keeps in memory while it waits, without small change."""
        return len(self.body) + sum(map(len, self.blobs))


@dataclass(frozen=True, slots=True)
class Stored:
    """One journal entry as read back: `leaf` is its RFC 6962 leaf hash, recomputed on reading."""

    seq: int
    kind: str
    body: bytes
    leaf: bytes
    idem: bytes


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One log: its key, when its first record came (ms since the epoch, advisory), entries and nodes."""

    key: bytes
    opened: int
    entries: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest seal of a store. Kept elsewhere, it later proves that nothing before it was cut or changed."""

    number: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that disagrees.

    `kind` is the table or part it was found in: blob, entry, node, stub, log, seal, meta, schema, sqlite, tip.
    `session` (hex) and `seq` say where, if it belongs to an entry; `ref` names the row or hash; `detail` is
    one sentence.
    """

    kind: str
    session: str | None
    seq: int | None
    ref: str
    detail: str


def check(record: Record) -> None:
    """Refuse a record that could not be stored or proved unambiguously.

    Raises StoreRefused.
    """
    _digest("session", record.session)
    if record.kind not in KINDS:
        raise StoreRefused(f"unknown kind of entry {record.kind!r}: use one of {', '.join(sorted(KINDS))}")
    if not isinstance(record.idem, bytes) or len(record.idem) != IDEM:
        raise StoreRefused(f"idem must be {IDEM} bytes: make a new one for every new entry")
    if not isinstance(record.body, bytes) or not _is_utf8(record.body):
        raise StoreRefused("the body of an entry must be bytes of UTF-8: encode it as canonical JSON")
    if not all(isinstance(blob, bytes) for blob in record.blobs):
        raise StoreRefused("blobs must be bytes: give the exact content")
    if record.at is not None and (type(record.at) is not int or record.at < 0):
        raise StoreRefused(f"{record.at!r} is no position in a log: give a number from 0 on, or None for the next one")
    for node in record.nodes:
        _check_node(node)
    for stub in record.stubs:
        _check_stub(stub)


def _check_node(node: Node) -> None:
    for name, value in (("chain", node.chain), ("message", node.message), ("blob", node.blob)):
        _digest(f"{name} of a node", value)
    if not -1 <= node.parent < node.id:
        raise StoreRefused(f"node {node.id} has parent {node.parent}: give an earlier node, or -1 at a root")


def _check_stub(stub: Stub) -> None:
    if len(stub.handle) != HANDLE or not HANDLE_ALPHABET.issuperset(stub.handle):
        raise StoreRefused(f"handle {stub.handle!r} is not {HANDLE} characters of a-z2-7: mint another")


def _digest(name: str, value: bytes) -> None:
    if not isinstance(value, bytes) or len(value) != DIGEST:
        raise StoreRefused(f"{name} must be {DIGEST} bytes: give a sha256 digest")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
