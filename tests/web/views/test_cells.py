"""Cells: what each is, what it would free, how it stands, and the rows that sum them up."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import msgspec
import pytest

from ctxgc.core.block import Kind
from ctxgc.core.journal import Allocation, Collection, Marking
from ctxgc.core.stub import TOKENS as STUB
from ctxgc.lab.profile import profile
from ctxgc.web.views.figures import GENERATIONS
from tests.lab.build import body, call, recorded, result, system, user
from tests.web.views import shapes
from tests.web.views.journals import journals, left, moments, view_of

NAMES = ("collected", "compacted", "wild1", "wild2", "winding")


def cells(name: str) -> shapes.Cells:
    return shapes.typed(view_of(journals()[name]).cells(), shapes.Cells)


def newest(name: str) -> Any:
    """The newest request of the main history."""
    found = moments(journals()[name])
    return next((one for one in reversed(found) if one.entry.continues), found[-1])


@pytest.mark.parametrize("name", NAMES)
def test_resident_is_what_the_newest_request_sent(name: str) -> None:
    columns = cells(name).columns
    resident = {cell for cell, here in zip(columns.id, columns.resident, strict=True) if here}
    assert resident == set(left(newest(name)))


@pytest.mark.parametrize("name", NAMES)
def test_residents_are_the_same_when_they_are_kept_up_to_date(name: str) -> None:
    view = view_of(())
    for entry in journals()[name]:
        view.take(entry)
        view.cells()
    assert view.cells()["columns"] == view_of(journals()[name]).cells()["columns"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_profile(name: str) -> None:
    summary = shapes.typed(view_of(journals()[name]).summary(), shapes.Summary)
    found = profile(journals()[name])
    for rows, wanted in ((summary.by_tag, found.tags), (summary.by_site, found.sites)):
        assert [shapes.msgspec.structs.asdict(row) for row in rows] == [
            {**asdict(row), "resent": row.resent} for row in wanted[:300]
        ]


def test_a_result_keeps_its_call_only_if_that_has_no_other() -> None:
    long = "word " * 200
    alone = [system(), user("go"), call("read", "1", path="a"), result("1", long), user("next")]
    columns = shapes.typed(view_of(recorded([body(alone)])[1]).cells(), shapes.Cells).columns
    of = {
        kind: at
        for at, kind in enumerate(shapes.typed(view_of(recorded([body(alone)])[1]).cells(), shapes.Cells).kinds)
    }
    calls = columns.kind.index(of["tool_call"])
    results = columns.kind.index(of["tool_result"])
    both = columns.sent[calls] + columns.sent[results] - STUB
    assert columns.retained[results] == columns.retained[calls] == both
    pair = {**call("read", "1", path="a")}
    twice = [system(), user("go"), pair, result("1", long), result("1", long), user("next")]
    columns = shapes.typed(view_of(recorded([body(twice)])[1]).cells(), shapes.Cells).columns
    sizes = [columns.sent[at] for at in columns.id if columns.kind[at] == of["tool_result"]]
    found = [columns.retained[at] for at in columns.id if columns.kind[at] == of["tool_result"]]
    assert found == [size - STUB for size in sizes]
    assert columns.retained[calls] == columns.sent[calls] + sum(sizes) - STUB


def test_what_is_not_resident_retains_nothing_and_is_gone() -> None:
    found = cells("wild1")
    for at, here in enumerate(found.columns.resident):
        gone = found.generations[found.columns.generation[at]] == "gone"
        assert gone != here
        assert here or found.columns.retained[at] == 0


def test_generations_are_by_age_and_what_never_goes_is_permanent() -> None:
    found, view = cells("collected"), view_of(journals()["collected"])
    last, state = newest("collected"), view.state
    now = state.node(last.entry.head).turn
    for cell in state.cells:
        at = found.columns
        if not at.resident[cell.id]:
            wanted = "gone"
        elif cell.pinned or cell.tag == "system_prompt" or cell.kind is Kind.TOOL_SCHEMA:
            wanted = "permanent"
        elif at.turn[cell.id] == last.number:
            wanted = "eden"
        else:
            wanted = "young" if now - cell.turn <= 8 else "old"
        assert GENERATIONS[at.generation[cell.id]] == wanted
    assert {GENERATIONS[one] for one in found.columns.generation} >= {"eden", "young", "old", "permanent"}


def test_references_are_what_the_markings_say() -> None:
    entries = journals()["collected"]
    found = cells("collected")
    edges = [edge for entry in entries if isinstance(entry, Marking) for edge in entry.edges]
    assert edges
    for cell, sources in found.kept_by.items():
        own = [edge.source for edge in edges if edge.target == int(cell)]
        assert [source for source, _ in sources] == own[-20:]
        assert [request for _, request in sources] == [found.columns.turn[source] for source, _ in sources]
        assert found.columns.referenced[int(cell)] == max(found.columns.turn[source] for source in own)
    state = view_of(entries).state
    assert {int(cell) for cell in found.kept_by} == set(state.marks)
    assert all(found.columns.references[cell] == mark.count for cell, mark in state.marks.items())


def test_verdicts_say_what_was_done() -> None:
    found, state = cells("collected"), view_of(journals()["collected"]).state
    said = {cell: found.verdicts[found.columns.verdict[cell]] for cell in found.columns.id}
    pointers = {cell: edit.of for cell, edit in state.edits.items() if edit.of is not None}
    assert pointers
    assert all(said[cell] == f"pointer to c{of} (dedup)" for cell, of in pointers.items())
    assert "excerpt (idle)" in said.values()
    shown = [msgspec.structs.replace(one, edits=tuple(replace(edit, text="") for edit in one.edits))
             if isinstance(one, Collection) else one for one in journals()["collected"]]  # fmt: skip
    assert view_of(shown).cells()["verdicts"] == found.verdicts, "a report without texts says the same"
    assert {said[cell] for cell in found.columns.id if cell not in state.edits} == {"sent", "sent: pinned"}


def test_what_a_record_stands_for_is_left_out() -> None:
    view = view_of(journals()["compacted"])
    found = shapes.typed(view.cells(), shapes.Cells)
    out = [at for at, verdict in enumerate(found.columns.verdict) if found.verdicts[verdict].startswith("left out")]
    assert set(out) == view.residents.out != frozenset()
    assert not any(found.columns.resident[at] for at in out)


def test_handles_are_those_of_the_newest_edits() -> None:
    entries = journals()["collected"]
    wanted = {edit.cell: edit.handle for one in entries if isinstance(one, Collection) for edit in one.edits}
    found = cells("collected").columns.handle
    assert {cell: handle for cell, handle in enumerate(found) if handle} == wanted


def test_tools_say_how_often_they_were_called_and_when_last() -> None:
    entries = journals()["wild1"]
    summary = shapes.typed(view_of(entries).summary(), shapes.Summary)
    calls, last = Counter[str](), dict[str, int]()
    requests = [one for one in entries if isinstance(one, Allocation)]
    for number, entry in enumerate(requests, 1):
        for cell in (cell for node in entry.nodes for cell in node.cells if cell.block == "tool_call"):
            tool = cell.site.partition("(")[0]
            calls[tool], last[tool] = calls[tool] + 1, number
    assert calls
    for tool in summary.tools:
        assert (tool.calls, tool.last_call) == (calls[tool.name], last.get(tool.name, 0))
    assert {tool.name for tool in summary.tools} >= set(calls)
