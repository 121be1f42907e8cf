from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.core.block import Author, Kind
from ctxgc.core.collector import Edit, collect_eden
from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.journal import Collection, decode, encode
from ctxgc.core.policy import Verdict
from tests.heaps import arrival, collect, count, heap, mint
from tests.strategies import broken_texts, texts

LINES = "".join(f"line {number}\n" for number in range(1, 101))
ECHO = stub.gap(mint(b"other"), "lines", 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Says:
    """A policy that says what it was told to say."""

    verdicts: Sequence[Verdict]
    name: str = "says"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return self.verdicts


def keep(*spans: tuple[int, int], cell: int = 0, **more: object) -> Says:
    return Says([Verdict(cell, "says", "cut", "too long", keep=spans, **more)])  # type: ignore[arg-type]


def text(value: str, cell: int = 0) -> Says:
    return Says([Verdict(cell, "says", "rewrite", "shorter", text=value)])


def of(earlier: int, cell: int = 0) -> Says:
    return Says([Verdict(cell, "says", "dedup", "same", of=earlier)])


def test_without_policies_nothing_is_touched() -> None:
    assert collect(heap(arrival(LINES + ECHO))) == ()


def test_a_cut_leaves_a_stub_between_what_is_kept() -> None:
    found = arrival(LINES)
    (edit,) = collect(heap(found), keep((0, 7), (len(LINES) - 9, len(LINES)), gaps=((2, 99),), total=100))
    handle = mint(found.content)
    assert edit.text == f"line 1\n[ctxgc:{handle} lines 2-99 of 100 not shown]\nline 100\n"
    assert (edit.cell, edit.policy, edit.action, edit.reason, edit.of) == (0, "says", "cut", "too long", None)
    assert (edit.before, edit.after, edit.handle) == (count(LINES), count(edit.text), handle)


def test_gaps_are_counted_where_something_is_left_out_only() -> None:
    (edit,) = collect(heap(arrival(LINES)), keep((0, 7), (7, 14), gaps=((3, 100),), total=100))
    assert edit.text.startswith("line 1\nline 2\n[ctxgc:")
    assert "lines 3-100 of 100" in edit.text


@pytest.mark.parametrize("gaps", [(), ((0, 3),), ((3, 2),), ((1, 10**6),), ((-5, -1),)])
def test_gaps_that_make_no_sense_are_counted_in_characters(gaps: tuple[tuple[int, int], ...]) -> None:
    (edit,) = collect(heap(arrival(LINES)), keep((0, 7), gaps=gaps, total=100))
    assert f"characters 8-{len(LINES)} of {len(LINES)}" in edit.text


def test_a_cut_inside_a_line_gets_a_line_of_its_own() -> None:
    (edit,) = collect(heap(arrival("x" * 500)), keep((0, 5), (495, 500)))
    assert edit.text.split("\n")[0::2] == ["xxxxx", "xxxxx"]


def test_a_rewritten_text_says_so_at_its_end() -> None:
    found = arrival(LINES)
    (edit,) = collect(heap(found), text("all lines"))
    assert edit.text == f"all lines\n[ctxgc:{mint(found.content)} shorter]"


def test_an_identical_result_becomes_a_pointer() -> None:
    (edit,) = collect(heap(arrival(LINES, cell=5), same=lambda _: 2), of(2, cell=5))
    assert edit.of == 2
    assert edit.text.endswith("unchanged: same output as the earlier call 2]")


@pytest.mark.parametrize("earlier", [0, 1, 3, 10**9, -1])
def test_a_pointer_to_anything_but_the_identical_result_is_ignored(earlier: int) -> None:
    assert collect(heap(arrival(LINES), same=lambda _: 2), of(earlier)) == ()


def test_each_policy_sees_what_the_ones_before_it_made() -> None:
    (edit,) = collect(heap(arrival("x" * 4000)), text("y" * 2000), keep((0, 4)))
    assert edit.text.startswith("yyyy\n[ctxgc:")
    assert (edit.action, edit.reason) == ("rewrite+cut", "shorter; too long")


def test_a_cut_text_is_not_cut_again() -> None:
    assert collect(heap(arrival(LINES)), keep((0, 7)), text("x")) == collect(heap(arrival(LINES)), keep((0, 7)))


def test_what_does_not_pay_does_not_undo_what_did() -> None:
    dear = Says([Verdict(0, "dear", "grow", "longer", text="z" * 9000)])
    assert collect(heap(arrival(LINES)), text("all lines"), dear) == collect(heap(arrival(LINES)), text("all lines"))


def test_a_stub_longer_than_what_it_replaces_is_not_made() -> None:
    assert collect(heap(arrival(LINES)), keep((0, 100), (140, len(LINES)))) == ()


def test_an_echo_of_a_stub_is_defused_whatever_the_policies_say() -> None:
    for policy in (Says([]), text(""), text("z" * 9000), text("\ud800")):
        (edit,) = collect(heap(arrival(ECHO)), policy)
        assert (edit.text, edit.action) == (f"[quoted {ECHO[1:]}", "defuse")


def test_a_text_that_a_policy_makes_is_defused_too() -> None:
    (edit,) = collect(heap(found := arrival(LINES)), text(ECHO))
    assert stub.handles(edit.text) == (mint(found.content),)


def test_words_of_a_policy_cannot_forge_a_stub() -> None:
    verdicts = [
        Verdict(0, "p", "a", ECHO, text="x"),
        Verdict(1, "p", "a", "cut", keep=((0, 7),), gaps=((2, 9),), total=9, unit=ECHO),
    ]
    eden = (arrival(LINES), arrival(LINES + "x", cell=1))
    edits = collect(heap(*eden), Says(verdicts))
    assert [stub.handles(edit.text) for edit in edits] == [(mint(found.content),) for found in eden]


def test_a_name_does_not_buy_a_policy_a_longer_text() -> None:
    assert collect(heap(arrival("x")), Says([Verdict(0, "collector", "defuse", "", text="y" * 50)])) == ()


@pytest.mark.parametrize(
    "found",
    [
        arrival(LINES, pinned=True),
        arrival(LINES, kind=Kind.TEXT),
        arrival(LINES, author=Author.USER),
        arrival(LINES, kind=Kind.TOOL_CALL, author=Author.AGENT),
    ],
)
def test_what_is_pinned_or_no_tool_result_stays(found: Arrival) -> None:
    assert collect(heap(found), keep((0, 7)), text("x")) == ()


@given(broken_texts())
def test_texts_with_lone_surrogates_stay(found: str) -> None:
    assert collect(heap(arrival(found * 50)), keep((0, 1)), text("x")) == ()


def test_a_policy_that_raises_is_for_the_caller_to_handle() -> None:
    class Broken:
        name = "broken"

        def propose(self, heap: Heap) -> Iterable[Verdict]:
            raise LookupError

    with pytest.raises(LookupError):
        collect(heap(arrival(LINES)), Broken())


def anything() -> st.SearchStrategy[Verdict]:
    """Verdicts of a policy that is broken or hostile."""
    number = st.integers(-5, 400)
    words = st.one_of(texts(12), broken_texts(), st.just(ECHO))
    pairs = st.lists(st.tuples(number, number), max_size=3).map(tuple)
    ordered = st.lists(number, max_size=6).map(sorted).map(lambda at: tuple(zip(at[::2], at[1::2], strict=False)))
    return st.builds(
        Verdict,
        st.integers(-1, 5),
        words,
        words,
        words,
        keep=st.one_of(pairs, ordered),
        text=st.one_of(st.none(), st.none(), words, st.just("z" * 9000)),
        of=st.one_of(st.none(), st.none(), number),
        unit=words,
        gaps=st.one_of(pairs, ordered),
        total=number,
    )


def arrivals() -> st.SearchStrategy[list[Arrival]]:
    content = st.one_of(
        texts(), texts().map(lambda found: found * 40), broken_texts(), st.just(LINES), st.just(LINES + ECHO)
    )
    flags = st.tuples(content, st.booleans(), st.sampled_from((Kind.TOOL_RESULT, Kind.TOOL_RESULT, Kind.TEXT)))
    made = st.lists(flags, max_size=4)
    return made.map(
        lambda found: [arrival(one, cell=n, pinned=pin, kind=kind) for n, (one, pin, kind) in enumerate(found)]
    )


def faults(eden: Sequence[Arrival], edits: Iterable[Edit]) -> list[str]:
    """What is wrong with some edits: the guarantees of the collector, as one list."""
    found, by_id = [], {one.id: one for one in eden}
    for edit in edits:
        one = by_id.get(edit.cell)
        if one is None or one.pinned or one.block.kind is not Kind.TOOL_RESULT:
            found.append("not to be edited")
            continue
        pure = edit.text == stub.defuse(one.text) != one.text
        if not pure and (count(edit.text) >= count(one.text) or len(edit.text) >= len(one.text)):
            found.append("not shorter")
        if set(stub.handles(edit.text)) - {mint(one.content)}:
            found.append("somebody else's handle")
        if not pure and not stub.handles(edit.text):
            found.append("no way back")
        if (edit.before, edit.after, edit.handle) != (count(one.text), count(edit.text), mint(one.content)):
            found.append("wrong figures")
    if len({edit.cell for edit in edits}) != len(list(edits)):
        found.append("a cell twice")
    return found


@given(arrivals(), st.lists(st.lists(anything(), max_size=5), min_size=1, max_size=3))
def test_whatever_policies_say_the_guarantees_hold(eden: list[Arrival], said: list[list[Verdict]]) -> None:
    policies = [Says(verdicts) for verdicts in said]
    edits = collect(heap(*eden, same=lambda one: one.id - 1 if one.id else None), *policies)
    assert faults(eden, edits) == []
    assert edits == collect(heap(*eden, same=lambda one: one.id - 1 if one.id else None), *policies)
    entry = Collection(0.0, call=b"c", generation="eden", edits=edits)
    assert decode(encode(entry)) == entry


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (Edit(1, "p", "a", "r", "x", mint(b""), 0, 0), "not to be edited"),
        (Edit(7, "p", "a", "r", "x", mint(b""), 0, 0), "not to be edited"),
        (Edit(0, "p", "a", "r", LINES + "x", mint(b""), 0, 0), "not shorter"),
        (Edit(0, "p", "a", "r", ECHO, mint(b""), 0, 0), "somebody else's handle"),
        (Edit(0, "p", "a", "r", "x", mint(b""), 0, 0), "no way back"),
        (Edit(0, "p", "a", "r", "x", mint(b""), 0, 0), "wrong figures"),
    ],
)
def test_the_check_notices_each_fault(changed: Edit, fault: str) -> None:
    assert fault in faults([arrival(LINES), arrival(LINES, cell=1, pinned=True)], [changed])


def test_sites_are_asked_for_only_where_they_are_used() -> None:
    def unknown(cell: int) -> str:
        raise AssertionError(cell)

    assert collect_eden(heap(arrival(LINES)), [of(3)], mint, unknown) == ()
