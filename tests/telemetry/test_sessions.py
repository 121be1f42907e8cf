"""Real sessions, observed: the figures are what the stored journal says."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given

from ctxgc.core.journal import Allocation, AnyEntry, Collection, decode
from ctxgc.core.state import State
from ctxgc.store import Store
from tests.session.scripts import KEY, Script, body, drive, exchange, kit, memory, scripts, system, user

from .helpers import count, new_figures


def journal(store: Store) -> list[AnyEntry]:
    return [decode(stored.body) for stored in store.entries(KEY)]


def requests(entries: list[AnyEntry]) -> Iterator[tuple[int, int]]:
    """Tokens received and sent per request, by adding up the cells of its path after its own collection."""
    state = State()
    for at, entry in enumerate(entries):
        state.apply(entry)
        asked = entry if isinstance(entry, Allocation) else None
        after = entries[at + 1] if asked and at + 1 < len(entries) else None
        if asked and not isinstance(after, Collection):
            yield size(state, asked)
        if isinstance(entry, Collection):
            yield size(state, entries[at - 1])


def size(state: State, entry: AnyEntry) -> tuple[int, int]:
    assert isinstance(entry, Allocation)
    numbers = [number for node in state.path(entry.head) for number in node.cells]
    cells = [state.cells[number] for number in (*numbers, *state.toolset(entry.toolset).cells)]
    return sum(cell.tokens for cell in cells), sum(cell.sent for cell in cells)


@given(scripts())
def test_context_and_collections_are_what_the_journal_says(script: Script):
    figures = new_figures()
    with memory() as store:
        drive(script, kit(store, observe=figures.observe))
        entries = journal(store)
    sizes = list(requests(entries))
    assert count(figures, "ctxgc_audit_entries_total") == len(entries)
    assert count(figures, "ctxgc_context_tokens_total", stage="received") == sum(received for received, _ in sizes)
    assert count(figures, "ctxgc_context_tokens_total", stage="forwarded") == sum(sent for _, sent in sizes)
    edits = [edit for entry in entries if isinstance(entry, Collection) for edit in entry.edits]
    assert count(figures, "ctxgc_collected_tokens_total") == sum(max(edit.before - edit.after, 0) for edit in edits)
    assert count(figures, "ctxgc_collected_tokens_total", action="other") == 0
    assert count(figures, "ctxgc_collections_total") == len(sizes)


def test_a_long_result_is_forwarded_shorter_than_it_came():
    figures = new_figures()
    with memory() as store:
        drive([body([system(), user(), *exchange(1)])], kit(store, observe=figures.observe))
    came = count(figures, "ctxgc_context_tokens_total", tag="tool_result", source="search", stage="received")
    left = count(figures, "ctxgc_context_tokens_total", tag="tool_result", source="search", stage="forwarded")
    assert 0 < left < came
    assert came - left == count(figures, "ctxgc_collected_tokens_total", source="search", action="truncate")
