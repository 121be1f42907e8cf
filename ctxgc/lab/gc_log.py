"""The log of a session's collections: what each took out, what it was predicted to cost, and what was then billed.
A compaction is one; milestones and refused summaries stand between them as notes.

Rule: a pure function of the journal; what is said of a collection was known when it was made, but for its bill.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Pace, Settlement, Usage
from ctxgc.core.state import EDEN, State
from ctxgc.lab.collected import TAKEN, Note, Span, Summaries
from ctxgc.lab.collected import GcLog as GcLog
from ctxgc.lab.collected import Made as Made
from ctxgc.lab.compactions import follows, left_out, span
from ctxgc.lab.forecasts import Split, billed, in_usd, predicted
from ctxgc.tokens.prices import Price

LeastOf = Callable[[str], int]
"""From a model's name to the tokens of the shortest prefix that its provider caches."""


def gc_log(entries: Iterable[AnyEntry], price_of: Callable[[str], Price | None], least_of: LeastOf) -> GcLog:
    """The log of a journal. Raises ``ValueError`` for entries that do not fit together."""
    walk = Walk(least_of, price_of)
    for entry in entries:
        walk.take(entry)
    return walk.log()


@dataclass(slots=True)
class _Open:
    """A request while its collections come in. ``size`` are the tokens of the whole request as it is sent so far (None:
    nobody has asked yet)."""

    number: int
    entry: Allocation
    size: int | None = None
    changes: list[_Change] = field(default_factory=list)
    split: Split | None = None

    @property
    def pace(self) -> Pace:
        return self.entry.pace or Pace()


@dataclass(frozen=True, slots=True)
class _Change:
    """A collection or a compaction: see ``Made`` for its figures."""

    at: float
    generation: str
    trigger: str
    cells: int
    before: int
    after: int
    context_before: int
    context_after: int
    span: Span | None = None


