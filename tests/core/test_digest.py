"""Excerpts: whole lines, in order, within a share, with what was referred to and what is odd."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.digest import HEADER, LONGEST, Excerpt, excerpt, telling
from tests.heaps import count
from tests.strategies import broken_texts, json_texts, texts

ROWS = [f"row {number} holds item_{number * 7919 % 10_000} of shelf_{number % 13}\n" for number in range(200)]
TEXT = "".join(ROWS)
TOKENS = count(TEXT)


def shown(text: str, part: Excerpt) -> str:
    return "".join(text[start:end] for start, end in part.spans)


def faults(text: str, part: Excerpt) -> list[str]:
    """What is wrong with an excerpt, whatever it was to keep."""
    edges = [edge for span in part.spans for edge in span]
    out = []
    if edges != sorted(set(edges)) or (edges and not 0 <= edges[0] < edges[-1] <= len(text)):
        out.append("the spans are not in order, apart and within the text")
    if part.unit == "lines" and len(text) <= LONGEST:
        if any(0 < edge < len(text) and text[edge - 1] != "\n" for edge in edges):
            out.append("a line is cut")
        if part.kept != sum(shown.count("\n") + (not shown.endswith("\n")) for shown in _pieces(text, part)):
            out.append("the number of kept lines is wrong")
    if not 0 <= part.kept <= part.total:
        out.append("more is kept than there is")
    return out


def _pieces(text: str, part: Excerpt) -> list[str]:
    return [text[start:end] for start, end in part.spans]


def anything() -> st.SearchStrategy[str]:
    lines = st.lists(st.sampled_from((*ROWS[:20], "\n", "}\n", "def f(x):\n", "    error: no\n")), max_size=60)
    return st.one_of(texts(200), broken_texts(), json_texts(), lines.map("".join))


@given(anything(), st.floats(0, 1), st.lists(st.integers(-5, 5000), max_size=4))
def test_lines_stay_whole_and_in_order(text: str, share: float, marks: list[int]) -> None:
    part = excerpt(text, count(text), share, marks=marks)
    assert faults(text, part) == []
    assert part == excerpt(text, count(text), share, marks=marks)


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        (Excerpt(((0, 3),), 1, 200, "lines"), "a line is cut"),
        (Excerpt(((len(ROWS[0]), 0),), 0, 200, "lines"), "the spans are not in order, apart and within the text"),
        (Excerpt(((0, len(ROWS[0])),), 2, 200, "lines"), "the number of kept lines is wrong"),
        (Excerpt((), 3, 2, "lines"), "more is kept than there is"),
    ],
)
def test_control_the_check_notices_each_fault(part: Excerpt, fault: str) -> None:
    assert fault in faults(TEXT, part)


@given(st.floats(0.05, 1), st.integers(20, 400), st.integers(0, 99))
def test_what_stays_takes_its_share_at_most(share: float, lines: int, seed: int) -> None:
    chance = Random(seed)
    text = "".join(chance.choice(ROWS) for _ in range(lines))
    tokens = count(text)
    assert count(shown(text, excerpt(text, tokens, share))) + HEADER <= max(share * tokens, HEADER) + 1


def test_lines_of_another_script_take_their_share_too() -> None:
    text = "".join(
        f"plain words that say nothing much {n}\n部署服务器之前请检查所有的配置 server_number_{n}\n" for n in range(99)
    )
    tokens = count(text)
    assert count(shown(text, excerpt(text, tokens, 0.3))) + HEADER <= 0.3 * tokens


def test_of_an_even_text_most_of_the_share_is_used() -> None:
    part = excerpt(TEXT, TOKENS, 0.3)
    assert 0.2 * TOKENS < count(shown(TEXT, part)) <= 0.3 * TOKENS


def test_no_share_leaves_nothing() -> None:
    assert excerpt(TEXT, TOKENS, 0.0) == Excerpt((), 0, 200, "lines")
    assert excerpt("", 0, 0.5) == Excerpt((), 0, 0, "lines")


@pytest.mark.parametrize("at", [3, 77, 199])
def test_a_line_that_was_referred_to_stays(at: int) -> None:
    place = TEXT.index(ROWS[at]) + 5
    assert ROWS[at] in shown(TEXT, excerpt(TEXT, TOKENS, 0.05, marks=[place]))


def test_control_without_the_mark_it_goes() -> None:
    plain = shown(TEXT, excerpt(TEXT, TOKENS, 0.05))
    assert not all(ROWS[at] in plain for at in (3, 77, 199))


def test_a_long_plain_line_that_was_referred_to_comes_before_telling_ones() -> None:
    said = "it was said that the one with the green door at the far end of the hall is where she went to look\n"
    text = TEXT + said + TEXT
    part = excerpt(text, count(text), 0.05, marks=[len(TEXT) + 10])
    assert said in shown(text, part)


def test_an_odd_line_stays() -> None:
    odd = "ERROR shelf_3 is on fire\n"
    text = "".join([*ROWS[:120], odd, *ROWS[120:]])
    assert odd in shown(text, excerpt(text, count(text), 0.05))


def test_what_is_new_is_kept_rather_than_what_is_said_twice() -> None:
    same = "the same first_thing_1 again\n" * 50
    text = same + "and once other_thing_2\n" + same
    kept = shown(text, excerpt(text, count(text), 0.15))
    assert (kept.count("first_thing_1"), kept.count("other_thing_2")) == (1, 1)


def test_definitions_are_kept_rather_than_their_bodies() -> None:
    text = "".join(f"def handler_{n}(request):\n    value_{n} = other\n    return value_{n}\n" for n in range(40))
    kept = shown(text, excerpt(text, count(text), 0.3))
    assert kept.count("def handler_") > 2 * kept.count("return")


def test_json_of_one_line_is_cut_at_its_elements() -> None:
    rows = [
        {"id": number, "name": f"item_{number}", "state": "ok" if number != 60 else "failed"} for number in range(99)
    ]
    text = json.dumps(rows)
    part = excerpt(text, count(text), 0.2)
    assert (part.unit, part.total) == ("elements", 99)
    assert '"failed"' in shown(text, part)


NEEDLE = "ERROR needle_in_the_middle.py is on fire\n"


def surrounded(copies: int) -> tuple[str, Excerpt]:
    """A text with one line in its middle that is odd, referred to and new, and an excerpt of the text."""
    text = TEXT * copies + NEEDLE + TEXT * copies
    return text, excerpt(text, count(text), 0.02, marks=[text.index(NEEDLE)])


def test_of_a_very_long_text_the_ends_are_looked_at() -> None:
    text, part = surrounded(80)
    middle = (LONGEST // 2, len(text) - LONGEST // 2)
    assert middle[0] < text.index(NEEDLE) < middle[1]
    assert part.spans
    assert faults(text, part) == []
    assert part.total == text.count("\n")
    assert not any(start < middle[1] and middle[0] < end for start, end in part.spans)


def test_control_a_text_that_is_a_little_shorter_is_looked_at_whole() -> None:
    text, part = surrounded(70)
    assert 0.9 * LONGEST < len(text) < LONGEST
    assert NEEDLE in shown(text, part)


SLOW = {
    "words": "word_1 ", "paths": "a.b/c-", "empty lines": "\n", "lines": "x_1\n", "braces": "{", "an open array": "[1,",
    "digits": "1", "surrogates": "\ud800", "dashes": "---- ", "spaces": "    ", "numbered": "1:\t",
}  # fmt: skip


@pytest.mark.parametrize("kind", SLOW)
@pytest.mark.parametrize("head", ["", "def f_1(x):\n" * 20])
def test_a_huge_text_is_done_with(kind: str, head: str) -> None:
    """Work that grew with the square of the length would take minutes here."""
    text = head + SLOW[kind] * (400_000 // len(SLOW[kind]))
    assert faults(text, excerpt(text, len(text) // 4, 0.2)) == []


def test_a_huge_line_of_tabs_behind_a_digit_is_done_with() -> None:
    text = "x_1 = 1\n" * 20 + "1" + "\t" * 400_000 + "x\n"
    assert faults(text, excerpt(text, len(text) // 4, 0.2)) == []


def test_telling_terms_are_those_that_say_which_one() -> None:
    said = "see handleRequest in src/app.py, parse_items, 10.0.0.1:8080 and https; not Something ordinary or 12"
    assert list(telling(said)) == ["handleRequest", "src/app.py", "parse_items", "10.0.0.1:8080"]


def test_spans_that_touch_are_one() -> None:
    part = excerpt(TEXT, TOKENS, 0.9)
    assert all(end < start for (_, end), (start, _) in pairwise(part.spans))
