from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import terms
from tests.strategies import broken_texts, texts


def introduced(text: str) -> set[str]:
    return terms.introduced(text, map(str.lower, terms.words(text)))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("call load_orders first", "load_orders"),
        ("a LedgerBatch object", "ledgerbatch"),
        ("see /srv/app/late_fees.py:12", "late_fees.py"),
        ("see /srv/app/late_fees.py:12", "app/late_fees.py"),
        ("see C:\\srv\\app\\late_fees.py", "late_fees.py"),
        ("job 8f3a91c2 is done", "8f3a91c2"),
        ("id 0b7e4c1e-93ad-4c55-8f0e-2d1f5ac0a9b3", "0b7e4c1e-93ad-4c55-8f0e-2d1f5ac0a9b3"),
        ("commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad", "3b18e51"),
        ("took 41873ms", "41873"),
        ("for 1,234,567.0 cents", "1234567"),
        ("for 1_234_567 cents", "1234567"),
        ('{"name": "Acme Quarry"}', "acme quarry"),
        ("the quarantined sample", "quarantined"),
    ],
)
def test_a_text_introduces(text: str, key: str) -> None:
    assert key in introduced(text)


@pytest.mark.parametrize(
    "text", ["file not found", "HTTP error", "the user", "utf-8", "package.json", "TypeError", "a 12 b"]
)
def test_what_is_in_every_text_is_not_introduced(text: str) -> None:
    assert introduced(text) == set()


def test_giant_words_are_nobodys_name() -> None:
    assert introduced("x1" * terms.LONGEST) == set()
    assert introduced("x1" * 20) != set()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("so load_orders it is", "load_orders"),
        ("so LedgerBatch it is", "ledgerbatch"),
        ("in ./app/late_fees.py", "late_fees.py"),
        ("that is 1,234,567 cents", "1234567"),
        ("that is 1 234 567 cents", "1234567"),
        ("the `quarantined` one", "quarantined"),
        ("as Acme Quarry says", "acme quarry"),
    ],
)
def test_a_strong_mention(text: str, key: str) -> None:
    assert key in terms.mentioned(text)


@pytest.mark.parametrize(
    "text",
    [
        "the quarantined one",
        "an error in the file",
        "status 200, then 404 and 500",
        "in 2024 about 1000 or 12,000",
        "at 10:15 on page 12",
        "Then We went on",
    ],
)
def test_what_is_too_little_to_point_anywhere(text: str) -> None:
    assert [key for key in terms.mentioned(text) if key != "10:15"] == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [("1,234,567", "1234567"), ("1234567.0", "1234567"), ("0012.50", "12.5"), ("1.234.567", "1234567"), ("0.0", "0")],
)
def test_one_number_has_one_key(text: str, plain: str) -> None:
    assert terms.number(text) == plain


def test_numbers_that_differ_have_different_keys() -> None:
    assert len({terms.number(text) for text in ("12345", "1234.5", "123450", "12.345")}) == 4


@pytest.mark.parametrize(
    ("key", "says"), [("4217", True), ("417", True), ("120", False), ("2024", False), ("404", False)]
)
def test_round_and_well_known_numbers_say_nothing(key: str, says: bool) -> None:
    assert terms.significant(key) is says


def test_text_without_spaces_has_a_word_per_character() -> None:
    assert terms.words("打开文件main中") == ["打", "开", "文", "件", "main", "中"]


@given(texts())
def test_escapes_are_flattened_in_place(text: str) -> None:
    assert len(terms.flat(text)) == len(text)
    assert terms.words(terms.flat(text.replace("\n", "\\n"))) == terms.words(terms.flat(text))


@given(st.lists(st.sampled_from(("ab", "\\u00e9", "\\u4f60", " ", "\\u00", "é"))))
def test_decoding_tells_where_each_escape_stood(parts: list[str]) -> None:
    text = "".join(parts)
    plain, places = terms.decoded(text)
    assert len(plain) + 5 * len(places) == len(text)
    assert all(text[place + 5 * number :].startswith("\\u") for number, place in enumerate(places))


@given(st.one_of(texts(), broken_texts(), st.text()))
def test_any_text_has_terms(text: str) -> None:
    assert all(introduced(text)) or introduced(text) == set()
    assert all(terms.mentioned(text).values())
