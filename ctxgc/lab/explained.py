"""Why each cell of a request is as it is: its verdict, its references, and for candidates what they wait for.

Rule: what went is told by the journal, what did not by the plan that was made again; where the two disagree, the
explanation says so and neither is bent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.heap import Cell
from ctxgc.core.nodes import Marks
from ctxgc.core.state import EDEN
from ctxgc.core.stub import SIGIL
from ctxgc.lab.compactions import Part, parts
from ctxgc.lab.index import OURS
from ctxgc.lab.links import Links, Reference
from ctxgc.lab.moments import Moment
from ctxgc.lab.plans import Offer, Rebuilt
from ctxgc.session.collecting import YOUNG

VERDICTS = ("kept", "pinned", "waits", "eden edit", "shortened", "collected", "left out")
"""As it came and not asked for; never to be touched; a policy would have it go; edited before it was ever sent; an
excerpt of it is left; nothing or only a stub is left; a record stands for it and for others."""


@dataclass(frozen=True, slots=True)
class Line:
    """One cell in a request. ``message`` counts the messages that came from 1 (0: the tool list); what is ours behind a
    message has its number, and its tag for a role.

    ``tokens`` are as it came and ``sent`` as it is sent: nothing of what a record stands for. ``arrived`` is the number
    of the request that brought it, ``age`` in replies of the agent since, ``generation`` eden (new in this request),
    young or old. ``references`` counts the turns that referred to it, ``into`` are these references and ``out`` its
    own. ``stale`` says what it is out of date by. ``edit`` is what stands for it, and ``offer`` the plan for it, if
    there are any.
    """

    cell: int
    message: int
    role: str
    kind: str
    tag: str
    site: str
    tokens: int
    sent: int
    arrived: int
    age: int
    generation: str
    verdict: str
    why: str
    stale: str
    references: int
    into: tuple[Reference, ...]
    out: tuple[Reference, ...]
    edit: Edit | None
    offer: Offer | None


def explained(moment: Moment, rebuilt: Rebuilt, unit: str = "") -> tuple[Line, ...]:
    """A line for each cell of a request, the tool list first, then as the model reads them.

    ``unit`` is written behind amounts in the tariff's unit.
    """
    return tuple(_Explaining(moment, rebuilt, unit).lines())


class _Explaining:
    """What all lines of one request need."""

    def __init__(self, moment: Moment, rebuilt: Rebuilt, unit: str) -> None:
        self._moment, self._rebuilt, self._unit = moment, rebuilt, f" {unit}".rstrip()
        self._state, self._links = rebuilt.state, Links(moment)
        self._offers: Mapping[int, Offer] = {offer.candidate.edit.cell: offer for offer in rebuilt.offers}
        self._now = self._state.node(moment.entry.head).turn

    def lines(self) -> Iterator[Line]:
        entry, state = self._moment.entry, self._state
        offer = state.node(entry.head).offer if entry.offered else -1
        for cell in (*state.toolset(entry.toolset).cells, *((state.own.offers[offer].cell,) if offer >= 0 else ())):
            yield self._line(state.cells[cell], 0, "tools")
        for part in parts(state, entry.head):
            yield from (self._of(state.cells[cell], part) for cell in part.cells)

    def _of(self, cell: Cell, part: Part) -> Line:
        line = self._line(cell, part.node.depth + 1, cell.tag if part.own else part.node.role)
        return replace(line, sent=0, verdict="left out", why=self._stands()) if part.out else line

    def _stands(self) -> str:
        """Where what is left out of the request stands, and since when."""
        made = self._state.node(self._moment.entry.head).compacted
        turn, handle = self._links.compacted[made.upto] if made else (0, "")
        return f"stands in record {handle} since turn {turn}"

    def _line(self, cell: Cell, message: int, role: str) -> Line:
        arrived, age = self._links.arrived(cell.id), max(self._now - cell.turn, 0)
        new = arrived == self._moment.number
        verdict, why = self._verdict(cell, role, new=new)
        return Line(
            cell=cell.id,
            message=message,
            role=role,
            kind=str(cell.kind),
            tag=cell.tag,
            site=cell.site,
            tokens=cell.tokens,
            sent=cell.sent,
            arrived=arrived,
            age=age,
            generation=EDEN if new else "young" if age <= YOUNG else "old",
            verdict=verdict,
            why=why,
            stale=self._stale(cell.id),
            references=self._state.marks.get(cell.id, Marks()).count,
            into=self._links.into(self._state, cell.id),
            out=self._links.out(self._state, cell.id),
            edit=self._state.edits.get(cell.id),
            offer=self._offers.get(cell.id),
        )

    def _verdict(self, cell: Cell, role: str, *, new: bool) -> tuple[str, str]:
        edit, offer = self._state.edits.get(cell.id), self._offers.get(cell.id)
        if edit is not None:
            return self._edited(edit, offer)
        if role in OURS:
            return "kept", OURS[role]
        if cell.pinned:
            tools = cell.kind is Kind.TOOL_SCHEMA
            return "pinned", "tool lists are sent as they come" if tools else "states a constraint, or was pinned"
        if offer is not None:
            return "waits", self._waiting(offer)
        if cell.id in self._rebuilt.reprieves:
            return "kept", self._rebuilt.reprieves[cell.id]
        if cell.kind not in (Kind.TOOL_RESULT, Kind.THINKING):
            return "kept", "only results and reasoning are collected"
        return "kept", "new in this request" if new else "no policy would have it go"

    def _edited(self, edit: Edit, offer: Offer | None) -> tuple[str, str]:
        turn, generation = self._links.edited[edit.cell]
        bare = not edit.text.strip() or (edit.text.startswith(SIGIL) and "\n" not in edit.text.rstrip("\n"))
        verdict = "eden edit" if generation == EDEN else "collected" if bare else "shortened"
        pace, here = self._moment.entry.pace, turn == self._moment.number and generation != EDEN
        trigger = f" ({pace.trigger})" if here and pace and pace.trigger else ""
        further = "" if here or offer is None else f"; {self._waiting(offer)}"
        return verdict, f"in turn {turn}{trigger} by {edit.policy}, {edit.action}: {edit.reason}{further}"

    def _waiting(self, offer: Offer) -> str:
        """What a candidate that was not collected waits for."""
        edit, due = offer.candidate.edit, max(self._rebuilt.now.turn - offer.load.since, 0)
        asked = (
            f"{edit.policy} would have it go ({edit.reason}): due for {due} turns, saves {offer.load.saved:,} tokens"
        )
        return f"{asked}; {self._obstacle(offer)}"

    def _obstacle(self, offer: Offer) -> str:
        """The first condition of the pacer that was not met, as ``Pacer.decide`` has them."""
        one, now = offer.figures, self._rebuilt.now
        if offer.taken:
            return "the journal does not say that it went"
        if self._rebuilt.compaction is not None:
            return "a span was left out instead"
        if offer.needed:
            return "a new message of this request needs it"
        if one is None:
            return "goes only to make room, and there is enough"
        if self._rebuilt.tariff.binds_thinking:
            return "the model's thinking is bound to what stands before it"
        if one.rent < self._rebuilt.pacer.patience * one.price:
            rent, price = self._amount(one.rent), self._amount(one.price)
            return f"waits since rent {rent} < {self._rebuilt.pacer.patience:g} of price {price}"
        if not self._rebuilt.pacer.pays(one, self._rebuilt.tariff, now):
            return f"waits since price {self._amount(one.price)} is more than the session may risk now"
        return "waits since another cut pays more, or too little would be left to be cached"

    def _amount(self, amount: float) -> str:
        return f"{amount:,.4f}{self._unit}" if self._unit else f"{amount:,.0f}"

    def _stale(self, cell: int) -> str:
        gone = self._state.overwritten.get(cell)
        if gone is None:
            return ""
        by = self._state.cells[gone.by]
        why = "a failure that was overcome" if gone.overcome else gone.why
        return f"{why} (turn {self._links.arrived(gone.by)} {by.tag})"
