"""Searching a text: every match once, in any case, with its number and what is around it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.session.reading import END, MATCHES, SMALLEST, Asked, excerpt, parse
from ctxgc.session.searching import WIDTH, Hit, clipped, find
from tests.strategies import PIECES

HANDLE = "k3v7qzsx2mhd4ayb"
FILE = "".join(f"line {number} of the file\n" for number in range(1, 951))
LABEL = re.compile(r"^([0-9]+)(?: \(byte ([0-9]+)\))?:", re.MULTILINE)
NEXT = re.compile(r"; for more search again with ([^ \]]+)")


def search(text: str, term: str, limit: int = 20_000, **part: tuple[int, int]) -> str:
    return excerpt(text, Asked(HANDLE, search=term, **part), limit)


def pages(text: str, term: str) -> list[str]:
    """The matches of a search, each page asked for as the one before it says."""
    asked, found = Asked(HANDLE, search=term), []
    while len(found) <= len(text):
        out = excerpt(text, asked, SMALLEST)
        found += LABEL.findall(out)
        following = NEXT.search(out)
        if following is None:
            return found
        name, number = following[1].split("=")
        asked = parse(f'{{"handle": "{HANDLE}", "search": "{term}", "{name}": {number}}}')
    raise AssertionError("there is no end to it")


def test_a_match_has_its_number_and_two_lines_around_it():
    assert search(FILE, "LINE 77 OF").splitlines() == [
        "75- line 75 of the file",
        "76- line 76 of the file",
        "77: line 77 of the file",
        "78- line 78 of the file",
        "79- line 79 of the file",
        "[1 match in 950 lines]",
    ]


def test_neighbours_share_what_is_around_them_and_gaps_are_marked():
    assert search("a\nx\nx\nb\nc\nd\ne\nf\nx", "x") == (
        "1- a\n2: x\n3: x\n4- b\n5- c\n--\n7- e\n8- f\n9: x\n[3 matches in 9 lines]"
    )


def test_no_match_is_said():
    assert search(FILE, "nowhere") == "[0 matches in 950 lines]"


def test_only_the_lines_or_bytes_that_were_asked_for_are_searched():
    assert "[5 matches in 950 lines]" in search(FILE, "line", lines=(3, 7))
    assert LABEL.findall(search(FILE, "line", lines=(3, 7)))[0] == ("3", "")
    assert "1- " not in search(FILE, "line 3 ", lines=(2, END))
    assert "[1 match in 1 line]" in search("x" * 3 + "y" + "x" * 3, "x", bytes=(5, 6))


def test_many_matches_are_counted_and_the_next_ones_can_be_asked_for():
    out = search(FILE, "file")
    assert len(LABEL.findall(out)) == MATCHES
    assert out.endswith("[20 of 950 matches in 950 lines; for more search again with first_line=21]")


def test_of_a_long_line_what_is_around_the_match_is_shown():
    text = "head\n" + "-" * 5000 + "Needle" + "-" * 5000 + "\ntail\n"
    out = search(text, "needle")
    assert re.fullmatch(r"2 \(byte 5006\): …-+Needle-+…\n\[1 match in 3 lines\]", out)
    assert len(out) < WIDTH + 60
    offset = int(LABEL.findall(out)[0][1])
    assert excerpt(text, Asked(HANDLE, bytes=(offset, offset + 5)), SMALLEST).startswith("Needle\n")


@pytest.mark.parametrize(
    ("text", "term", "found"),
    [
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς", True),
        ("İstanbul", "stanbul", True),
        ("straße 12", "STRAßE 1", True),
        ("ﬁle und Größe", "GRÖ", True),
        ("a.c", "a?c", False),
        ("abc", "", False),
    ],
)
def test_case_does_not_matter_and_everything_keeps_its_place(text, term, found):
    hits = list(find("first\n" + text, term))
    assert [hit.line for hit in hits] == ([2] if found else [])
    assert all((hit.start, hit.end) == (6, 6 + len(text)) for hit in hits)


def lines() -> st.SearchStrategy[str]:
    short = st.sampled_from(("needle", "hay", "", "NEEDLE needle", "needle\r", *PIECES))
    long = st.builds(
        lambda piece, times: piece * times, st.sampled_from(("needle, ", "é needle\u0301", "hay")), st.integers(80, 300)
    )
    return st.lists(st.one_of(short, long), max_size=60).map("\n".join)


@given(lines())
def test_page_after_page_every_matching_line_comes_once_and_in_order(text):
    found = pages(text, "needle")
    assert sorted(set(found), key=lambda label: (int(label[0]), int(label[1] or 0))) == found
    wanted = [number for number, line in enumerate(text.split("\n"), 1) if "needle" in line.casefold()]
    assert sorted({int(number) for number, _ in found}) == wanted


@given(lines())
def test_the_line_of_a_match_is_the_line_that_it_is_in(text):
    for hit in find(text, "needle"):
        assert text.count("\n", 0, hit.start) == hit.line - 1
        assert text[hit.start : hit.end] == text.split("\n")[hit.line - 1]
        assert text[hit.at : hit.at + 6].casefold() == "needle"
        assert "needle" in clipped(text, hit).casefold()


def test_a_reader_that_stops_too_early_is_caught():
    text = "needle\n" * 30
    assert len(pages(text, "needle")) == 30
    assert len(LABEL.findall(search(text, "needle"))) == MATCHES < 30


@pytest.mark.parametrize("piece", ["a", "🎉", "\U0001f1e9\U0001f1ea", "a\n", "\u0301", "\ud800"])
def test_a_huge_text_is_read_and_searched(piece):
    text = piece * 300_000
    assert len(search(text, piece[0], SMALLEST)) <= SMALLEST
    assert sum(1 for _ in find(text, piece[0])) >= 1_000
    assert clipped(text, Hit(1, 0, len(text), 0))
