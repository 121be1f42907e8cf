"""What each verifier sees, and what it does not take for it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.bookings import Artifact
from ctxgc.errors import NotVerified
from ctxgc.ledger import (
    Verifier,
    Voucher,
    exit_status,
    file_exists,
    json_path_equals,
    number_equals,
    quotes,
    reads_back,
    verifier,
)
from ctxgc.ledger import files as live_files


def voucher(content: str | bytes, ref: str = "a.txt", root: str = "", status: int | None = None) -> Voucher:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    artifact = Artifact(0, id="a" * 16, type="file", ref=ref, hash="", size=len(data), lines=1, exit_status=status)
    return Voucher(artifact, data, root)


def seen(check: Verifier, content: str | bytes) -> bytes:
    looked = voucher(content)
    first, last = check(looked)
    return looked.content[first:last]


def refused(check: Verifier, looked: Voucher | str) -> str:
    with pytest.raises(NotVerified) as error:
        check(voucher(looked) if isinstance(looked, str) else looked)
    line = str(error.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


def test_a_quote_is_found_byte_for_byte_and_else_with_other_white_space():
    text = "one  two\nthree two three"
    assert seen(quotes("two three"), text) == b"two three"
    assert seen(quotes("one two"), text) == b"one  two"
    assert seen(quotes(" two\n three t"), "one two\nthree t wo") == b"two\nthree t"


@pytest.mark.parametrize("text", ["two one", "onetwo", "One two", "", "  \n"])
def test_other_words_are_no_quote(text: str):
    assert "expected" in refused(quotes(text), "one  two\nthree")


def test_a_quote_may_hold_lone_surrogates_and_the_line_says_what_was_looked_for():
    assert seen(quotes("a\udc80b"), "x a\udc80b") == "a\udc80b".encode("utf-8", "surrogatepass")
    assert "'never said'" in refused(quotes("never\nsaid"), "something else")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("0 failed", "12 passed, 10 failed"), ("5 failed", "1.5 failed"), ("5 failed", "1,5 failed"),
        ("ran 12", "ran 120 tests"), ("ran 1", "ran 1.5 s"), ("ran 1", "ran 1,024"), ("port", "report"),
        ("ran", "rank_a"),
    ],
)  # fmt: skip
def test_a_quote_does_not_begin_or_end_within_a_word_or_a_number(quote: str, text: str):
    assert "expected" in refused(quotes(quote), text)
    assert seen(quotes(quote), f"{text}; {quote}.") == quote.encode()


@pytest.mark.parametrize("quote", ["測試", "failed: 0", "0 failed", "(0 failed)", "x.y"])
def test_a_quote_may_stand_between_marks_and_in_texts_without_spaces(quote: str):
    assert seen(quotes(quote), f"通過{quote}完") == quote.encode() if not quote.isascii() else True
    assert seen(quotes(quote), f"[{quote}], {quote}.") == quote.encode()


@pytest.mark.parametrize(
    ("text", "near", "number"),
    [
        ("12 passed, 0 skipped, 3 failed", "failed", 3), ("failed: 3, passed: 12", "failed", 3),
        ("failed=3, errors=0", "errors", 0), ("port = 5433  # was 5432", "port", 5433),
        ("| passed | 12 |", "passed", 12),
        ("line 3: 7", "line 3", 7), ("a: 1\nb: 2\na: 3", "a", 3),
    ],
)  # fmt: skip
def test_of_several_numbers_on_a_line_the_nearest_counts(text: str, near: str, number: int):
    assert seen(number_equals(number, near), text)
    assert "expected" in refused(number_equals(number + 100, near), text)


def test_a_number_farther_away_is_not_the_one() -> None:
    """The negative control of the nearest: on the same line stands what was asked for, of something else."""
    assert "it has 3" in refused(number_equals(0, "failed"), "12 passed, 0 skipped, 3 failed")
    assert "expected" in refused(number_equals(12, "passed"), "12 passed 13")
    assert seen(number_equals(0), "12 passed, 0 skipped, 3 failed")


@given(st.text("äß \n\t", max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_any_part_of_a_text_with_other_white_space_is_found(text: str, first: int, last: int):
    part = " ".join(text[first:last].split())
    if part:
        assert seen(quotes(part), text).decode().split() == part.split()


def test_a_long_quote_in_a_long_text_takes_linear_time():
    assert "not in" in refused(quotes("a " * 200_000 + "c"), "a  " * 400_000 + "b")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "total 1,234,567 rows"),
        ("1234567.50", "total 1,234,567.5"),
        (0.1, "share 0.10"),
        (Decimal("0.3"), "share .. 0.3%"),
        (-5, "balance -5"),
        (-5, "balance −5 C"),
        (5, "range 3-5"),
        (12, "took 12ms"),
        (1000, "about 1e3"),
        (20, "10,20,30"),
        (1234, "1\u202f234 m"),
        (5, "ends with 5."),
    ],
)
def test_a_number_equals_however_it_is_written(value, text):
    assert seen(number_equals(value), f"first\n{text}\nlast") == text.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10, "10,200 rows"),
        (1, "version 1.2.3"),
        (1.2, "version 1.2.3"),
        (3, "commit 3f2a"),
        (2, "x2 items"),
        (5, "balance -5"),
        (0.3, "0.30000000000000004"),
        (1, "1e999999999999999999999999"),
        (7, "no number here"),
    ],
)
def test_parts_of_numbers_versions_and_names_are_other_numbers(value, text):
    assert "expected the number" in refused(number_equals(value), text)


def test_a_number_stands_near_what_it_is_of():
    text = "5 passed\n3 failed\n"
    assert seen(number_equals(3, near="failed"), text) == b"3 failed"
    assert "it has 3" in refused(number_equals(5, near="failed"), text)
    assert "no such line" in refused(number_equals(5, near="skipped"), text)
    assert "no such line" in refused(number_equals(5, near="passed\n3"), text)


@pytest.mark.parametrize("value", ["many", float("nan"), float("inf")])
def test_what_is_no_number_cannot_be_asked_for(value):
    with pytest.raises(ValueError, match="number"):
        number_equals(value)


DOCUMENT = '{"a": {"b": [10, {"c": 1.10}, "x\\ud800"], "d.e": true}, "n": null, "big": 12345678901234567890}'


@pytest.mark.parametrize(
    ("path", "value", "bytes_seen"),
    [
        ("a.b[0]", 10, b"10"),
        ("a.b.0", 10.0, b"10"),
        ("$.a.b[-2].c", "1.1", None),
        ("a.b[1].c", Decimal("1.1"), b"1.10"),
        ("a.b[1]", {"c": 1.1}, b'{"c": 1.10}'),
        ('a["d.e"]', True, b"true"),
        ("n", None, b"null"),
        ("big", 12345678901234567890, b"12345678901234567890"),
        ('["a"].b[2]', "x\ud800", b'"x\\ud800"'),
    ],
)
def test_a_json_value_is_found_where_it_stands(path, value, bytes_seen):
    if bytes_seen is None:  # a text is no number
        assert "it is '1.10'" in refused(json_path_equals(path, value), DOCUMENT)
    else:
        assert seen(json_path_equals(path, value), DOCUMENT) == bytes_seen


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ('a["d.e"]', 1, DOCUMENT),
        ("a.b[9]", 1, DOCUMENT),
        ("a[0]", 1, DOCUMENT),
        ("n.x", None, DOCUMENT),
        ("a", 1, '{"a": 1, "a": 2}'),
        ("", {"a": 1}, '{"a": 2, "a": 1}'),
        ("", 1, "NaN"),
        ("a", 1, "no JSON"),
        ("", 1, "[" * 100_000),
        ("a", 1, '{"a": 1}}'),
    ],
)
def test_other_json_is_refused_in_one_line(path, value, text):
    refused(json_path_equals(path, value), text)


@pytest.mark.parametrize("path", ["a..b", "a[", "a[x]", "a]b"])
def test_a_path_that_cannot_be_read_is_the_callers_fault(path):
    with pytest.raises(ValueError, match="path"):
        json_path_equals(path, 1)


def test_the_exit_status_is_the_recorded_one():
    assert exit_status()(voucher("ok", status=0)) == (0, 2)
    assert "it is 1" in refused(exit_status(), voucher("", status=1))
    assert "none is recorded" in refused(exit_status(), voucher("exit status 0"))


def test_a_live_file_reads_back_or_it_does_not(root: Path):
    file = root / "a.txt"
    for ref in ("a.txt", "file:a.txt", f"file:{file}", f"file://{file}", str(file)):
        kept = voucher("kept", ref, str(root))
        file.write_text("kept")
        assert reads_back()(kept) == file_exists()(kept) == (0, 4)
        file.write_text("keptt")
        assert "it differs (4 bytes are kept and 5 stand there)" in refused(reads_back(), kept)
        file.unlink()
        assert "it is gone" in refused(reads_back(), kept)
        assert "there is none" in refused(file_exists(), kept)


def test_another_file_can_be_asked_for(root: Path):
    (root / "b.txt").write_text("")
    assert file_exists("b.txt")(voucher("kept", "a.txt", str(root))) == (0, 4)


@pytest.mark.parametrize("ref", ["", "a\0b", "\udc80", "x" * 5000, "."])
def test_refs_that_lead_to_no_file_are_only_refused(root: Path, ref: str):
    refused(reads_back(), voucher("kept", ref, str(root)))
    refused(file_exists(), voucher("kept", ref, str(root)))


def test_what_is_too_large_is_not_compared(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live_files, "LIMIT", 3)
    (root / "a.txt").write_text("kept")
    assert "cannot be compared" in refused(reads_back(), voucher("kept", "a.txt", str(root)))


def test_an_application_brings_its_own():
    @verifier("ends_with", "3", text="done")
    def ends_with(looked: Voucher) -> tuple[int, int]:
        if not looked.content.endswith(b"done"):
            raise NotVerified("expected an end")
        return len(looked.content) - 4, len(looked.content)

    assert isinstance(ends_with, Verifier)
    assert (ends_with.name, ends_with.version, ends_with.asked) == ("ends_with", "3", '{"text":"done"}')
    assert seen(ends_with, "all done") == b"done"
    assert refused(ends_with, "not yet") == "expected an end"


def test_what_was_asked_is_canonical_and_bounded():
    assert number_equals(2.50, near="x").asked == '{"near":"x","value":"2.5"}'
    assert json_path_equals("a", {"z": 1, "b": 2}).asked == '{"path":"a","value":{"b":2,"z":1}}'
    assert '"size":' in quotes("long " * 100_000).asked
    assert len(quotes("long " * 100_000).asked) < 2_000
    assert quotes("long " * 100_000).asked != quotes("long " * 100_001).asked


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "flags 0xFF"),
        (10, "area 10,200m2"),
        (1, "1,234.5.6"),
        (234, "total EUR1,234"),
        (234, "host 3f1,234"),
        (1, "1\uff12 rows"),
        (5, "5\u00b2 cells"),
        (5, "5\u00bd days"),
        (10, "10\u207b\u00b3"),
        (1, "1e\u22123"),
    ],
)
def test_the_beginning_or_end_of_another_number_is_none(value, text):
    assert "expected the number" in refused(number_equals(value), text)


@pytest.mark.parametrize(
    ("value", "text"), [(0.001, "1e\u22123"), (200, "a,200"), (20, "x 10,20"), (1234, "EUR 1,234")]
)
def test_control_what_stands_by_itself_beside_such_is_found(value, text):
    assert seen(number_equals(value), text) == text.encode()


@pytest.mark.parametrize("text", ["a" * 2_000_000, "1" + "a" * 2_000_000, "a1,111" * 300_000, "1,111" * 300_000])
def test_numbers_in_a_long_line_take_linear_time(text: str):
    refused(number_equals(7), text)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(100_000), {1: "a", "b": 2}], ids=["deep", "keys of two kinds"])
def test_a_value_that_no_json_has_is_the_callers_fault(value: object):
    with pytest.raises(ValueError, match="none that JSON has"):
        json_path_equals("a", value)


def test_a_number_beyond_all_bounds_is_refused_in_one_line():
    assert "cannot be read as JSON" in refused(json_path_equals("a", 1), '{"a": 1e99999999999999999999}')
