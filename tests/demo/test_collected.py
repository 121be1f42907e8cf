"""Edits of a journal by policy, and which messages each request may change for them."""

from __future__ import annotations

from ctxgc.core.collector import Edit
from ctxgc.core.journal import AnyEntry, Collection
from ctxgc.demo.collected import Edited, edited


def edit(cell: int, policy: str, action: str, before: int, after: int) -> Edit:
    return Edit(cell, policy, action, "why", "text", "handle", before, after)


def collection(generation: str, *edits: Edit) -> Collection:
    return Collection(at=0.0, call=b"c", generation=generation, edits=edits)


JOURNAL: list[AnyEntry] = [
    collection("eden", edit(0, "minify", "minify", 100, 70), edit(1, "minify", "minify", 50, 40)),
    collection("minor", edit(0, "items", "excerpt", 100, 20)),
    collection("major", edit(0, "items", "excerpt", 100, 5), edit(2, "superseded", "stub", 30, 10)),
]


def test_edits_before_sending_come_first_and_each_policy_has_a_row() -> None:
    assert edited(JOURNAL) == (
        Edited(False, "minify", "minify", 2, 150, 110),
        Edited(True, "items", "excerpt", 2, 70 + 20, 20 + 5),
        Edited(True, "superseded", "stub", 1, 30, 10),
    )


def test_savings_add_up_to_what_is_saved_in_the_end() -> None:
    last = {one.cell: one for entry in JOURNAL if isinstance(entry, Collection) for one in entry.edits}
    saved = sum(one.before - one.after for one in last.values())
    assert sum(row.before - row.after for row in edited(JOURNAL)) == saved
    # counting each edit from the original would count the first ones twice
    naive = sum(one.before - one.after for entry in JOURNAL for one in entry.edits)  # type: ignore[union-attr]
    assert naive != saved
