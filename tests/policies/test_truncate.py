from __future__ import annotations

import json
from random import Random

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.core.policy import Verdict
from ctxgc.policies import _needles
from ctxgc.policies.truncate import GAP, Truncate
from tests.core import alike
from tests.heaps import arrival, collect, count, heap, mint
from tests.strategies import PIECES, json_texts, texts

LINES = "".join(f"line number {number}\n" for number in range(1, 201))
SMALL = Truncate(budget=200)
ROOM = 200 - stub.TOKENS


def verdict(text: str, policy: Truncate = SMALL, tool: str = "search") -> Verdict | None:
    return next(iter(policy.propose(heap(arrival(text, tool)))), None)


def rendered(text: str, policy: Truncate = SMALL) -> str:
    edits = collect(heap(arrival(text)), policy)
    return edits[0].text if edits else text


def units(text: str, found: Verdict) -> list[int]:
    """The offsets where the text might have been cut, found the slow way."""
    if found.gaps and found.unit == "lines":
        pieces = regex.findall(r"[^\n]*\n|[^\n]+", text)
    elif found.gaps:
        pieces = regex.findall(r"\{[^}]*\}, ?|\[|[^,\[]*\]|[^\[\],]+, ?", text)
    else:
        pieces = regex.findall(r"\X", text)
    at = [0]
    for piece in pieces:
        at.append(at[-1] + len(piece))
    return at


def ends(text: str, found: Verdict) -> tuple[int, int]:
    """Where the head ends and the tail begins."""
    head = found.keep[0][1] if found.keep and found.keep[0][0] == 0 else 0
    tail = found.keep[-1][0] if found.keep and found.keep[-1][1] == len(text) else len(text)
    return head, tail


def faults(text: str, found: Verdict, room: int = ROOM) -> list[str]:
    """What is wrong with a cut: too large, not the largest, or at a place where none may be."""
    at = units(text, found)
    head, tail = ends(text, found)
    edges = [place for span in found.keep for place in span]
    out = [f"{place} is no boundary" for place in edges if place not in at]
    middle = [span for span in found.keep if head <= span[0] and span[1] <= tail]
    room -= sum(count(text[start:end]) + stub.TOKENS for start, end in middle)
    if count(text[:head]) + count(text[tail:]) > room:
        out.append("too large")
    before, behind = ([start for start, _ in middle] or [tail])[0], ([end for _, end in middle] or [head])[-1]
    more_head = min((place for place in at if place > head), default=len(text))
    more_tail = max((place for place in at if place < tail), default=0)
    if before - more_head >= GAP and count(text[:more_head]) + count(text[tail:]) <= room:
        out.append("the head could be larger")
    if more_tail - behind >= GAP and count(text[:head]) + count(text[more_tail:]) <= room:
        out.append("the tail could be larger")
    return out


def test_lines_in_the_middle_go() -> None:
    found = verdict(LINES)
    assert found is not None
    assert (found.unit, found.gaps, found.total) == ("lines", ((21, 181),), 200)
    assert faults(LINES, found) == []
    handle = mint(arrival(LINES).content)
    expected = "".join(f"line number {number}\n" for number in (*range(1, 21), *range(182, 201)))
    assert rendered(LINES) == expected.replace(
        "line number 182\n", f"[ctxgc:{handle} lines 21-181 of 200 not shown]\nline number 182\n"
    )


def test_elements_of_an_array_in_the_middle_go() -> None:
    text = json.dumps([{"id": number, "name": "é"} for number in range(100)], ensure_ascii=False)
    found = verdict(text)
    assert found is not None
    assert (found.unit, found.total) == ("elements", 100)
    head, tail = ends(text, found)
    (first, last) = found.gaps[0]
    assert len(json.loads(text[:head].rstrip(", ") + "]")) == first - 1
    assert len(json.loads("[" + text[tail:])) == 100 - last


def test_members_of_an_object_in_the_middle_go() -> None:
    text = json.dumps({f"key {number}": "value" for number in range(100)})
    found = verdict(text)
    assert found is not None
    (head, tail), (first, last) = ends(text, found), found.gaps[0]
    assert (found.unit, found.total) == ("elements", 100)
    assert len(json.loads(text[:head].rstrip(", ") + "}")) == first - 1
    assert len(json.loads("{" + text[tail:])) == 100 - last


def test_the_array_that_makes_up_most_of_an_object_is_cut() -> None:
    text = json.dumps({"total": 100, "hits": [{"id": number} for number in range(100)], "next": None})
    found = verdict(text)
    assert found is not None
    assert (found.unit, found.total) == ("elements", 100)
    head, tail = ends(text, found)
    assert text[:head].endswith("}, ")
    assert text[tail:].startswith('{"id": ')


def test_a_long_line_is_cut_inside() -> None:
    found = verdict("first\n" + "word " * 1000 + "\nlast\n")
    assert found is not None
    assert found.gaps == ()
    assert faults("first\n" + "word " * 1000 + "\nlast\n", found) == []


