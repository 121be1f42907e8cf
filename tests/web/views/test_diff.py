"""Diffs: of one request what came against what left, of two what left."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ctxgc.lab.differences import difference
from ctxgc.lab.moments import moment
from ctxgc.store import Store
from ctxgc.web.views import Unknown, diff_document
from ctxgc.web.views.codecs import codec_of
from tests.web.views import shapes
from tests.web.views.journals import collected, compacted, journals, left, moments

NAMES = ("collected", "compacted", "wild1", "winding")


def diff(name: str, turn: int, against: int | None = None, store: Store | None = None) -> shapes.Diff:
    return shapes.typed(diff_document(journals()[name], turn, against, store), shapes.Diff)


@pytest.mark.parametrize("session", [collected, compacted])
def test_one_request_has_the_changes_of_the_lab(session) -> None:
    with session() as (store, log):
        for one in moments(log)[-3:]:
            found = shapes.typed(diff_document(log, one.number, None, store, key=b"k"), shapes.Diff)
            wanted = difference(one, store, codec_of("openai_chat"))
            assert (found.received, found.sent) == (wanted.received, wanted.sent)
            assert (found.messages, found.left_out) == (wanted.messages, wanted.left_out)
            assert [one.cell for one in found.changes] == [one.cell for one in wanted.changes]
            assert [one.lines for one in found.changes] == [
                [tuple(line) for line in one.lines] for one in wanted.changes
            ]
            assert found.changes


@pytest.mark.parametrize("session", [collected, compacted])
def test_without_a_store_the_same_changes_are_told_without_their_lines(session) -> None:
    with session() as (store, log):
        turn = moment(log, -1).number
        whole = shapes.typed(diff_document(log, turn, None, store), shapes.Diff)
        bare = shapes.typed(diff_document(log, turn), shapes.Diff)
    assert {one.lines for one in bare.changes} == {None}
    for one in whole.changes:
        one.lines = None
    assert bare == whole


@pytest.mark.parametrize("name", NAMES)
def test_two_requests_differ_by_what_they_sent(name: str) -> None:
    log = journals()[name]
    some = moments(log)[:: max(len(moments(log)) // 6, 1)]
    for before, after in [*pairwise(some), (some[-1], some[0])]:
        found = diff(name, after.number, before.number)
        old, new = left(before), left(after)
        assert {one.cell: one.tokens for one in found.new} == {cell: new[cell] for cell in new.keys() - old.keys()}
        assert {one.cell: one.tokens for one in found.gone} == {cell: old[cell] for cell in old.keys() - new.keys()}
        resized = {one.cell: (one.before, one.after) for one in found.changed}
        assert {cell: sizes for cell, sizes in resized.items() if sizes[0] != sizes[1]} == {
            cell: (old[cell], new[cell]) for cell in new.keys() & old.keys() if old[cell] != new[cell]
        }
        assert sum(one.after - one.before for one in found.by_tag) == sum(new.values()) - sum(old.values())
        assert (found.sent, found.against) == (sum(new.values()), before.number)


def test_a_request_against_itself_is_no_difference() -> None:
    found = diff("collected", 7, 7)
    assert (found.new, found.gone, found.changed, found.changes) == ([], [], [], [])


def test_changed_cells_show_what_was_sent_then_and_now() -> None:
    with collected() as (store, log):
        last = moment(log, -1).number
        found = shapes.typed(diff_document(log, last, 4, store), shapes.Diff)
        back = shapes.typed(diff_document(log, 4, last, store), shapes.Diff)
    assert [one.cell for one in found.changes] == [one.cell for one in found.changed] != []
    assert any(sign == "-" for one in found.changes for sign, _ in one.lines or ())
    assert {one.cell for one in back.changed} == {one.cell for one in found.changed}
    assert [one.before for one in back.changed] == [one.after for one in found.changed]


@pytest.mark.parametrize(("turn", "against"), [(0, None), (-1, None), (10_000, None), (1, 0), (1, 10_000)])
def test_there_is_no_other_request(turn: int, against: int | None) -> None:
    with pytest.raises(Unknown):
        diff_document(journals()["collected"], turn, against)
