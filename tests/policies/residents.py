"""Cells that were sent before, to try policies on: sizes and turns that are easy to follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.core.block import Kind
from ctxgc.core.heap import Arrival, Heap, Resident
from ctxgc.core.policy import Policy, Verdict
from tests.heaps import count

NOW = 20


def resident(
    cell: int = 0,
    *,
    turn: int = 5,
    referenced: int | None = None,
    tokens: int = 1000,
    sent: int | None = None,
    tool: str = "search",
    kind: Kind = Kind.TOOL_RESULT,
    pinned: bool = False,
    references: int = 0,
    marks: tuple[int, ...] = (),
    stale: str = "",
    overcome: bool = False,
    quotable: bool = False,
    resurrected: int = 0,
    edited: str = "",
    points: bool = False,
) -> Resident:
    return Resident(
        id=cell,
        position=cell,
        kind=kind,
        tag=f"tool_result:{tool}",
        site=f'{tool}({{"q":{cell}}})',
        tokens=tokens,
        sent=tokens if sent is None else sent,
        turn=turn,
        pinned=pinned,
        referenced=turn if referenced is None else referenced,
        references=references,
        marks=marks,
        stale=stale,
        overcome=overcome,
        quotable=quotable,
        resurrected=resurrected,
        edited=edited,
        points=points,
    )


def heap(*residents: Resident, now: int = NOW, surplus: int = 0, eden: Iterable[Arrival] = ()) -> Heap:
    return Heap(tuple(eden), count, lambda _: None, now, stub.TOKENS, residents, surplus)


def proposed(policy: Policy, found: Heap) -> list[Verdict]:
    return list(policy.propose(found))


def cells(policy: Policy, found: Heap) -> list[int]:
    """The ids of the cells that a policy names."""
    return [verdict.cell for verdict in policy.propose(found)]


def lifetime(policy: Policy, one: Resident, until: int = 40) -> list[int]:
    """The turns at which a policy holds a cell to be dead, from the one after it arrived."""
    return [now for now in range(one.turn + 1, until) if cells(policy, heap(one, now=now))]


def residents() -> st.SearchStrategy[list[Resident]]:
    """Up to eight cells of any kind, size, age and history."""
    return st.lists(_properties(), max_size=8).map(
        lambda found: [resident(cell, **each) for cell, each in enumerate(found)]  # type: ignore[arg-type]
    )


def _properties() -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {
            "turn": st.integers(0, 10),
            "referenced": st.integers(10, NOW - 1),
            "tokens": st.integers(0, 5000),
            "sent": st.integers(0, 5000),
            "tool": st.sampled_from(("search", "read_file", "")),
            "kind": st.sampled_from((Kind.TOOL_RESULT, Kind.TOOL_RESULT, Kind.THINKING, Kind.TEXT, Kind.TOOL_CALL)),
            "pinned": st.booleans(),
            "references": st.integers(0, 3),
            "marks": st.lists(st.integers(0, 100), max_size=3).map(tuple),
            "stale": st.sampled_from(("", "read again in turn 7")),
            "overcome": st.booleans(),
            "quotable": st.booleans(),
            "resurrected": st.integers(0, 30),
            "points": st.booleans(),
        }
    )


@dataclass(frozen=True, slots=True)
class Careless:
    """A policy that names every cell there is, at once: what the checks must notice."""

    @property
    def name(self) -> str:
        return "careless"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return [Verdict(one.id, self.name, "stub", "all of them", excerpt=0.0) for one in heap.residents]


@dataclass(frozen=True, slots=True)
class Ahead:
    """A policy that calls dead what will be so tomorrow, and has it go now."""

    @property
    def name(self) -> str:
        return "generational"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return [
            Verdict(one.id, self.name, "stub", "soon", excerpt=0.0, since=heap.turn + 1, urgency="now")
            for one in heap.residents
        ]
