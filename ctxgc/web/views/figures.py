"""The figures of cells, in columns: what each is, what it has cost, what it would free, and what is to be said of it.

Rule: what never changes of a cell is written once; the rest is made anew from the state, a column at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul

from ctxgc.core.block import Kind
from ctxgc.core.heap import Cell
from ctxgc.core.state import State
from ctxgc.core.stub import TOKENS as STUB
from ctxgc.lab.requests import Carried
from ctxgc.session.collecting import YOUNG
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.tags import RECALL
from ctxgc.web.views.plain import plain

GENERATIONS = ("eden", "young", "old", "permanent", "gone")
EDEN, YOUNGER, OLD, PERMANENT, GONE = range(5)
UNIT = 10**15
"""Costs are summed up in whole units of which so many are one: sums do not depend on the order they are made in."""
SYSTEM = "system_prompt"


@dataclass(slots=True)
class Names:
    """Names by number, in the order in which they came, and of each the ``cells`` that have it."""

    names: list[str] = field(default_factory=list)
    cells: list[list[int]] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """The number of a name."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = len(self.names)
            self.names.append(plain(name))
            self.cells.append([])
        return found

    def take(self, first: int, names: Iterable[str]) -> list[int]:
        """The numbers of the names of cells; ``first`` is the id of the first of them."""
        known, cells = self._known, self.cells
        found = [known[name] if name in known else self.number(name) for name in names]
        for cell, number in enumerate(found, first):
            cells[number].append(cell)
        return found


@dataclass(slots=True)
class Fixed:
    """What never changes of cells: by id, numbers of names, and tokens as they came. ``exact`` is whether all were
    counted with the model's own tokenizer; ``permanent`` says of each whether it is a system prompt or a schema."""

    tags: Names = field(default_factory=Names)
    sites: Names = field(default_factory=Names)
    kinds: Names = field(default_factory=Names)
    tag: list[int] = field(default_factory=list)
    site: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    permanent: list[bool] = field(default_factory=list)
    exact: bool = True

    def take(self, cells: Sequence[Cell]) -> None:
        """Take the cells that are new in a session's ``cells``."""
        first = len(self.tokens)
        new = cells[first:]
        self.tokens += [cell.tokens for cell in new]
        self.tag += self.tags.take(first, [cell.tag for cell in new])
        self.site += self.sites.take(first, [TOOL_NAME if cell.tag == RECALL else cell.site for cell in new])
        self.kind += self.kinds.take(first, [cell.kind for cell in new])
        self.turn += [cell.turn for cell in new]
        self.permanent += [cell.tag == SYSTEM or cell.kind is Kind.TOOL_SCHEMA for cell in new]
        self.exact = self.exact and all(cell.exact for cell in new)


@dataclass(frozen=True, slots=True)
class Figures:
    """The columns that change and that are summed up, by cell id; see ``ctxgc.web.views``.

    ``held`` is what is sent of residents, and ``pairs`` are calls with their results, where something of both is: those
    of ``several`` have more than one. ``pointers`` counts, of cells that have any, the residents that are only a
    pointer to it.
    """

    tokens: list[int]
    sent: list[int]
    resident: list[int]
    held: list[int]
    pairs: list[tuple[int, int]]
    several: frozenset[int]
    token_turns: list[int]
    sent_turns: list[int]
    pointers: Mapping[int, int]


def figures(found: Carried, fixed: Fixed, resident: Sequence[int]) -> Figures:
    """Make them. ``resident`` are flags, by cell id."""
    sent = [cell.sent for cell in found.state.cells]
    held = list(map(mul, sent, resident))
    pairs = [pair for pair in found.answers if held[pair[0]] and held[pair[1]]]
    edits = found.state.edits.values()
    return Figures(
        tokens=fixed.tokens,
        sent=sent,
        resident=list(resident),
        held=held,
        pairs=pairs,
        several=_several([call for call, _ in pairs]),
        token_turns=list(map(mul, fixed.tokens, found.times)),
        sent_turns=list(found.sent_turns),
        pointers=Counter(edit.of for edit in edits if edit.of is not None and resident[edit.cell]),
    )


def _several(calls: Sequence[int]) -> frozenset[int]:
    """Those that are there more than once."""
    if len(set(calls)) == len(calls):
        return frozenset()
    return frozenset(call for call, times in Counter(calls).items() if times > 1)


def costs(found: Carried) -> list[float]:
    """By cell, what the tokens that were sent for it have cost."""
    return [spent / UNIT for spent in found.spent]


def retained(made: Figures) -> list[int]:
    """By cell, the tokens that go with it: its own, those of a call's results, those of a result's call that has no
    other one; less the stub that is left."""
    whole, held, several = list(made.held), made.held, made.several
    for call, result in made.pairs:
        whole[call] += held[result]
        if call not in several:
            whole[result] += held[call]
    return [tokens - STUB if tokens > STUB else 0 for tokens in whole]


def generations(
    found: Carried, fixed: Fixed, resident: Sequence[int], pinned: Sequence[int], arrived: Sequence[int]
) -> list[int]:
    """As the collector has them: young up to ``YOUNG`` turns, and eden what is new in the newest request. ``arrived``
    are the numbers of requests by cell id."""
    newest = found.newest()
    number, now = (newest.number, _turn(found.state, newest.head)) if newest else (0, 0)
    oldest = now - YOUNG
    columns = zip(resident, fixed.permanent, pinned, arrived, fixed.turn, strict=True)
    return [
        GONE
        if not here
        else PERMANENT
        if stays or pin
        else EDEN
        if came == number
        else YOUNGER
        if turn >= oldest
        else OLD
        for here, stays, pin, came, turn in columns
    ]


def _turn(state: State, head: int) -> int:
    return state.node(head).turn
