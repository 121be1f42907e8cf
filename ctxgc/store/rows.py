"""What is stored, row by row, as verifying and exporting read it.

Rule: a row is only believed after its values have the types and lengths they should have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, cast

from ctxgc.store.digests import Counts
from ctxgc.store.errors import StoreCorrupt
from ctxgc.store.records import DIGEST, HANDLE, IDEM

Raw = tuple[object, ...]
Row = TypeVar("Row")
TABLES = ("log", "blob", "node", "stub", "entry")


class Rows(Protocol):
    """A reader of raw rows. Rows never change, so what a seal counts stays readable while others write."""

    def meta(self) -> dict[str, object]:
        """The facts about the store itself: created (ms), schema (version), secret."""

    def counts(self) -> tuple[Counts, Counts]:
        """Rows per table as the newest seal counts them, and the newest id in each, read at one moment."""

    def newest(self) -> int:
        """Number of the newest seal, -1 if there is none."""

    def seals(self) -> Iterator[Raw]:
        """All seals by number, those that are added meanwhile included."""

    def select(self, table: str, after: int, upto: int) -> Iterator[Raw]:
        """Rows of one of TABLES with after < id <= upto, by id."""

    def chain(self, log: int, node: int) -> object:
        """The chain value of a node, None if there is no such node."""


class LogRow(NamedTuple):
    """A log and the session it belongs to."""

    id: int
    session: bytes
    opened: int


class BlobRow(NamedTuple):
    """A content, packed."""

    id: int
    digest: bytes
    size: int
    encoding: int
    kept: bytes


class NodeRow(NamedTuple):
    """A node; `blob` is the digest, None where the blob is not there."""

    id: int
    log: int
    node: int
    parent: int
    chain: bytes
    message: bytes
    blob: bytes | None


class StubRow(NamedTuple):
    """A stub."""

    id: int
    handle: str
    log: int
    cell: int


class EntryRow(NamedTuple):
    """An entry, its body packed."""

    id: int
    log: int
    seq: int
    kind: str
    idem: bytes
    leaf: bytes
    encoding: int
    kept: bytes


@dataclass(frozen=True, slots=True)
class SealRow:
    """How many rows there were after a transaction, and the digest over all of them."""

    number: int
    counts: Counts
    digest: bytes


def log_row(raw: Raw) -> LogRow:
    """Raises StoreCorrupt, like all of these."""
    row = LogRow(*cast("tuple[int, bytes, int]", _typed("log", raw, int, bytes, int)))
    return _sized("log", row, (row.session, DIGEST))


def blob_row(raw: Raw) -> BlobRow:
    """A blob, believed."""
    row = BlobRow(*cast("tuple[int, bytes, int, int, bytes]", _typed("blob", raw, int, bytes, int, int, bytes)))
    return _sized("blob", row, (row.digest, DIGEST))


def node_row(raw: Raw) -> NodeRow:
    """A node, believed."""
    blob = type(None) if raw[-1] is None else bytes
    values = _typed("node", raw, int, int, int, int, bytes, bytes, blob)
    row = NodeRow(*cast("tuple[int, int, int, int, bytes, bytes, bytes | None]", values))
    return _sized("node", row, (row.chain, DIGEST), (row.message, DIGEST), (row.blob or bytes(DIGEST), DIGEST))


def stub_row(raw: Raw) -> StubRow:
    """A stub, believed."""
    row = StubRow(*cast("tuple[int, str, int, int]", _typed("stub", raw, int, str, int, int)))
    return _sized("stub", row, (row.handle.encode(), HANDLE))


def entry_row(raw: Raw) -> EntryRow:
    """An entry, believed."""
    values = _typed("entry", raw, int, int, int, str, bytes, bytes, int, bytes)
    row = EntryRow(*cast("tuple[int, int, int, str, bytes, bytes, int, bytes]", values))
    return _sized("entry", row, (row.idem, IDEM), (row.leaf, DIGEST))


def seal_row(raw: Raw) -> SealRow:
    """A seal, believed."""
    number, *counts, digest = _typed("seal", raw, *(int,) * 6, bytes)
    row = SealRow(cast(int, number), Counts(*cast("list[int]", counts)), cast(bytes, digest))
    return _sized("seal", row, (row.digest, DIGEST))


def _typed(table: str, raw: Raw, *types: type) -> Raw:
    if tuple(map(type, raw)) != types:
        raise StoreCorrupt(f"a row of {table} holds values of another type: run verify")
    return raw


def _sized(table: str, row: Row, *lengths: tuple[bytes, int]) -> Row:
    for value, length in lengths:
        if len(value) != length:
            raise StoreCorrupt(f"a row of {table} holds values of another length: run verify")
    return row
