"""The log of a session's collections: what each took out, what it was predicted to cost, and what was then billed.

Rule: a pure function of the journal; what is said of a collection was known when it was made, but for its bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ctxgc.core.journal import Allocation, AnyEntry, Collection, Pace, Settlement, Usage
from ctxgc.core.state import EDEN, State
from ctxgc.lab.forecasts import Split, billed, in_usd, predicted
from ctxgc.tokens.prices import Price

LeastOf = Callable[[str], int]
"""From a model's name to the tokens of the shortest prefix that its provider caches."""


@dataclass(frozen=True, slots=True)
class Made:
    """One collection. ``turn`` is the number of its request; all figures are tokens but ``rent``, ``price`` and
    ``saving`` (per turn), which are in the tariff's unit: USD where ``usd``, else relative prices.

    ``before`` and ``after`` are of the cells that were changed, as they were sent, ``context_before`` and
    ``context_after`` of the whole request. ``predicted`` and ``billed`` split the request's input; ``billed`` is None
    where no usage was reported.
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

    @property
    def net(self) -> float:
        """What collecting has brought (below zero: cost) so far, in the unit of the prices."""
        return self.untouched - self.paid


def gc_log(entries: Iterable[AnyEntry], price_of: Callable[[str], Price | None], least_of: LeastOf) -> GcLog:
    """The log of a journal. Raises ``ValueError`` for entries that do not fit together."""
    walk = _Walk(least_of)
    for entry in entries:
        walk.take(entry)
    walk.close()
    return walk.log(price_of)


@dataclass(slots=True)
class _Open:
    """A request while its collections come in, each with the tokens that its cells took before it.

    ``sizes`` are the tokens of the whole request before the first of them and after each.
    """

    number: int
    entry: Allocation
    sizes: list[int]
    collections: list[tuple[Collection, int]] = field(default_factory=list)
    split: Split | None = None

    @property
    def pace(self) -> Pace:
        return self.entry.pace or Pace()


@dataclass(slots=True)
class _Walk:
    """The walk under way. Collections follow their allocation, so the next entry of another kind ends a request."""

    least_of: LeastOf
    state: State = field(default_factory=State)
    requests: list[_Open] = field(default_factory=list)
    usage: dict[bytes, Usage] = field(default_factory=dict)
    saved: int = 0
    _open: _Open | None = None

    def take(self, entry: AnyEntry) -> None:
        if not isinstance(entry, Collection):
            self.close()
        held = self._held(entry)
        self.state.apply(entry)
        if isinstance(entry, Allocation):
            self._open = _Open(len(self.requests) + 1, entry, [self._sent(entry)])
            self.requests.append(self._open)
        elif isinstance(entry, Collection) and self._open is not None and entry.call == self._open.entry.call:
            self._open.collections.append((entry, held))
            self._open.sizes.append(self._sent(self._open.entry))
        elif isinstance(entry, Settlement) and entry.usage is not None:
            self.usage[entry.call] = entry.usage

    def close(self) -> None:
        """Book the request that was begun, as it left."""
        one, self._open = self._open, None
        if one is None:
            return
        entry, least = one.entry, self.least_of(one.entry.model)
        if not entry.again:  # what we sent once more came from nobody
            self.saved += self.state.tokens(entry.head, entry.toolset, sent=False) - one.sizes[-1]
        if one.pace.trigger:
            base = sum(self.state.left(entry.parent, entry.call).values()) + sum(self.state.tools(entry).values())
            fresh_tools = entry.schemas is not None
            one.split = predicted(one.pace, base, one.sizes[-1], fresh_tools=fresh_tools, least=least)

    def log(self, price_of: Callable[[str], Price | None]) -> GcLog:
        made = tuple(made for one in self.requests for made in self._made(one, price_of))
        paces = [(one.entry.pace, one.entry.model) for one in self.requests if one.entry.pace is not None]
        last = self.state.pace
        return GcLog(
            made=made,
            requests=len(self.requests),
            saved=self.saved,
            rewritten=sum(pace.live for pace, _ in paces if pace.trigger),
            paid=last.paid,
            untouched=last.untouched,
            usd=bool(paces) and all(in_usd(pace.write, price_of(model)) for pace, model in paces),
        )

    def _made(self, one: _Open, price_of: Callable[[str], Price | None]) -> Iterable[Made]:
        for (entry, held), before, after in zip(one.collections, one.sizes, one.sizes[1:], strict=False):
            eden = entry.generation == EDEN
            pace = Pace() if eden else one.pace
            usage = self.usage.get(one.entry.call)
            yield Made(
                turn=one.number,
                at=entry.at,
                model=one.entry.model,
                generation=entry.generation,
                trigger=pace.trigger,
                cells=len(entry.edits),
                before=held,
                after=held - (before - after),
                context_before=before,
                context_after=after,
                rewritten=pace.live,
                rent=pace.rent,
                price=pace.price,
                saving=pace.dead * pace.read,
                usd=in_usd(one.pace.write, price_of(one.entry.model)),
                predicted=None if eden else one.split,
                billed=billed(usage) if usage and not eden else None,
            )

    def _held(self, entry: AnyEntry) -> int:
        """The tokens, as they are sent so far, of the cells that a collection changes."""
        edits = entry.edits if isinstance(entry, Collection) else ()
        return sum(self.state.cells[cell].sent for cell in {edit.cell for edit in edits})

    def _sent(self, entry: Allocation) -> int:
        return self.state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered)
