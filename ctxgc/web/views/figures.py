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
from ctxgc.session.recalling import TAG as RECALL
from ctxgc.web.views.plain import plain

GENERATIONS = ("eden", "young", "old", "permanent", "gone")
EDEN, YOUNGER, OLD, PERMANENT, GONE = range(5)
UNIT = 10**15
"""Costs are summed up in whole units of which so many are one: sums do not depend on the order they are made in."""
SYSTEM = "system_prompt"


@dataclass(slots=True)
class Names:
    """Names by number, in the order in which they came; of each, how many ``cells`` have it, and their ``tokens``."""

    names: list[str] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """The number of a name."""
        return self.count(name, 0, 0)

    def count(self, name: str, tokens: int, cells: int = 1) -> int:
        """The number of the name of a cell of so many tokens."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = len(self.names)
            self.names.append(plain(name))
            self.cells.append(0)
            self.tokens.append(0)
        self.cells[found] += cells
        self.tokens[found] += tokens
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
        tags, sites, kinds = self.tags.count, self.sites.count, self.kinds.count
        for cell in cells[len(self.tokens) :]:
            tag, kind, tokens = cell.tag, cell.kind, cell.tokens
            self.tag.append(tags(tag, tokens))
            self.site.append(sites(TOOL_NAME if tag == RECALL else cell.site, tokens))
            self.kind.append(kinds(kind, tokens))
            self.tokens.append(tokens)
            self.turn.append(cell.turn)
            self.permanent.append(tag == SYSTEM or kind is Kind.TOOL_SCHEMA)
            if not cell.exact:
                self.exact = False


@dataclass(frozen=True, slots=True)
class Figures:
    """The columns that change, by cell id; see ``ctxgc.web.views``. ``pointers`` counts, of cells that have any, the
    residents that are only a pointer to it."""

    sent: list[int]
    resident: list[int]
    retained: list[int]
    token_turns: list[int]
    sent_turns: list[int]
    cost: list[float]
    pinned: list[int]
    generation: list[int]
    pointers: Mapping[int, int]


def figures(found: Carried, fixed: Fixed, resident: Sequence[int], arrived: Sequence[int]) -> Figures:
    """Make them. ``resident`` are flags, and ``arrived`` the numbers of requests, by cell id."""
    state = found.state
    sent = [cell.sent for cell in state.cells]
    held = list(map(mul, sent, resident))
    pinned = [1 if cell.pinned else 0 for cell in state.cells]
    edits = state.edits.values()
    return Figures(
        sent=sent,
        resident=list(resident),
        retained=_retained(held, found.answers),
        token_turns=list(map(mul, fixed.tokens, found.times)),
        sent_turns=list(found.sent_turns),
        cost=[spent / UNIT for spent in found.spent],
        pinned=pinned,
        generation=_generations(found, fixed, resident, pinned, arrived),
        pointers=Counter(edit.of for edit in edits if edit.of is not None and resident[edit.cell]),
    )


def _retained(held: Sequence[int], answers: Iterable[tuple[int, int]]) -> list[int]:
    """By cell, the tokens that go with it: its own, those of a call's results, those of a result's call that has no
    other one; less the stub that is left."""
    whole = list(held)
    pairs = [(call, result) for call, result in answers if held[call] and held[result]]
    results = Counter(call for call, _ in pairs)
    for call, result in pairs:
        whole[call] += held[result]
        whole[result] += held[call] if results[call] == 1 else 0
    return [tokens - STUB if tokens > STUB else 0 for tokens in whole]


def _generations(
    found: Carried, fixed: Fixed, resident: Sequence[int], pinned: Sequence[int], arrived: Sequence[int]
) -> list[int]:
    """As the collector has them: young up to ``YOUNG`` turns, and eden what is new in the newest request."""
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
