"""What every store can do, whatever it keeps its rows in.

Rule: nothing here changes or removes what was written; there is no verb for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ctxgc.store.records import Finding, Node, Record, SessionRow, Stored, Tip

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ctxgc.store.rows import Rows


class Store(Protocol):
    """An append-only audit store. Safe to use from any thread; every method may raise StoreError."""

    @property
    def secret(self) -> bytes:
        """32 random bytes made with the store, for minting handles nobody can guess. Never exported."""

    def append(self, records: Sequence[Record]) -> Future[None]:
        """Write records in one atomic transaction, in order, without ever blocking the caller.

        The future resolves when they are durable. It fails with StoreRefused (nothing of this call is stored,
        others are unaffected; StoreConflict where a log is not at the position that a record names), StoreFull,
        StoreBusy or StoreUnavailable; after the last one the outcome is unknown, and appending the same records
        again is right in either case. It cannot be cancelled.
        """

    def entries(self, session: bytes, start: int = 0) -> Iterator[Stored]:
        """The journal of a session by `seq`, from `start` on without gaps; each leaf is recomputed on reading.

        Earlier entries are not read at all. There are none where the journal is not that long.
        """

    def nodes(self, session: bytes) -> Iterator[Node]:
        """The prefix trie of a session, by node id: parents come before their children."""

    def blob(self, digest: bytes) -> bytes:
        """The content with this sha256, hashed again on every read. Raises StoreMissing, StoreCorrupt."""

    def find(self, chain: bytes) -> bytes | None:
        """The key of the newest session that holds a node with this chain value."""

    def resolve(self, handle: str) -> tuple[bytes, int] | None:
        """The session and cell a handle stands for."""

    def sessions(self) -> list[SessionRow]:
        """All sessions, oldest first."""

    def root(self, session: bytes) -> tuple[int, bytes]:
        """Number of entries of a session and their RFC 6962 tree head (of the empty tree if there are none)."""

    def tip(self) -> Tip:
        """The newest seal: what to keep outside the store, as proof against cutting and rewriting it."""

    def rows(self) -> Rows:
        """Everything stored, as rows, for verifying and exporting."""

    def size(self) -> int:
        """Bytes on disk, write-ahead log included."""

    def verify(
        self, progress: Callable[[int, int], None] | None = None, *, held: Tip | None = None
    ) -> Iterator[Finding]:
        """Read and hash every stored byte again, and name everything that disagrees.

        `progress(done, total)` counts rows. Whoever owns the file can still rewrite it as a whole, or cut
        its newest transactions off with everything that belongs to them, and leave no trace in the file:
        give a `held` tip, kept elsewhere, to find that too, for everything up to that tip.
        """

    def flush(self) -> None:
        """Wait until every append so far has succeeded or failed."""

    def close(self) -> None:
        """Flush, then let go of the file. Appends fail from now on; closing twice is fine."""