@pytest.mark.parametrize("text", ["", "x", "x" * 200, "ä" * 100, "x" * 800])
def test_what_fits_stays(text: str) -> None:
    assert verdict(text) is None


def test_what_must_fit_is_not_counted() -> None:
    def no_count(_text: str) -> int:
        raise AssertionError

    assert list(SMALL.propose(heap(arrival("x" * 200), count=no_count))) == []


@pytest.mark.parametrize(("share", "head"), [(0.0, 0), (0.25, 10), (0.75, 31), (1.0, 41)])
def test_the_head_has_its_share(share: float, head: int) -> None:
    found = verdict(LINES, Truncate(budget=200, head=share))
    assert found is not None
    assert found.gaps[0][0] - 1 == head
    assert faults(LINES, found) == []


def test_tools_may_have_budgets_of_their_own() -> None:
    policy = Truncate(budget=100, tools=(("Big_*", 5000), ("all", 0), ("*", 64)))
    assert verdict(LINES, policy, "big_search") is None
    assert verdict(LINES * 50, policy, "all") is None
    found = verdict(LINES, policy, "other")
    assert found is not None
    assert found.reason == "over 64 tokens"


@pytest.mark.parametrize(
    "wrong", [{"budget": 63}, {"budget": -1}, {"tools": (("x", 5),)}, {"head": 1.1}, {"head": -0.1}]
)
def test_what_cannot_be_kept_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"budget is|head is"):
        Truncate(**wrong)  # type: ignore[arg-type]


def odd_texts() -> st.SearchStrategy[str]:
    """Long texts: lines of very different lengths, long lines, graphemes of many code points."""
    line = st.one_of(texts(), st.sampled_from(PIECES).map(lambda piece: piece * 40), st.just("x" * 300), st.just(""))
    return st.lists(line, min_size=1, max_size=30).map("\n".join).filter(lambda text: "\\" not in text)


@given(odd_texts(), st.sampled_from((64, 100, 200, 333)), st.sampled_from((0.0, 0.3, 0.5, 1.0)))
def test_a_cut_is_the_largest_that_fits_and_at_a_boundary(text: str, budget: int, share: float) -> None:
    found = verdict(text, Truncate(budget=budget, head=share))
    if count(text) <= budget:
        assert found is None
    else:
        assert found is not None
        if found.unit == "lines" or not found.gaps:
            assert faults(text, found, budget - stub.TOKENS) == []


@given(odd_texts(), st.sampled_from((64, 100, 200)))
def test_what_is_sent_is_within_the_budget_and_not_cut_again(text: str, budget: int) -> None:
    policy = Truncate(budget=budget)
    once = rendered(text, policy)
    if len(text) > 2 * GAP and stub.defuse(text) == text:
        assert count(once) <= budget
        assert verdict(once, policy) is None


@settings(max_examples=30)
@given(st.lists(json_texts(), min_size=5, max_size=10).map(lambda parts: parts * 6))
def test_json_is_cut_between_its_elements(parts: list[str]) -> None:
    text = "[" + ",\n".join(parts) + "]"
    found = verdict(text, Truncate(budget=100))
    if found is not None and found.unit == "elements" and found.total == len(parts):
        (first, last), (head, tail) = found.gaps[0], ends(text, found)
        assert text[:head] == "[" + "".join(part + ",\n" for part in parts[: first - 1]) if first > 1 else head == 0
        assert text[tail:] == ",\n".join(parts[last:]) + "]" if last < len(parts) else tail == len(text)


@pytest.mark.parametrize(
    "piece", [*PIECES, "\\ud83d\\ude00", "\\n", "\\\\", "\ud83d\ude00", "\\u00e9", "\U0001f1e9\U0001f1ea"]
)
def test_what_belongs_together_is_not_cut(piece: str) -> None:
    text = piece * 2000
    for budget in range(64, 84):
        found = verdict(text, Truncate(budget=budget))
        assert found is not None
        head, tail = ends(text, found)
        if found.gaps == () and piece not in ("  ", "한국", "漢字", "[ctxgc:", "\\\\"):
            assert (head % len(piece), tail % len(piece)) == (0, 0)
        if piece == "\\\\":
            assert (head % 2, tail % 2) == (0, 0)


def test_a_grapheme_of_any_length_does_not_break_the_budget() -> None:
    for text in ("e" + "\u0301" * 20_000, ("e" + "\u0301" * 700) * 30, "\U0001f469\u200d" * 9000):
        assert count(rendered(text)) <= 200
        assert verdict(rendered(text)) is None


def test_flags_are_cut_in_pairs_wherever_they_begin() -> None:
    for before in ("", "a", "\U0001f1e9a"):
        text = before + "\U0001f1e9\U0001f1ea" * 3000
        found = verdict(text)
        assert found is not None
        assert [(place - len(before)) % 2 for place in ends(text, found)] == [0, 0]


