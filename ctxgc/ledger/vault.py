"""The vault: the originals of what tools really produced, each under its hash.

Rule: what was stored is durable and stays as it is; the same original of the same place is kept once.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from ctxgc.core.bookings import Artifact
from ctxgc.core.books import Books
from ctxgc.core.stub import mint
from ctxgc.errors import LedgerError, UnknownHandle
from ctxgc.ledger import wording
from ctxgc.ledger.log import Log


class Vault:
    """The vouchers of one ledger."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def store(self, *, ref: str, content: str | bytes, kind: str = "file", exit_status: int | None = None) -> Artifact:
        """Keep an original; durable when this returns. The same one again is the voucher that is there.

        ``ref`` says where it really lives: a path (``file``), a query (``query``), a command (``test``,
        ``tool_result``). Text is kept in UTF-8. Raises ``LedgerError`` for an unknown ``kind``, and ``StoreError``.
        """
        data = wording.to_bytes(content)
        made = self._artifact(wording.clean(ref), data, wording.clean(kind), exit_status)

        def make(books: Books) -> list[Artifact]:
            return [] if made.id in books.artifacts else [made]

        self._log.add(make, (data,))
        with self._log.held(refresh=False) as books:
            return books.artifacts[made.id]

    def get(self, handle: str) -> Artifact:
        """The entry of a voucher. Raises ``UnknownHandle``."""
        with self._log.held(refresh=False) as books:
            known = books.artifacts.get(handle)
        if known is None:
            with self._log.held() as books:
                known = books.artifacts.get(handle)
        if known is None:
            raise UnknownHandle(f"this ledger has no voucher {wording.shown(handle)}: check the handle")
        return known

    def read(self, handle: str) -> bytes:
        """The exact bytes, hashed again. Raises ``UnknownHandle``, ``StoreCorrupt`` and ``StoreMissing``."""
        return self._log.store.blob(digest_of(self.get(handle)))

    def lines(self, handle: str, first: int, last: int) -> str:
        """Lines ``first`` to ``last`` (from 1, both included), as far as there are any. Raises as `read`, and
        ``LedgerError`` where there is none of them."""
        first, lines = max(first, 1), max(self.get(handle).lines, 1)
        if not first <= min(last, lines):
            raise LedgerError(f"voucher {handle} has no lines {first} to {last}: it has {lines}")
        return wording.to_text(b"\n".join(self.read(handle).split(b"\n")[first - 1 : min(last, lines)]))

    def _artifact(self, ref: str, data: bytes, kind: str, exit_status: int | None) -> Artifact:
        digest = f"sha256:{sha256(data).hexdigest()}"
        # How a command ended is a part of what it produced: two runs without output are not one.
        what = msgspec.json.encode(("voucher", kind, ref, digest, exit_status))
        return Artifact(
            at=self._log.clock(),
            id=mint(self._log.store.secret, self._log.key, what),
            type=kind,
            ref=ref,
            hash=digest,
            size=len(data),
            lines=line_count(data),
            exit_status=exit_status,
        )


def digest_of(artifact: Artifact) -> bytes:
    """The sha256 that a voucher's bytes are kept under."""
    return bytes.fromhex(artifact.hash.removeprefix("sha256:"))


def line_count(data: bytes) -> int:
    """How many lines there are; the last one counts with or without an end."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
