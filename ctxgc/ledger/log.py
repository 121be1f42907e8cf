"""A ledger's log in the store: what it says so far, and the one way to add to it.

Rule: an entry is added only at the position that its books have come to, only if they take it, and only if it reads
back as what it is. Where somebody else was faster, it is made anew from what the books say then; where nobody knows
whether it was stored, the same one is sent again: nothing is lost, and nothing is there twice.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from ctxgc.core import journal
from ctxgc.core.bookings import AnyBooking, Fact, Supersession
from ctxgc.core.books import Books
from ctxgc.errors import LedgerError
from ctxgc.store import Record, Store, StoreConflict, StoreCorrupt, StoreUnavailable

TRIES = 1_000
"""How often an entry is made anew because others were faster."""
AGAIN = 5
"""How often the same entry is sent while the store does not say whether it has it."""


def key_of(name: str) -> bytes:
    """The key under which a store keeps the ledger of that name: 32 bytes."""
    return sha256(b"ctxgc ledger\0" + name.encode("utf-8", "surrogatepass")).digest()


class Log:
    """One ledger's entries. Safe to use from any thread; `held` gives the books for longer than one call."""

    def __init__(self, store: Store, key: bytes, clock: Callable[[], float]) -> None:
        self.store = store
        self.key = key
        self.clock = clock
        self._lock = threading.RLock()
        self._books = Books()
        self._leaves: list[bytes] = []
        self._stated: dict[str, list[str]] = {}

    def refresh(self) -> Books:
        """The books as of now. Raises ``StoreError`` and ``LedgerError`` for a log that is damaged or forged."""
        with self._lock:
            stream = self.store.entries(self.key, self._books.length)
            try:
                for stored in stream:
                    self._take(booking(stored.body))
                    self._leaves.append(stored.leaf)
            except (StoreCorrupt, LedgerError) as error:
                why = f"entry {self._books.length} of the ledger's log cannot be taken: {error}"
                raise type(error)(why) from error
            return self._books

    def _take(self, entry: AnyBooking) -> None:
        self._books.apply(entry)
        if isinstance(entry, Fact):
            self._stated.setdefault(entry.statement, []).append(entry.id)

    @contextmanager
    def held(self, *, refresh: bool = True) -> Iterator[Books]:
        """The books, refreshed or as they were read last; nobody changes them meanwhile."""
        with self._lock:
            yield self.refresh() if refresh else self._books

    def leaf(self, position: int) -> bytes:
        """The leaf hash of the entry at a position, as it was when the books took it."""
        return self._leaves[position]

    def stating(self, statement: str) -> list[Fact]:
        """The facts and claims in exactly these words, oldest first, as the books were read last."""
        return [self._books.facts[name] for name in self._stated.get(statement, ())]

    def add(self, make: Callable[[Books], Sequence[AnyBooking]], blobs: Sequence[bytes] = ()) -> list[AnyBooking]:
        """Append what ``make`` makes of the books, durably; nothing if that is nothing. ``make`` is called again
        whenever others have added something first.

        Several entries are appended together or not at all. Raises ``LedgerError`` for what the books refuse or could
        not be read again, and ``StoreError``.
        """
        idems: list[bytes] = []
        with self._lock:
            for _ in range(TRIES):
                entries = list(make(self.refresh()))
                checked(self._books, entries)
                idems += (uuid.uuid4().bytes for _ in range(len(idems), len(entries)))
                if not entries or self._append(entries, idems, blobs):
                    self.refresh()
                    return entries
                self._grown()
        raise LedgerError("others are always faster to add to this ledger: post again when there are fewer of them")

    def _grown(self) -> None:
        """Read what others were faster with. Raises ``StoreCorrupt`` where there is nothing: the log was cut."""
        before = self._books.length
        if self.refresh().length == before:
            raise StoreCorrupt(
                f"the ledger's log has lost entries: {before} were read from it, and fewer are there now"
            )

    def _append(self, entries: Sequence[AnyBooking], idems: Sequence[bytes], blobs: Sequence[bytes]) -> bool:
        """Whether these entries are in the log now; False where others have grown it."""
        records = [self._record(number, entry, idems, blobs) for number, entry in enumerate(entries)]
        for left in reversed(range(AGAIN)):
            try:
                self.store.append(records).result()
            except StoreConflict:
                return False
            except StoreUnavailable:
                if not left:
                    raise
            else:
                return True
        return False

    def _record(self, number: int, entry: AnyBooking, idems: Sequence[bytes], blobs: Sequence[bytes]) -> Record:
        body, position = _encoded(entry), self._books.length + number
        along = tuple(blobs) if number == 0 else ()
        return Record(self.key, journal.kind(entry), body, idems[number], along, at=position)


def booking(body: bytes) -> AnyBooking:
    """The entry in a log's bytes. Raises ``LedgerError`` for what is none of a ledger's."""
    try:
        entry = journal.decode(body)
    except msgspec.MsgspecError as error:
        raise LedgerError(f"it cannot be read ({error}): upgrade ctxgc, or verify the store") from error
    if not isinstance(entry, AnyBooking):
        raise LedgerError(f"a {journal.kind(entry)} is no entry of a ledger: verify the store")
    return entry


def _encoded(entry: AnyBooking) -> bytes:
    """An entry as the log keeps it. Raises ``LedgerError`` for one that nobody could read back: a log has no way to
    get rid of it again."""
    try:
        body = journal.encode(entry)
        readable = journal.decode(body) == entry
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise LedgerError(f"this {journal.kind(entry)} could not be read again ({error}): correct the value") from error
    if not readable:
        raise LedgerError(f"this {journal.kind(entry)} would be read as another one: correct its values")
    return body


def checked(books: Books, entries: Sequence[AnyBooking]) -> None:
    """Raises ``LedgerError`` unless the books take these entries: one, or a fact and what it supersedes."""
    match entries:
        case [Fact(), Supersession() as overturning]:
            books.check(entries[0])
            # The new fact is not in the books yet, and nothing else about it could be objected to.
            books.check(Supersession(at=overturning.at, old=overturning.old))
        case [entry]:
            books.check(entry)
        case [_, *_]:
            raise LedgerError("only a fact and what it supersedes are booked together")
