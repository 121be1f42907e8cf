"""A compaction on its way: what is left out of a history, what stands in its place, and what that comes to.

Rule: values only. A draft is made when a request has left, and becomes an entry with the request that it is sent with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctxgc.core.cells import NewCell
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction
from ctxgc.core.nodes import Compacted
from ctxgc.core.pacer import Load


@dataclass(frozen=True, slots=True)
class Span:
    """Nodes of a history that may be left out: those ``dropped``, from ``following`` (behind ``after``) to ``upto``.

    ``kept`` are those among them that stay. ``before`` is the tokens that go, ``behind`` those that are sent from the
    span on, to the end of what was sent.
    """

    after: int
    following: int
    upto: int
    dropped: tuple[int, ...]
    kept: tuple[int, ...]
    before: int
    behind: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A span and what would stand for it: ``messages``, with their ``cells``.

    ``whole`` is the record in full, which is read back under ``handle``; ``gone`` are the cells that go and ``handles``
    theirs; ``edits`` what changes behind the span, since it pointed into it, and ``grown`` the tokens by which that
    makes it longer. ``since`` is the turn from which on it is due, ``trigger`` why; ``by`` the model that has a part in
    it, ``told`` how far it tells of the ledger.
    """

    span: Span
    trigger: str
    since: int
    messages: tuple[bytes, ...]
    cells: tuple[NewCell, ...]
    whole: bytes
    handle: str
    handles: Mapping[str, int] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    by: str = ""
    told: int = -1
    gone: frozenset[int] = frozenset()
    grown: int = 0

    @property
    def tokens(self) -> int:
        """What stands for the span takes."""
        return sum(cell.tokens for cell in self.cells)

    def load(self) -> Load:
        """It as the pacer sees it."""
        forced = self.trigger != "milestone"
        saved = self.span.before - self.tokens - self.grown
        return Load(saved, self.span.behind, self.since, "forced" if forced else "priced")

    def compacted(self) -> Compacted:
        """The span as a history has it."""
        span = self.span
        return Compacted(span.after, span.following, span.upto, frozenset(span.kept), self.messages, ())

    def entry(self, call: bytes, at: float, record: bytes) -> Compaction:
        """What the journal says of it; ``record`` is the sha256 of ``whole``."""
        span = self.span
        return Compaction(
            at=at, call=call, after=span.after, upto=span.upto, kept=span.kept, messages=self.messages,
            cells=self.cells, record=record, handle=self.handle, handles=dict(self.handles), before=span.before,
            tokens=self.tokens, trigger=self.trigger, by=self.by, told=self.told,
        )  # fmt: skip
