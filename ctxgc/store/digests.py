"""What exactly is hashed: leaves of the journal, chain values of the trie, seals over transactions.

Rule: every input is fixed in length or has its length before it, so that no two meanings share one hash.
"""

import struct
from dataclasses import astuple, dataclass
from hashlib import sha256

from ctxgc.store.merkle import leaf_hash

NO_PARENT = bytes(32)

_NUMBERS = struct.Struct(">6q")
_q = struct.Struct(">q").pack
_qq = struct.Struct(">qq").pack
_qqq = struct.Struct(">qqq").pack


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows each table holds; ids run from 1 without gaps, so a count is also the newest id."""

    log: int = 0
    blob: int = 0
    node: int = 0
    stub: int = 0
    entry: int = 0

    @property
    def total(self) -> int:
        """Rows in all tables."""
        return self.log + self.blob + self.node + self.stub + self.entry


def leaf(session: bytes, seq: int, kind: str, idem: bytes, body: bytes) -> bytes:
    """Leaf hash of an entry: session (32 bytes), seq (8), length of kind (1), kind, idem (16), body."""
    name = kind.encode()
    return leaf_hash(b"".join((session, _q(seq), bytes((len(name),)), name, idem, body)))


def chain(parent: bytes, message: bytes) -> bytes:
    """Chain value of a node from its parent's chain value (`NO_PARENT` at a root) and its message digest."""
    return sha256(b"n\0" + parent + message).digest()


def genesis(schema: int, created: int, secret_hash: bytes) -> bytes:
    """Digest of seal 0: version of the schema, time of creation in ms, and the sha256 of the secret."""
    return sha256(b"ctxgc store\0" + _qq(schema, created) + secret_hash).digest()


def seal(number: int, previous: bytes, counts: Counts, rows: bytes) -> bytes:
    """Digest of seal `number`: the seal before it, rows per table after it, and the rows it covers.

    `rows` is the sha256 over the encodings below of the rows of the transaction: logs, blobs, nodes, stubs,
    entries, each by id.
    """
    numbers = _NUMBERS.pack(number, *astuple(counts))
    return sha256(b"ctxgc seal\0" + previous + numbers + rows).digest()


def log_row(session: bytes, opened: int) -> bytes:
    """Encoding of a log."""
    return b"L" + session + _q(opened)


def blob_row(digest: bytes, size: int) -> bytes:
    """Encoding of a blob: what it means, not how it is compressed."""
    return b"B" + digest + _q(size)


def node_row(log: int, node: int, parent: int, chained: bytes, message: bytes, blob: bytes) -> bytes:
    """Encoding of a node; `blob` is the digest."""
    return b"N" + _qqq(log, node, parent) + chained + message + blob


def stub_row(handle: str, log: int, cell: int) -> bytes:
    """Encoding of a stub; handles all have one length."""
    return b"S" + handle.encode() + _qq(log, cell)


def entry_row(log: int, seq: int, leafed: bytes) -> bytes:
    """Encoding of an entry: the leaf covers kind, idem and body."""
    return b"E" + _qq(log, seq) + leafed
