"""What policies say of cells that were sent before: checked, and made into edits that leave a way back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.digest import Excerpt, excerpt
from ctxgc.core.evacuation import LEAST, SILENCE, Plan, evacuate, planning
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.session.steps import drain
from tests.heaps import count, mint
from tests.policies.residents import heap, resident, residents
from tests.strategies import broken_texts, texts

TEXT = "".join(f"row {number} of item_{number * 7919 % 1000}\n" for number in range(100))
ECHO = stub.gap(mint(b"other"), "lines", 1, 2, 3)
HANDLE = mint(TEXT.encode())


@dataclass(frozen=True, slots=True)
class Says:
    """A policy that says what it was told to say."""

    verdicts: Sequence[Verdict]
    name: str = "says"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return self.verdicts


class Raises:
    name = "raises"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        yield verdict(0)
        raise LookupError


def verdict(cell: int = 0, share: float | None = 0.1, **more: object) -> Verdict:
    return Verdict(cell, "says", "excerpt", "not used", excerpt=share, **more)  # type: ignore[arg-type]


def render(one: Resident, said: Verdict, text: str = TEXT) -> Edit | None:
    part = excerpt(text, count(text), said.excerpt or 0.0, marks=one.marks)
    return evacuate(one, said, text, part, mint_of(text), count, offered=False)


def mint_of(text: str) -> str:
    return mint(text.encode("utf-8", "replace"))


def planned(
    found: Sequence[Resident], *said: Verdict, pointers: Mapping[int, int] | None = None, text: str = TEXT
) -> Plan:
    return drain(planning(heap(*found), [Says(said)], pointers or {}, lambda one, asked: render(one, asked, text)))


def cell(number: int = 0, text: str = TEXT, **more: object) -> Resident:
    return resident(number, tokens=count(text), **more)  # type: ignore[arg-type]


def cells(found: Plan) -> list[int]:
    return [candidate.edit.cell for candidate in found.candidates]


# One edit


def test_an_edit_leaves_the_handle_what_is_kept_and_a_mark_for_each_gap() -> None:
    lines = TEXT.splitlines(keepends=True)
    spans = ((0, len(lines[0])), (TEXT.index(lines[50]), TEXT.index(lines[52])))
    edit = evacuate(cell(), verdict(), TEXT, Excerpt(spans, 3, 100, "lines"), HANDLE, count, offered=False)
    assert edit is not None
    assert edit.text.split("\n") == [
        f"[ctxgc:{HANDLE} 3 of 100 lines kept: not used; call again for all]",
        *[line.rstrip("\n") for line in (lines[0], "\u2026", lines[50], lines[51], "\u2026")],
    ]
    assert (edit.before, edit.after, edit.handle) == (count(TEXT), count(edit.text), HANDLE)


def test_where_nothing_is_kept_a_stub_is_left() -> None:
    edit = render(cell(), verdict(share=0.0))
    assert edit is not None
    assert edit.text == f"[ctxgc:{HANDLE} 100 lines not shown: not used; call again for all]"


def test_where_the_recall_tool_is_offered_the_stub_does_not_send_for_the_call() -> None:
    edit = evacuate(cell(), verdict(), TEXT, Excerpt((), 0, 100, "lines"), HANDLE, count, offered=True)
    assert edit is not None
    assert "call again" not in edit.text


def test_of_reasoning_a_blank_is_left_that_servers_take_for_reasoning() -> None:
    edit = render(cell(kind=Kind.THINKING), verdict(share=0.0))
    assert edit is not None
    assert (edit.text, edit.handle) == (SILENCE, HANDLE)


def test_an_echo_of_a_stub_in_what_is_kept_is_defused() -> None:
    text = f"{ECHO}\n{TEXT}"
    part = Excerpt(((0, len(ECHO) + 1),), 1, 101, "lines")
    edit = evacuate(cell(), verdict(), text, part, HANDLE, count, offered=False)
    assert edit is not None
    assert stub.handles(edit.text) == (HANDLE,)


@pytest.mark.parametrize("reason", [ECHO, "x]", "a\nb", "[ctxgc:", ""])
def test_words_of_a_policy_cannot_end_a_stub_or_begin_another(reason: str) -> None:
    edit = render(cell(), replace(verdict(share=0.0), reason=reason))
    assert edit is not None
    assert stub.handles(edit.text) == (HANDLE,)
    assert edit.text.count("]") == 1
    assert "\n" not in edit.text


@given(broken_texts())
def test_texts_with_lone_surrogates_stay(text: str) -> None:
    assert render(cell(), verdict(share=0.0), text + TEXT) is None


@given(st.one_of(texts(200), st.just(TEXT)), st.floats(0, 1), st.lists(st.integers(0, 3000), max_size=3))
def test_an_edit_is_shorter_and_its_figures_are_right(text: str, share: float, marks: list[int]) -> None:
    edit = render(cell(text=text, marks=tuple(marks)), verdict(share=share), text)
    if edit is not None:
        assert edit.after + LEAST <= edit.before
        assert len(edit.text) < len(text)
        assert (edit.before, edit.after) == (count(text), count(edit.text))
        assert stub.handles(edit.text) == (mint_of(text),)


# Which residents


def test_what_a_policy_names_is_a_candidate_and_what_it_saves_is_said() -> None:
    one = cell()
    (found,) = planned([one], verdict(since=7, urgency="now")).candidates
    assert (found.edit.cell, found.since, found.urgency) == (0, 7, "now")
    assert found.saved == count(TEXT) - found.edit.after


def test_what_was_edited_before_saves_what_is_left_of_it() -> None:
    (whole,) = planned([cell()], verdict(share=0.0)).candidates
    (rest,) = planned([cell(sent=150)], verdict(share=0.0)).candidates
    assert rest.saved == 150 - whole.edit.after
    assert planned([cell(sent=whole.edit.after)], verdict(share=0.0)).candidates == ()


@pytest.mark.parametrize(
    ("one", "share", "why"),
    [
        (cell(pinned=True), 0.0, "pinned"),
        (cell(kind=Kind.TEXT), 0.0, "only results and reasoning are collected"),
        (cell(kind=Kind.TOOL_CALL), 0.0, "only results and reasoning are collected"),
        (cell(kind=Kind.IMAGE), 0.0, "only results and reasoning are collected"),
        (cell(kind=Kind.THINKING), 0.2, "reasoning goes as a whole or not at all"),
    ],
)
def test_what_is_protected_stays_and_the_plan_says_why(one: Resident, share: float, why: str) -> None:
    found = planned([one], verdict(share=share))
    assert found.candidates == ()
    assert [(reprieve.cell, reprieve.policy, reprieve.why) for reprieve in found.reprieves] == [(0, "says", why)]


def test_control_without_protection_it_would_go() -> None:
    assert cells(planned([cell()], verdict(share=0.0))) == [0]


@pytest.mark.parametrize("share", [None, math.nan, math.inf, -math.inf, -0.1, 1.1])
def test_a_share_that_is_none_says_nothing(share: float | None) -> None:
    assert planned([cell()], verdict(share=share)) == Plan()


@pytest.mark.parametrize(
    "broken",
    [
        verdict(1),
        verdict(-1),
        verdict(urgency="later"),
        replace(verdict(), reason="\ud800"),
        replace(verdict(), action="\ud800"),
        replace(verdict(), policy="\ud800"),
        replace(verdict(share=None), keep=((0, 5),)),
        replace(verdict(share=None), text="short"),
    ],
)
def test_a_verdict_that_makes_no_sense_of_a_resident_says_nothing(broken: Verdict) -> None:
    assert planned([cell()], broken) == Plan()


@pytest.mark.parametrize("since", [-math.inf, math.nan, -(10**400)], ids=["endless", "none", "huge"])
def test_a_turn_that_is_no_turn_never_gets_into_the_figures(since: int) -> None:
    found = planned([cell()], verdict(since=since))
    assert all(isinstance(one.since, int) and abs(one.since) < 2**53 for one in found.candidates)


def test_of_several_verdicts_on_a_cell_the_one_that_leaves_least_counts() -> None:
    found = planned([cell()], verdict(share=0.5, since=2), verdict(share=0.0, since=9), verdict(share=0.3, since=1))
    (candidate,) = found.candidates
    assert (candidate.since, candidate.edit.text.count("\n")) == (9, 0)


def test_candidates_are_in_order_from_the_newest_message_on() -> None:
    found = [replace(cell(number), position=position) for number, position in enumerate((5, 9, 9, 1))]
    assert cells(planned(found, *(verdict(number) for number in (3, 1, 0, 2)))) == [1, 2, 0, 3]


def test_a_policy_that_fails_says_nothing_and_the_others_are_heard() -> None:
    found = drain(planning(heap(cell(), cell(1)), [Raises(), Says([verdict(1)])], {}, render))
    assert cells(found) == [1]
    assert found.faults == ("policy failed: LookupError",)


# Pointers


def test_what_a_later_result_points_at_stays() -> None:
    found = planned([cell(0), cell(1, sent=30)], verdict(0), pointers={1: 0})
    assert found.candidates == ()
    assert [(one.cell, one.why) for one in found.reprieves] == [(0, "a later result points at it")]


def test_it_goes_where_the_pointer_goes_with_it() -> None:
    found = planned([cell(0), cell(1, sent=80)], verdict(0, 0.0), verdict(1, 0.0), pointers={1: 0})
    assert cells(found) == [1, 0]


def test_it_stays_where_the_pointer_would_not_become_smaller() -> None:
    found = planned([cell(0), cell(1, sent=30)], verdict(0, 0.0), verdict(1, 0.0), pointers={1: 0})
    assert cells(found) == []


# Whatever a policy says


def verdicts() -> st.SearchStrategy[Verdict]:
    words = st.one_of(texts(12), broken_texts(), st.just(ECHO))
    return st.builds(
        Verdict, st.integers(-1, 8), words, words, words,
        excerpt=st.one_of(st.none(), st.floats(), st.floats(0, 1)), since=st.integers(),
        urgency=st.sampled_from(("priced", "now", "forced", "soon")),
    )  # fmt: skip


def broken_rules(found: Sequence[Resident], edits: Iterable[Edit]) -> list[str]:
    out = []
    by_id = {one.id: one for one in found}
    for edit in edits:
        one = by_id.get(edit.cell)
        if one is None or one.pinned or one.kind not in (Kind.TOOL_RESULT, Kind.THINKING):
            out.append("not to be edited")
        elif one.kind is Kind.THINKING:
            out += ["reasoning in part"] * (edit.text != SILENCE)
        elif stub.handles(edit.text) != (HANDLE,):
            out.append("no way back, or another's")
        if edit.after + LEAST > edit.before:
            out.append("hardly shorter")
    return out


@given(residents(), st.lists(st.lists(verdicts(), max_size=6), max_size=3))
def test_whatever_policies_say_the_rules_hold(found: list[Resident], said: list[list[Verdict]]) -> None:
    policies = [Says(verdicts) for verdicts in said]
    made = drain(planning(heap(*found), policies, {}, render))
    assert broken_rules(found, [candidate.edit for candidate in made.candidates]) == []
    assert len(set(cells(made))) == len(cells(made))
    assert made == drain(planning(heap(*found), policies, {}, render))


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (Edit(1, "p", "a", "r", SILENCE, HANDLE, 99, 1), "not to be edited"),
        (Edit(9, "p", "a", "r", SILENCE, HANDLE, 99, 1), "not to be edited"),
        (Edit(0, "p", "a", "r", "short", HANDLE, 99, 1), "no way back, or another's"),
        (Edit(0, "p", "a", "r", ECHO, HANDLE, 99, 1), "no way back, or another's"),
        (Edit(0, "p", "a", "r", ECHO, HANDLE, 99, 98), "hardly shorter"),
        (Edit(2, "p", "a", "r", "I think", HANDLE, 99, 1), "reasoning in part"),
    ],
)
def test_control_the_check_notices_each_fault(edit: Edit, fault: str) -> None:
    assert fault in broken_rules([cell(), cell(1, pinned=True), cell(2, kind=Kind.THINKING)], [edit])
