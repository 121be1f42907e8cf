from __future__ import annotations

import random
import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.tokens.chunks import _LETTER, _MARK, LIMIT, SAFE, chunks

# Everything that stands next to a boundary in some pattern, and what could run across one.
# fmt: off
PARTS = [
    "a", "Z", "s", "ll", "'s", "'", "ſ", "7", "123", "4567", " ", "  ", "\t", "\n", "\r\n", "\n\n", "/", "//",
    ".", "...", "_", "-", "=", '"', "{", "，", "。", "“", "中", "文字", "か", "한", "é", "e\u0301", "\u0301",
    "\u00a0", "\u2028", "\u3000", "\x1c", "\x85", "\u200b", "\ufeff", "😀", "ǅ", "ʰ", "Ⅳ", "٣", "\x00", "न्दी",
]
# fmt: on
TEXTS = st.lists(st.sampled_from(PARTS) | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join)

# Rules that look as good and are not: each is wrong about one of these texts.
WRONG = {
    "anywhere": r"(?!^)(?=.)",
    "after any newline": r"(?<=\n)(?=.)",
    "between newline and non-space": r"(?<=\n)(?=\S)",
    "before an apostrophe": r"(?<=[a-z])(?=')",
    "inside digits": r"(?<=[0-9])(?=[0-9])",
    "before a letter": r"(?<=[^a-z])(?=[a-z])",
    "inside blanks": r"(?<= )(?= )",
    "between a word and what Python calls none": r"(?<=\w)(?=[^\w\s'])",
}
TELLING = ["so.\n/usr", "so.\n\n", "don't stay", "12345", "say\n  it", 'a "word" b', "x    y", "हिन्दी"]


def bad_cuts(pattern: re.Pattern[str], ids, text: str) -> list[int]:
    """Where `pattern` would cut `text` and the tokens of the two parts are not those of the whole."""
    whole = ids(text)
    cuts = [match.start() for match in pattern.finditer(text)]
    return [cut for cut in cuts if ids(text[:cut]) + ids(text[cut:]) != whole]


@settings(deadline=None, max_examples=300)
@given(text=TEXTS)
def test_cutting_at_a_safe_place_changes_no_token(o200k, cl100k, text):
    assert bad_cuts(SAFE, o200k, text) == []
    assert bad_cuts(SAFE, cl100k, text) == []


@pytest.mark.parametrize("name", WRONG)
def test_the_check_catches_a_wrong_rule(o200k, cl100k, name):
    wrong = re.compile(WRONG[name], re.DOTALL)
    assert any(bad_cuts(wrong, ids, text) for text in TELLING for ids in (o200k, cl100k))
    assert not any(bad_cuts(SAFE, ids, text) for text in TELLING for ids in (o200k, cl100k))


def test_letters_are_letters_and_marks_are_marks_to_the_tokenizer_too():
    # The patterns go by Unicode category; an unassigned code point taken for a letter would break the proof.
    for ranges, categories in (
        (_LETTER, {"Lu", "Ll", "Lo"}),
        (_MARK, {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Sk", "Sm"}),
    ):
        members = [char for char in map(chr, range(sys.maxunicode + 1)) if re.match(f"[{ranges}]", char)]
        assert len(members) > 40
        assert {unicodedata.category(char) for char in members} <= categories
        assert "'" not in members


def test_every_kind_of_text_is_cut_without_a_trace(o200k, cl100k, corpora):
    for name, text in corpora.items():
        for limit in (200, LIMIT):
            pieces = list(chunks(text, limit))
            assert len(pieces) > 1, name
            for ids in (o200k, cl100k):
                assert sum(len(ids(piece)) for piece in pieces) == len(ids(text)), name


def test_cutting_at_a_fixed_length_would_be_noticed(o200k, corpora):
    for name, text in corpora.items():
        pieces = [text[at : at + 200] for at in range(0, len(text), 200)]
        assert sum(len(o200k(piece)) for piece in pieces) != len(o200k(text)), name


@settings(deadline=None)
@given(text=TEXTS, limit=st.integers(1, 12))
def test_pieces_are_bounded_and_join_to_the_text(text, limit):
    pieces = list(chunks(text, limit))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= limit for piece in pieces)


@settings(deadline=None)
@given(text=TEXTS, limit=st.integers(2, 12))
def test_a_piece_ends_unsafely_only_where_it_has_no_safe_place(text, limit):
    at = 0
    for piece in list(chunks(text, limit))[:-1]:
        safe = [match.start() for match in SAFE.finditer(text) if at < match.start() <= at + limit]
        assert at + len(piece) == (safe[-1] if safe else at + limit)
        at += len(piece)


def runs() -> dict[str, str]:
    rng = random.Random(3)
    same = {f"a run of {char!r}": char * 300_000 for char in " a\n=7哈"}
    return same | {
        "letters": "".join(rng.choices("abcdefghij", k=300_000)),
        "marks": "".join(rng.choices("=-*#|", k=300_000)),
        "blank lines": "".join(rng.choices(" \t\n", k=300_000)),
    }


def test_a_hard_cut_costs_at_most_two_tokens(o200k):
    for name, text in runs().items():
        pieces = list(chunks(text))
        off = sum(len(o200k(piece)) for piece in pieces) - len(o200k(text))
        assert abs(off) <= 2 * (len(pieces) - 1), name


def test_a_run_of_one_character_costs_nothing(o200k):
    for char in " a\n=7哈":
        text = char * 100_000
        assert sum(len(o200k(piece)) for piece in chunks(text)) == len(o200k(text)), char


def test_a_limit_between_tokens_would_be_noticed(o200k):
    text = "7" * 100_000
    assert sum(len(o200k(piece)) for piece in chunks(text, LIMIT + 1)) != len(o200k(text))


def test_a_piece_is_at_most_64_kilobytes():
    assert max(len(piece.encode()) for piece in chunks("😀" * 100_000)) <= 64 * 1024