@dataclass(slots=True)
class Walk:
    """A walk under way. Collections follow their allocation, so the next entry of another kind ends a request.

    ``before`` and ``after`` are for who applies the entries to ``state`` himself, since others look at it, too.
    """

    least_of: LeastOf
    price_of: Callable[[str], Price | None]
    state: State = field(default_factory=State)
    requests: int = 0
    usage: dict[bytes, Usage] = field(default_factory=dict)
    saved: int = 0
    rewritten: int = 0
    notes: list[Note] = field(default_factory=list)
    summaries: Summaries = field(default_factory=Summaries)
    usd: bool | None = None
    _changed: list[_Open] = field(default_factory=list)
    _open: _Open | None = None
    _held: int = 0
    _begun: list[float] = field(default_factory=list)

    def take(self, entry: AnyEntry) -> None:
        """Apply an entry, and note it. Raises ``ValueError`` for one that does not fit what came before it."""
        self.before(entry)
        self.state.apply(entry)
        self.after(entry)

    def before(self, entry: AnyEntry) -> None:
        """What is to be done before the state takes an entry."""
        if not self._belongs(entry):
            self.close()
        if isinstance(entry, Collection | Compaction):
            self._held = self._sent_of(entry)
            if self._open is not None and self._open.size is None:
                self._open.size = self._sent(self._open.entry)

    def after(self, entry: AnyEntry) -> None:
        """What is to be done after it."""
        if isinstance(entry, Allocation):
            self.requests += 1
            self._begun.append(max(entry.at, self._begun[-1] if self._begun else entry.at))
            self._open = _Open(self.requests, entry)
            self._paced(entry)
        elif isinstance(entry, Collection | Compaction) and self._open is not None:
            self._change(self._open, entry, self._held)
        elif isinstance(entry, Settlement) and entry.usage is not None:
            self.usage[entry.call] = entry.usage
        elif isinstance(entry, Milestone):
            self.notes.append(Note(self.requests, entry.at, "milestone", entry.name))
        elif isinstance(entry, Summary):
            self._said(entry)

    def close(self) -> None:
        """Book the request that was begun, as it left."""
        one, self._open = self._open, None
        if one is None:
            return
        if one.changes:
            self._changed.append(one)
        entry, least = one.entry, self.least_of(one.entry.model)
        if not entry.again:  # what we sent once more came from nobody
            self.saved += self._spared(entry)
        if one.pace.trigger:
            base = sum(self.state.left(entry.parent, entry.call).values()) + sum(self.state.tools(entry).values())
            fresh_tools = entry.schemas is not None
            size = self._sent(entry)
            one.split = predicted(one.pace, base, size, fresh_tools=fresh_tools, least=least)

    def log(self) -> GcLog:
        """The log so far; right whenever the newest request is whole. The walk may go on after it."""
        self.close()
        last = self.state.pace
        return GcLog(
            made=tuple(made for one in self._changed for made in self._made(one)),
            requests=self.requests,
            saved=self.saved,
            rewritten=self.rewritten,
            paid=last.paid,
            untouched=last.untouched,
            usd=bool(self.usd),
            notes=tuple(self.notes),
            summaries=self.summaries,
        )

    def _paced(self, entry: Allocation) -> None:
        pace = entry.pace
        if pace is None:
            return
        self.rewritten += pace.live if pace.trigger else 0
        if self.usd is not False:
            self.usd = in_usd(pace.write, self.price_of(entry.model))

    def _spared(self, entry: Allocation) -> int:
        """The tokens of a request that came and were not sent."""
        node = self.state.node(entry.head)
        if node.sent is node.received and not entry.offered and entry.head not in self.state.own.inserted:
            return 0  # nothing of it was ever changed: one tally serves both
        return self.state.tokens(entry.head, entry.toolset, sent=False) - self._sent(entry)

    def _belongs(self, entry: AnyEntry) -> bool:
        """Whether an entry says what was changed in the request that was begun."""
        part = isinstance(entry, Collection | Compaction) or (isinstance(entry, Insertion) and entry.told >= 0)
        return part and self._open is not None and self._open.entry.call == getattr(entry, "call", None)

    def _change(self, one: _Open, entry: Collection | Compaction, held: int) -> None:
        """Note a collection; one that only follows from a compaction is told with it, which comes next."""
        size, before = self._sent(one.entry), one.size or 0
        if isinstance(entry, Compaction):
            cells, gone = self._out(entry), _span(self.state, entry)
            figures = cells, entry.before, entry.tokens, before, size
            one.changes.append(_Change(entry.at, "major", entry.trigger, *figures, gone))
        elif follows(entry):
            return
        else:
            trigger = "" if entry.generation == EDEN else one.pace.trigger
            figures = len(entry.edits), held, held - (before - size), before, size
            one.changes.append(_Change(entry.at, entry.generation, trigger, *figures))
        one.size = size

    def _out(self, entry: Compaction) -> int:
        made = self.state.node(entry.upto).compacted
        return sum(1 for _ in left_out(self.state, made)) if made else 0

    def _said(self, entry: Summary) -> None:
        self.summaries = self.summaries.more(entry)
        if entry.outcome != TAKEN:
            text = f"{entry.outcome.removeprefix('refused: ')} ({entry.model or 'no model'})"
            asked = bisect_right(self._begun, entry.at)  # it is as old as its question, and may be noted much later
            self.notes.append(Note(max(asked, min(self.requests, 1)), entry.at, "summary", text))

    def _made(self, one: _Open) -> Iterable[Made]:
        usage = self.usage.get(one.entry.call)
        for change in one.changes:
            eden = change.generation == EDEN
            pace = Pace() if eden else one.pace
            yield Made(
                turn=one.number,
                at=change.at,
                model=one.entry.model,
                generation=change.generation,
                trigger=change.trigger,
                cells=change.cells,
                before=change.before,
                after=change.after,
                context_before=change.context_before,
                context_after=change.context_after,
                rewritten=pace.live,
                rent=pace.rent,
                price=pace.price,
                saving=pace.dead * pace.read,
                usd=in_usd(one.pace.write, self.price_of(one.entry.model)),
                predicted=None if eden else one.split,
                billed=billed(usage) if usage and not eden else None,
                span=change.span,
            )

    def _sent_of(self, entry: AnyEntry) -> int:
        """The tokens, as they are sent so far, of the cells that a collection changes."""
        edits = entry.edits if isinstance(entry, Collection) else ()
        return sum(self.state.cells[cell].sent for cell in {edit.cell for edit in edits})

    def _sent(self, entry: Allocation) -> int:
        return self.state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered)


def _span(state: State, entry: Compaction) -> Span:
    turns = [node.turn for node in span(state, made)] if (made := state.node(entry.upto).compacted) else [0]
    return Span(turns[0], turns[-1], entry.handle, entry.by)
