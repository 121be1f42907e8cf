"""What a log of collections holds: collections and compactions, notes between them, and the sums of a session.

Rule: values only; figures are tokens, but for amounts, which are in the unit of the tariff they were decided by.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxgc.core.compaction import Summary
from ctxgc.lab.forecasts import Split

TAKEN = "taken"
"""The outcome of a summary that is used."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a compaction left out: messages of the turns ``first`` to ``last``; ``handle`` reads its record back, and
    ``by`` is the model that had a part in that (empty: none)."""

    first: int
    last: int
    handle: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What else is worth a line: after request ``turn``, a ``milestone`` by name or why a ``summary`` was refused."""

    turn: int
    at: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Summaries:
    """What asking models for records has come to: answers ``taken`` and ``refused``, tokens in and out."""

    taken: int = 0
    refused: int = 0
    input: int = 0
    output: int = 0

    def more(self, entry: Summary) -> Summaries:
        """With one more."""
        taken = entry.outcome == TAKEN
        figures = self.input + entry.input, self.output + entry.output
        return Summaries(self.taken + taken, self.refused + (not taken), *figures)


@dataclass(frozen=True, slots=True)
class Made:
    """One collection. ``turn`` is the number of its request; all figures are tokens but ``rent``, ``price`` and
    ``saving`` (per turn), which are in the tariff's unit: USD where ``usd``, else relative prices.

    ``before`` and ``after`` are of the cells that were changed, as they were sent, ``context_before`` and
    ``context_after`` of the whole request. ``predicted`` and ``billed`` split the request's input; ``billed`` is None
    where no usage was reported. Of a compaction (``span``), ``cells`` are those left out, ``after`` is its record, and
    what it changed behind the span is in its context.
    """

    turn: int
    at: float
    model: str
    generation: str
    trigger: str
    cells: int
    before: int
    after: int
    context_before: int
    context_after: int
    rewritten: int = 0
    rent: float = 0.0
    price: float = 0.0
    saving: float = 0.0
    usd: bool = False
    predicted: Split | None = None
    billed: Split | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class GcLog:
    """A session's collections, and their sums. ``saved`` are tokens that came and were not sent, counted with every
    request; ``rewritten`` those sent once more outside of the cache. ``paid`` is what the session's input cost and
    ``untouched`` what it would have cost, both by the pacer's prices (USD where ``usd``)."""

    made: tuple[Made, ...]
    requests: int = 0
    saved: int = 0
    rewritten: int = 0
    paid: float = 0.0
    untouched: float = 0.0
    usd: bool = False
    notes: tuple[Note, ...] = ()
    summaries: Summaries = Summaries()

    @property
    def net(self) -> float:
        """What collecting has brought (below zero: cost) so far, in the unit of the prices."""
        return self.untouched - self.paid
