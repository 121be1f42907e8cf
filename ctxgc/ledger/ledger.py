"""The ledger as a host uses it: keep the voucher, verify, post, reconcile and close.

Rule: only the host posts. What anybody else says is a claim until a verifier has found it borne out by a voucher.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from ctxgc.core import opening as openings
from ctxgc.core.bookings import AnyBooking, Artifact, Evidence, Fact, Restoration, Supersession
from ctxgc.core.books import Books, News
from ctxgc.core.opening import Opening
from ctxgc.errors import LedgerError, UnknownHandle
from ctxgc.ledger import closing, evidence, posting, wording
from ctxgc.ledger.closing import Closed
from ctxgc.ledger.log import Log, key_of
from ctxgc.ledger.query import Index, within
from ctxgc.ledger.reconcile import CORRUPT, Report, Row, reconciled, sampled
from ctxgc.ledger.trace import Trace, trace
from ctxgc.ledger.vault import Vault
from ctxgc.ledger.verifiers import Verifier, Voucher
from ctxgc.store import Store, StoreCorrupt, open_store

Count = Callable[[str], int]
Booked = TypeVar("Booked", bound=AnyBooking)
_MODEL = "gpt-4o"


class Ledger:
    """One ledger in a store. Safe to use from any thread, and beside others on the same ledger in other processes.

    Whatever books something has it on disk when it returns. Every method may raise ``StoreError``, and ``LedgerError``
    for a log that was forged.
    """

    def __init__(self, store: Store, name: str, clock: Callable[[], float], root: str, *, owns_store: bool) -> None:
        self.name = name
        self._log = Log(store, key_of(name), clock)
        self._root = root
        self._index = Index()
        self._owns_store = owns_store
        self.vault = Vault(self._log)
        """The originals: ``store``, ``read``, ``lines``."""

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let go of the store, if it was opened for this ledger. Twice is fine."""
        if self._owns_store:
            self._log.store.close()

    @property
    def key(self) -> bytes:
        """The key of the ledger's log in the store: 32 bytes."""
        return self._log.key

    @property
    def books(self) -> Books:
        """All that the ledger knows, as of now. It grows with whatever is booked or read through this object."""
        return self._log.refresh()

    @property
    def version(self) -> int:
        """How many entries the ledger has now."""
        return self._log.refresh().length

    def refresh(self) -> None:
        """Read what others have booked."""
        self._log.refresh()

    def verify(self, artifact: Artifact | str, expected: Verifier | str) -> Evidence:
        """Have a verifier look at a voucher (or its handle); a text is what `verifiers.quotes` is to find in it.

        Raises ``NotVerified`` with one line that says what was expected and what was found, and ``UnknownHandle``.
        """
        known = self.vault.get(_id(artifact))
        return evidence.seen(Voucher(known, self.vault.read(known.id), self._root), expected)

    def claim(
        self,
        statement: str,
        *,
        author: str = "agent",
        pointer: str = "",
        quote: str = "",
        criticality: str = "normal",
    ) -> Fact:
        """Note what somebody says. It is in no balance. The same claim again is the one that is there."""
        return posting.claim(
            self._log,
            Fact(
                at=0,
                id="",
                type="claim",
                statement=statement,
                author=author,
                pointer=pointer,
                quote=quote,
                criticality=criticality,
            ),
        )

    def post(
        self,
        statement: str,
        source: Sequence[Evidence],
        criticality: str = "normal",
        of: Fact | str = "",
        supersedes: Fact | str = "",
    ) -> Fact:
        """Post a fact on evidence, which is looked at again. The same current fact again is the one that is there.

        ``of`` names the claim that it has come from, ``supersedes`` a fact that it overturns. Raises ``LedgerError``.
        """
        draft = Fact(
            at=0,
            id="",
            type="verified",
            statement=statement,
            source=tuple(source),
            criticality=criticality,
            of=_id(of),
        )
        return posting.post(self._log, self.vault, draft, _id(supersedes))

    def supersede(self, old: Fact | str, new: Fact | str, reason: str = "") -> Supersession:
        """Overturn a fact by another one; with an empty ``new``, withdraw it. Raises ``LedgerError``."""
        at, why = self._log.clock(), wording.clean(reason)
        return self._book(Supersession(at=at, old=_id(old), new=_id(new), reason=why))

    def restore(self, fact: Fact | str, reason: str = "") -> Restoration:
        """Make an overturned fact current again, in the place of what had overturned it. Raises ``LedgerError``."""
        return self._book(Restoration(at=self._log.clock(), fact=_id(fact), reason=wording.clean(reason)))

    def reconcile(self, sample: int | None = None, seed: int = 0, record: bool = True) -> Report:
        """Read again what the current facts rest on, or ``sample`` of them by ``seed``: see `reconcile.reconciled`.

        A log that cannot be read to its end is a finding; what was found then is not recorded.
        """
        damage = self._damage()
        with self._log.held(refresh=False) as books:
            facts = sampled(books.current(), sample, seed)
            rows = reconciled(self._log, books, facts, self._root, whole=sample is None)
        report = Report((*damage, *rows), whole=sample is None)
        if record and not damage:
            closing.book(self._log, report)
        return report

    def close(self, milestone: str = "") -> Closed:
        """Close the period: what stands now is what the next one begins with; ``milestone`` says what is done.

        Raises ``LedgerError`` where a critical fact does not agree with its voucher or live file, and says which.
        """
        return Closed(closing.closed(self._log, self.vault, self._root, milestone), self)

    def opening(self, budget: int, pins: Sequence[str] = (), count: Count | None = None) -> Opening:
        """The opening balance within ``budget`` tokens, behind the pinned constraints: see `core.opening.opening`.

        Raises ``LedgerError`` where the pins alone do not fit.
        """
        with self._log.held() as books:
            return openings.opening(books, budget, count or _counter(), tuple(pins))

    def listed(self) -> str:
        """All current facts, a line each, whole and with their evidence; empty where there are none."""
        with self._log.held() as books:
            return openings.full_list(books) if books.current() else ""

    def news(self, since: int) -> News:
        """What was posted, overturned and restored from the position ``since`` on (an earlier ``version``)."""
        with self._log.held() as books:
            return books.since(since)

    def query(self, text: str, budget: int = 1000, count: Count | None = None) -> list[Fact]:
        """The current facts that share words with ``text``, or whose voucher or ref it names: best first, and no more
        than take ``budget`` tokens."""
        with self._log.held() as books:
            ranked = self._index.ranked(books, text)
        return within(ranked, budget, count or _counter()) if ranked else []

    def trace(self, fact: Fact | str) -> Trace:
        """Follow a fact to its vouchers and recompute all hashes. Raises ``LedgerError`` where there is none."""
        with self._log.held() as books:
            return trace(self._log, books, _id(fact))

    def read(self, handle: str) -> str | None:
        """The text of a voucher, or None where the ledger has none of that handle."""
        try:
            return wording.to_text(self.vault.read(handle))
        except UnknownHandle:
            return None

    def _book(self, entry: Booked) -> Booked:
        self._log.add(lambda _books: [entry])
        return entry

    def _damage(self) -> list[Row]:
        try:
            self._log.refresh()
        except (StoreCorrupt, LedgerError) as error:
            return [Row("", CORRUPT, str(error))]
        return []


def open_ledger(
    url: str | Store, name: str = "main", clock: Callable[[], float] = time.time, root: str | Path = ""
) -> Ledger:
    """The ledger of that name in a store, given as a URL or open; there is nothing to create.

    ``clock`` gives Unix time in seconds. ``root`` is where relative refs of files start: by default the working folder
    as it is now, wherever the process goes later.
    A store that was opened for it is closed with it (``with open_ledger(...) as ledger``). Raises ``StoreError``.
    """
    opened = open_store(url) if isinstance(url, str) else url
    return Ledger(opened, name, clock, _from_here(root), owns_store=isinstance(url, str))


def _from_here(root: str | Path) -> str:
    try:
        return str(Path(root).absolute())
    except FileNotFoundError:  # the working folder was removed: nothing is there, and that is what will be found
        return str(root)


def _id(given: Fact | Artifact | str) -> str:
    return given if isinstance(given, str) else given.id


def _counter() -> Count:
    from ctxgc.tokens.measure import meter_for  # tokenizers are loaded only where tokens are counted

    return meter_for(_MODEL).count
