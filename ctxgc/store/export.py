"""Writing a store out as a folder that anyone can verify with `verify_bundle.py` and nothing else.

Rule: the same store gives the same bytes; every line is canonical JSON, so that no byte is without meaning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO

from ctxgc.store.codec import unpack
from ctxgc.store.errors import StoreCorrupt, StoreUnavailable
from ctxgc.store.merkle import CompactRange
from ctxgc.store.protocol import Store
from ctxgc.store.rows import Raw, Rows, SealRow, blob_row, entry_row, log_row, node_row, seal_row, stub_row

FORMAT = "ctxgc bundle 1"

Fact = dict[str, object]


def export_bundle(store: Store, folder: Path) -> None:
    """Write everything up to the newest seal into a new or empty folder, readable by its owner only.

    meta.json (never the secret, only its hash), seals.jsonl, blobs.jsonl, nodes.jsonl, stubs.jsonl and
    entries.jsonl in the order of their ids, heads.json (per session the tree head), and blobs/HEX. Contents are
    copied as they are read; whether they are right is for `verify` to say.

    Raises StoreUnavailable if the folder is in use or cannot be written, and StoreCorrupt.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreUnavailable(f"{folder} is not empty: choose a new folder for the bundle")
        _Bundle(store.rows(), folder).write()
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be written ({error.strerror}): choose another folder") from error


class _Bundle:
    """One export. The seals are read first: what they count cannot change while others write."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        self._rows = rows
        self._folder = folder
        self._seals = [seal_row(raw) for raw in rows.seals()]
        self._trees: dict[int, CompactRange] = {}
        if not self._seals:
            raise StoreCorrupt("the store has no seals: run verify")

    def write(self) -> None:
        self._json("meta.json", self._meta())
        self._lines("seals.jsonl", map(_seal, self._seals))
        (self._folder / "blobs").mkdir(mode=0o700)
        for table, fact in (("blob", self._blob), ("node", _node), ("stub", _stub), ("entry", self._entry)):
            name = "entries" if table == "entry" else f"{table}s"
            self._lines(f"{name}.jsonl", map(fact, self._table(table)))
        self._json("heads.json", [self._head(raw) for raw in self._table("log")])

    def _table(self, table: str) -> Iterator[Raw]:
        return self._rows.select(table, 0, getattr(self._seals[-1].counts, table))

    def _meta(self) -> Fact:
        meta = self._rows.meta()
        secret = meta.get("secret")
        if not isinstance(secret, bytes):
            raise StoreCorrupt("the store has lost its secret: run verify")
        return {
            "created": meta.get("created"),
            "format": FORMAT,
            "schema": meta.get("schema"),
            "secret_sha256": sha256(secret).hexdigest(),
        }

    def _blob(self, raw: Raw) -> Fact:
        row = blob_row(raw)
        with _new(self._folder / "blobs" / row.digest.hex()) as file:
            file.write(unpack(row.encoding, row.kept, row.size))
        return {"sha256": row.digest.hex(), "size": row.size}

    def _entry(self, raw: Raw) -> Fact:
        row = entry_row(raw)
        self._trees.setdefault(row.log, CompactRange()).append(row.leaf)
        return {
            "body": _text(unpack(row.encoding, row.kept)),
            "idem": row.idem.hex(),
            "kind": row.kind,
            "leaf": row.leaf.hex(),
            "log": row.log,
            "seq": row.seq,
        }

    def _head(self, raw: Raw) -> Fact:
        row = log_row(raw)
        tree = self._trees.get(row.id, CompactRange())
        return {
            "log": row.id,
            "opened": row.opened,
            "root": tree.root().hex(),
            "session": row.session.hex(),
            "size": tree.size,
        }

    def _json(self, name: str, value: object) -> None:
        with _new(self._folder / name) as file:
            file.write(_canonical(value))

    def _lines(self, name: str, facts: Iterator[Fact]) -> None:
        with _new(self._folder / name) as file:
            file.writelines(map(_canonical, facts))


def _seal(row: SealRow) -> Fact:
    counts = row.counts
    return {
        "blobs": counts.blob,
        "digest": row.digest.hex(),
        "entries": counts.entry,
        "logs": counts.log,
        "nodes": counts.node,
        "number": row.number,
        "stubs": counts.stub,
    }


def _node(raw: Raw) -> Fact:
    row = node_row(raw)
    return {
        "blob": (row.blob or b"").hex(),
        "chain": row.chain.hex(),
        "log": row.log,
        "message": row.message.hex(),
        "node": row.node,
        "parent": row.parent,
    }


def _stub(raw: Raw) -> Fact:
    row = stub_row(raw)
    return {"cell": row.cell, "handle": row.handle, "log": row.log}


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise StoreCorrupt("the body of an entry is not UTF-8: run verify") from error


def _canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"


def _new(path: Path) -> IO[bytes]:
    opener: Callable[[str, int], int] = lambda name, flags: os.open(name, flags, 0o600)  # noqa: E731
    return open(path, "xb", opener=opener)
