"""One cell: what keeps it alive, why it was sent as it was, and its texts, whatever they hold."""

from __future__ import annotations

import json

import pytest

from ctxgc.web.views import SessionView, Unknown, cell_document
from ctxgc.web.views.plain import LIMIT, cut, lines, plain
from tests.lab.collected import KEY, collecting_kit, entries, run
from tests.session.scripts import memory, system, user
from tests.web.views import shapes
from tests.web.views.journals import collected, compacted, journals, view_of

SURROGATE = "\ud800"


def one(name: str, number: int) -> shapes.Cell:
    return shapes.typed(view_of(journals()[name]).cell(number), shapes.Cell)


def verdicts(view: SessionView) -> dict[int, str]:
    found = shapes.typed(view.cells(), shapes.Cells)
    return {cell: found.verdicts[found.columns.verdict[cell]] for cell in found.columns.id}


@pytest.mark.parametrize("name", ["collected", "compacted", "wild1", "winding"])
def test_every_cell_has_a_document_of_its_row(name: str) -> None:
    view = view_of(journals()[name])
    whole = shapes.typed(view.cells(), shapes.Cells)
    for number in whole.columns.id:
        found = shapes.typed(view.cell(number), shapes.Cell)
        assert (found.cell.id, found.cell.tokens) == (number, whole.columns.tokens[number])
        assert found.cell.verdict == whole.verdicts[whole.columns.verdict[number]]
        assert (found.text, found.sent_text) == (None, None)
        assert found.why
        assert found.explained.endswith(".")


def test_there_is_no_other_cell() -> None:
    view = view_of(journals()["collected"])
    for number in (-1, len(view.state.cells)):
        with pytest.raises(Unknown):
            view.cell(number)


def test_the_same_is_made_of_entries_alone() -> None:
    found = cell_document(journals()["collected"], 3, key=KEY)
    assert {**found, "cell": 0} == {**view_of(journals()["collected"]).cell(3), "cell": 0}


def test_what_refers_to_a_cell_keeps_it_alive_and_is_named_with_its_evidence() -> None:
    view = view_of(journals()["collected"])
    target = next(iter(view.state.marks))
    found = shapes.typed(view.cell(target), shapes.Cell)
    assert [one.cell for one in found.kept_by][-8:] == list(view.state.marks[target].by)
    assert all(one.evidence for one in found.kept_by)
    assert any(f"by c{found.kept_by[-1].cell}" in why for why in found.why)
    source = shapes.typed(view.cell(found.kept_by[-1].cell), shapes.Cell)
    assert target in [one.cell for one in source.refers_to]


def test_a_call_and_its_result_are_partners_and_a_pointer_is_told_of() -> None:
    view = view_of(journals()["collected"])
    call, result = view.walk.answers[0]
    assert (one("collected", call).partner, one("collected", result).partner) == (result, call)
    of = next(edit.of for edit in view.state.edits.values() if edit.of is not None)
    assert any("would point at nothing" in why for why in one("collected", of).why)
    assert not any("would point at nothing" in why for why in one("collected", call).why)


def test_what_is_left_out_says_where_it_stands() -> None:
    view = view_of(journals()["compacted"])
    number = next(cell for cell, words in verdicts(view).items() if words.startswith("left out"))
    found = shapes.typed(view.cell(number), shapes.Cell)
    assert found.why == ["Nothing: the newest request does not carry it."]
    assert found.explained.startswith("It is not sent: record ")


def test_texts_are_the_original_and_what_is_sent_for_it() -> None:
    with collected() as (store, log):
        view = view_of(log)
        number, edit = next(iter(view.state.edits.items()))
        found = shapes.typed(view.cell(number, store), shapes.Cell)
        assert found.sent_text == edit.text != found.text
        assert found.edit is not None
        assert found.edit.policy == edit.policy
        plainly = next(cell for cell in range(1, 9) if cell not in view.state.edits)
        same = shapes.typed(view.cell(plainly, store), shapes.Cell)
        assert same.text == same.sent_text


def test_a_record_has_its_own_text_and_what_it_stands_for_is_sent_as_nothing() -> None:
    with compacted() as (store, log):
        view = view_of(log)
        record = next(iter(view.state.records))
        assert shapes.typed(view.cell(record, store), shapes.Cell).text
        left_out = next(cell for cell, words in verdicts(view).items() if words.startswith("left out"))
        out = shapes.typed(view.cell(left_out, store), shapes.Cell)
        assert out.sent_text == ""
        assert out.text


def test_texts_that_no_encoder_takes_and_endless_ones_are_shown_all_the_same() -> None:
    hostile = f"<script>{SURROGATE}\x00\x1b[31m</script>" + "x" * (LIMIT + 7)
    text = json.dumps({"model": "gpt-5", "messages": [system(), user(hostile)]}).encode()
    with memory() as store:
        run(collecting_kit(store), [text])
        view = view_of(entries(store))
        found = shapes.typed(view.cell(1, store), shapes.Cell)
    assert found.text is not None
    assert found.text.startswith("<script>\ufffd\x00\x1b[31m</script>xxx")
    assert (len(found.text), found.cut) == (LIMIT, True)


def test_plain_changes_nothing_but_lone_surrogates() -> None:
    assert plain("a\x00\u2028\U0001f600é") == "a\x00\u2028\U0001f600é"
    assert plain(f"a{SURROGATE}b\udfff") == "a\ufffdb\ufffd"
    with pytest.raises(UnicodeEncodeError):
        f"a{SURROGATE}b".encode()


def test_what_is_cut_says_so() -> None:
    assert cut("x" * LIMIT) == ("x" * LIMIT, False)
    assert cut("x" * (LIMIT + 1)) == ("x" * LIMIT, True)
    many = lines([("-", "y" * LIMIT), ("+", "z"), ("+", "z"), ("+", "z")])
    assert many[-1] == [" ", "(3 more lines are not shown)"]
    assert lines([("-", "a"), ("+", "b")]) == [["-", "a"], ["+", "b"]]
