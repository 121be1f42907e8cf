"""Errands: what a session would have done that takes long or waits for others. The shell runs them in a thread.

Rule: an errand touches nothing of the session, and never raises; what came of it is given back to the session. None is
waited for: a session goes on without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from ctxgc.core.authority import postable
from ctxgc.core.block import Kind
from ctxgc.core.compaction import Item, Summary
from ctxgc.core.record import Original
from ctxgc.errors import CtxgcError, NotVerified
from ctxgc.store import StoreError

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger
    from ctxgc.summarise import Asker, Job

AUTHOR = "summariser"
"""Who states what is in a record."""
NO_KEY = "none"
"""What is sent as the key where a session's requests have none."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where the session's own model is asked, and with which key; both empty for what the environment says."""

    base: str = ""
    key: str = field(default="", repr=False)


NOBODY = Access()


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of an errand: what a model said, which milestone is reached, and why something could not be done (empty
    where it was). ``asked`` says that it was to ask a model, whatever came of that."""

    summaries: tuple[Summary, ...] = ()
    milestone: str = ""
    fault: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Writing:
    """Ask a model for its part of a record; of what it says, what its quote bears out is posted. ``own`` says that the
    model is the session's own, and asked where that is. ``ref`` names the session in vouchers."""

    job: Job
    ask: Asker
    own: bool
    ledger: Ledger | None
    ref: str

    def run(self, access: Access = NOBODY) -> Ran:
        """Ask, and post. Waits for the model and for the disk."""
        from ctxgc.summarise import summarise

        job = self.job
        if self.own:  # who brings no key has none: the environment's is not for every client
            key = access.key or (NO_KEY if access.base else "")
            job = replace(job, model=f"openai/{job.model}", api_base=access.base, api_key=key)
        summaries = summarise(job, self.ask)
        try:
            return Ran(tuple(self._posted(summaries)), asked=True)
        except Exception as error:  # the ledger does without; what was said stays a claim
            return Ran(summaries, fault=f"not posted: {type(error).__name__}", asked=True)

    def _posted(self, summaries: tuple[Summary, ...]) -> Iterator[Summary]:
        known = {one.cell: one for one in self.job.originals}
        for summary in summaries:
            yield structs.replace(summary, items=tuple(self._item(item, known[item.cell]) for item in summary.items))

    def _item(self, item: Item, original: Original) -> Item:
        if self.ledger is None:
            return item
        from ctxgc.ledger import quotes

        ledger = self.ledger
        claim = ledger.claim(item.text, author=AUTHOR, pointer=original.handle, quote=item.quote)
        if original.kind is not Kind.TOOL_RESULT or not item.stands or postable(item, original):
            return item
        voucher = ledger.vault.store(ref=f"{self.ref}/{original.handle}", content=original.text, kind="tool_result")
        try:
            fact = ledger.post(item.text, [ledger.verify(voucher, quotes(item.quote))], of=claim)
        except NotVerified:  # the quote begins or ends within a word: it stays a claim
            return item
        return structs.replace(item, fact=fact.id)


@dataclass(frozen=True, slots=True)
class Closing:
    """Close the ledger's period: a milestone was reached, or (with no ``name``) a major collection was made and nobody
    had named one."""

    ledger: Ledger | None
    name: str = ""

    def run(self, access: Access = NOBODY) -> Ran:
        """Close it; without a name only if something was claimed, posted or overturned in it."""
        try:
            if self.ledger is not None and (self.name or self._used(self.ledger)):
                self.ledger.close(self.name)
            return Ran(milestone=self.name)
        except (CtxgcError, StoreError) as error:
            return Ran(fault=f"period not closed: {error}")
        except Exception as error:  # whatever it says is not for the journal
            return Ran(fault=f"period not closed: {type(error).__name__}")

    def _used(self, ledger: Ledger) -> bool:
        books, (first, _) = ledger.books, ledger.books.window()
        return next(reversed(books.posted_at.values()), -1) >= first or bool(books.since(first))


Errand = Writing | Closing


def done(errand: Errand, access: Access = NOBODY) -> Ran:
    """Run an errand, whatever it does: who waits for it would wait for ever."""
    try:
        return errand.run(access)
    except BaseException as error:  # in a thread even an exit ends no more than the errand
        return undone(errand, f"errand failed: {type(error).__name__}")


def undone(errand: Errand, why: str) -> Ran:
    """What came of an errand that could not be run to its end."""
    return Ran(fault=why, asked=isinstance(errand, Writing))
