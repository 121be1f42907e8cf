"""The profile of a session: where its tokens came from, how often they were sent, and what that cost.

Rule: a pure function of the journal. Every token is attributed to one tag and one site, and rows sum to the totals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.core.heap import Cell
from ctxgc.core.journal import AnyEntry
from ctxgc.lab.carried import Carried, Request, carried
from ctxgc.lab.costs import Cost, PriceOf, Reported, cost_of, reported_of
from ctxgc.lab.suspects import Schema, Suspect, suspects
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.tags import RECALL


@dataclass(frozen=True, slots=True)
class Row:
    """What came from one tag, from one site, or from everywhere. All figures but ``cells`` and ``pointers`` are tokens.

    ``tokens`` were allocated: received for the first time; ``sent`` is what they are sent as. ``resident`` is what the
    newest request sends of them. ``retained`` would be freed if the resident ones went: a call and its result go
    together. ``token_turns`` and ``sent_turns`` sum over all requests. ``pointers`` counts resident results that were
    replaced by a pointer to one of these: they would point at nothing.
    """

    name: str
    cells: int
    tokens: int
    sent: int
    resident: int
    retained: int
    token_turns: int
    sent_turns: int
    pointers: int

    @property
    def resent(self) -> int:
        """Tokens received again, after the first time."""
        return self.token_turns - self.tokens


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile. Rows are in order of what they sent, the largest first; ``exact`` is whether tokens were counted
    with the model's own tokenizer, or else estimated; ``cost`` is None where no model has a price. ``stacks`` are rows
    of cells that share a tag and a site, with the tag; like all rows they sum to the total."""

    name: str
    models: tuple[str, ...]
    exact: bool
    total: Row
    tags: tuple[Row, ...]
    sites: tuple[Row, ...]
    requests: tuple[Request, ...]
    schemas: tuple[Schema, ...]
    suspects: tuple[Suspect, ...]
    cost: Cost | None
    reported: Reported | None
    bypassed: Mapping[str, int]
    stacks: tuple[tuple[str, Row], ...] = ()


def profile(
    entries: Iterable[AnyEntry],
    name: str = "",
    price_of: PriceOf = lambda _: None,
    last_calls: Sequence[str] = (),
) -> Profile:
    """The profile of a journal. ``last_calls`` are tools called in the reply to the last request, which it does not
    hold. Raises ``ValueError`` for entries that do not fit together."""
    found = carried(entries)
    rows = _Rows(found)
    schemas = schemas_of(found, last_calls)
    return Profile(
        name=name,
        models=tuple(dict.fromkeys(request.model for request in found.requests)),
        exact=all(cell.exact for cell in found.state.cells),
        total=rows.row("total", found.state.cells),
        tags=rows.by(lambda cell: cell.tag),
        sites=rows.by(_site),
        requests=found.requests,
        schemas=schemas,
        suspects=suspects(found, schemas),
        cost=cost_of(found.requests, price_of),
        reported=reported_of(found.settled, price_of),
        bypassed=found.bypassed,
        stacks=rows.stacks(),
    )


def _site(cell: Cell) -> str:
    return TOOL_NAME if cell.tag == RECALL else cell.site


class _Rows:
    """Makes rows: what all of them need to know of a session."""

    def __init__(self, found: Carried) -> None:
        self._carried = found
        self._resident = found.resident()
        self._partners: dict[int, list[int]] = defaultdict(list)
        for call, result in found.answers:
            self._partners[call].append(result)
            self._partners[result].append(call)
        edits = found.state.edits.values()
        self._pointers = Counter(edit.of for edit in edits if edit.of is not None and edit.cell in self._resident)

    def stacks(self) -> tuple[tuple[str, Row], ...]:
        """A row for each site of each tag, behind the tag."""
        groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in self._carried.state.cells:
            groups[cell.tag, _site(cell)].append(cell)
        rows = ((tag, self.row(site, cells)) for (tag, site), cells in groups.items())
        return tuple(sorted(rows, key=lambda one: (-one[1].sent_turns, one[0], one[1].name)))

    def by(self, key: Callable[[Cell], str]) -> tuple[Row, ...]:
        """A row for each group of cells."""
        groups: dict[str, list[Cell]] = defaultdict(list)
        for cell in self._carried.state.cells:
            groups[key(cell)].append(cell)
        rows = (self.row(name, cells) for name, cells in groups.items())
        return tuple(sorted(rows, key=lambda row: (-row.sent_turns, row.name)))

    def row(self, name: str, cells: Sequence[Cell]) -> Row:
        """The row of a group of cells."""
        here = {cell.id for cell in cells} & self._resident
        partners = {partner for cell in here for partner in self._partners.get(cell, ())} & self._resident
        return Row(
            name=name,
            cells=len(cells),
            tokens=sum(cell.tokens for cell in cells),
            sent=sum(cell.sent for cell in cells),
            resident=self._sent(here),
            retained=self._sent(here | partners),
            token_turns=sum(cell.tokens * self._carried.times[cell.id] for cell in cells),
            sent_turns=sum(self._carried.sent_turns[cell.id] for cell in cells),
            pointers=sum(self._pointers[cell.id] for cell in cells),
        )

    def _sent(self, cells: Iterable[int]) -> int:
        return sum(self._carried.state.cells[cell].sent for cell in cells)


def schemas_of(found: Carried, last_calls: Sequence[str] = ()) -> tuple[Schema, ...]:
    """The tools on offer by name, the newest schema's tokens first of all. ``last_calls`` are as for ``profile``."""
    calls = Counter(found.index.calls)
    calls.update(last_calls)
    ours = {offer.cell for offer in found.state.own.offers}
    cells = found.state.cells
    schemas = [
        Schema(
            name,
            cells[numbers[-1]].tokens or cells[numbers[-1]].sent,
            sum(found.sends[cell] for cell in numbers),
            sum(found.sent_turns[cell] for cell in numbers),
            calls[name],
            numbers[-1] in ours,
        )
        for name, numbers in found.index.schemas.items()
    ]
    return tuple(sorted(schemas, key=lambda schema: (-schema.token_turns, schema.name)))