@pytest.mark.parametrize(
    ("defect", "fault"),
    [
        (Verdict(0, "t", "t", "", ((0, 7), (3800, 4000))), "the head could be larger"),
        (Verdict(0, "t", "t", "", ((0, 300), (3999, 4000))), "the tail could be larger"),
        (Verdict(0, "t", "t", "", ((0, 400), (3600, 4000))), "too large"),
        (Verdict(0, "t", "t", "", ((0, 301), (3700, 4000))), "301 is no boundary"),
    ],
)
def test_the_check_notices_each_fault(defect: Verdict, fault: str) -> None:
    assert fault in faults("e\u0301" * 2000, defect)


KINDS = {
    **{f"lines: {name}": one for name, one in alike.LINES.items()},
    **{f"JSON: {name}": one for name, one in alike.ELEMENTS.items()},
}


def needle(kind: str, at: int | None, seed: int = 1, total: int = 500) -> tuple[str, str]:
    """A result of many alike units, and the one in it that is unlike the others."""
    found = alike.units(KINDS[kind], total, at, seed)
    text = "".join(alike.array(found)) if kind.startswith("JSON") else "".join(f"{line}\n" for line in found)
    return text, found[at or 0]


@pytest.mark.parametrize("kind", KINDS)
def test_one_odd_unit_among_five_hundred_stays_visible(kind: str) -> None:
    for place in (120, 251, 390):
        text, odd = needle(kind, place)
        budget = count(text) // 3
        shown = rendered(text, Truncate(budget=budget))
        assert odd in shown
        assert count(shown) <= budget


@pytest.mark.parametrize("kind", ["lines: application log, level", "JSON: a value"])
def test_without_a_look_for_them_it_would_be_gone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_needles, "oddest", lambda _units, _most: ())
    text, odd = needle(kind, 251)
    assert odd not in rendered(text, Truncate(budget=1000))


def test_the_stubs_say_what_is_not_shown_on_either_side() -> None:
    text, odd = needle("lines: application log, level", 251)
    lines, shown = text.splitlines(), rendered(text, Truncate(budget=1000)).splitlines()
    at = shown.index(odd)
    handle = mint(arrival(text).content)
    before, behind = shown.index(shown[at - 1]), len(shown) - at - 2
    assert shown[at - 1] == f"[ctxgc:{handle} lines {before + 1}-251 of 500 not shown]"
    assert shown[at + 1] == f"[ctxgc:{handle} lines 253-{500 - behind} of 500 not shown]"
    assert shown[:before] == lines[:before]
    assert shown[at + 2 :] == lines[500 - behind :]


@pytest.mark.parametrize("kind", ["lines: application log, level", "lines: find, ending", "JSON: a value"])
def test_of_units_all_alike_only_head_and_tail_stay(kind: str) -> None:
    found = verdict(needle(kind, None)[0], Truncate(budget=1000))
    assert found is not None
    assert len(found.keep) == 2


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(KINDS)), st.lists(st.integers(0, 299), max_size=30, unique=True), st.integers(0, 99),
    st.sampled_from((64, 100, 200, 333, 1000, 2500)), st.sampled_from((0.0, 0.3, 0.5, 1.0)),
)  # fmt: skip
def test_needles_do_not_break_the_budget(kind: str, odd: list[int], seed: int, budget: int, share: float) -> None:
    one: alike.Alike = KINDS[kind]
    both = [alike.units(one, 300, None, seed), [one.odd(number, Random(seed)) for number in range(300)]]
    text = "\n".join(both[number in odd][number] for number in range(300))
    found = verdict(text, Truncate(budget=budget, head=share))
    if found is not None and found.unit == "lines":
        assert faults(text, found, budget - stub.TOKENS) == []
        assert count(rendered(text, Truncate(budget=budget, head=share))) <= budget
        middle = sum(count(text[start:end]) for start, end in found.keep[1:-1])
        assert middle <= max(budget // 10, 24) + GAP


def test_a_needle_in_a_large_result_stays() -> None:
    text, odd = needle("lines: application log, level", 5000, total=9000)
    assert len(text) > 500_000
    assert odd in rendered(text, Truncate())


def test_of_a_huge_result_the_numbers_in_the_stubs_hold() -> None:
    text, _ = needle("lines: numbers", None, total=200_000)
    lines, policy = text.splitlines(), Truncate(budget=2000)
    found, shown = verdict(text, policy), rendered(text, policy).splitlines()
    assert found is not None
    for (first, last), (_, end), (start, _) in zip(found.gaps, found.keep, found.keep[1:], strict=False):
        assert (text.count("\n", 0, end), text.count("\n", 0, start)) == (first - 1, last)
    assert {line for line in shown if not line.startswith("[ctxgc:")} <= set(lines)


def test_it_counts_little_of_a_large_result() -> None:
    counted: list[int] = []

    def counting(text: str) -> int:
        counted.append(len(text))
        return count(text)

    for text in ("line of a log\n" * 150_000, json.dumps(list(range(300_000))), "x" * 2_000_000, "a b\n\n\n" * 300_000):
        counted.clear()
        (found,) = Truncate().propose(heap(arrival(text), count=counting))
        assert ends(text, found)[0] > 10_000
        assert sum(counted) < 2 * len(text)
        assert len(counted) < 60
