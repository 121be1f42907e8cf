"""What a recall may ask, and what it is given: every part fits, is whole, and leads to the next one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import stub
from ctxgc.session.reading import DESCRIPTION, END, SCHEMA, SMALLEST, TOOL_NAME, Asked, bare, excerpt, parse
from tests.strategies import PIECES, broken_texts, texts

HANDLE = "k3v7qzsx2mhd4ayb"
WHOLE = Asked(HANDLE)
FILE = "".join(f"line {number} of the file\n" for number in range(1, 951))
LIMIT = SMALLEST
NOTE = re.compile(r"\[(lines|bytes) ([0-9]+)-([0-9]+) of ([0-9]+)(?:; ask for ([^\]]+))?\]\Z")
Read = Callable[[str, Asked, int], str]


# Arguments


def asking(**given: object) -> Asked:
    return parse(json.dumps({"handle": HANDLE, **given}))


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "ctxgc:{}",
        "[ctxgc:{}",
        "[ctxgc:{}]",
        "[ctxgc:{} lines 41-960 of 1000 not shown]",
        "[{} lines 1-4]",
        "[{}]",
        "  {} ",
    ],
)
def test_a_handle_may_be_given_as_it_stands_in_a_stub(form):
    assert asking(handle=form.format(HANDLE)) == asking(handle=form.format(HANDLE).upper()) == WHOLE
    assert bare(form.format(HANDLE)) == HANDLE


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"first_line": 2, "last_line": 3}, Asked(HANDLE, lines=(2, 3))),
        ({"first_line": "2", "last_line": " 3 "}, Asked(HANDLE, lines=(2, 3))),
        ({"first_line": 2.0}, Asked(HANDLE, lines=(2, END))),
        ({"last_line": 3}, Asked(HANDLE, lines=(1, 3))),
        ({"last_line": 10**30}, Asked(HANDLE, lines=(1, END))),
        ({"first_byte": 5, "last_byte": 9, "search": "x"}, Asked(HANDLE, bytes=(5, 9), search="x")),
        ({"first_line": 4, "search": "x y"}, Asked(HANDLE, lines=(4, END), search="x y")),
        ({"first_line": None, "last_line": "", "first_byte": 0, "last_byte": 0, "search": None}, WHOLE),
        ({"unheard_of": 1}, WHOLE),
    ],
)
def test_numbers_are_taken_as_models_write_them(given, asked):
    assert asking(**given) == asked


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"handle":', "not JSON"),
        ('["a"]', "JSON object"),
        ("{}", "handle must be"),
        ('{"handle": 7}', "handle must be"),
        ('{"handle": "k3v7"}', "handle must be"),
        ('{"handle": "k3v7qzsx2mhd4ay1"}', "handle must be"),
        (json.dumps({"handle": HANDLE + "a" * 5_000_000}), "handle must be"),
        *(
            (json.dumps({"handle": HANDLE, **given}), says)
            for given, says in (
                ({"first_line": -1}, "first_line must be"),
                ({"first_line": 1.5}, "first_line must be"),
                ({"last_byte": True}, "last_byte must be"),
                ({"first_line": "two"}, "first_line must be"),
                ({"first_line": "9" * 5000}, "first_line must be"),
                ({"first_line": float("nan")}, "first_line must be"),
                ({"first_line": [1]}, "first_line must be"),
                ({"first_line": 3, "last_line": 2}, "last_line is before first_line"),
                ({"first_line": 3, "last_byte": 2}, "not both"),
                ({"search": ["x"]}, "one line of at most"),
                ({"search": "x" * 201}, "one line of at most"),
                ({"search": "x\ny"}, "one line of at most"),
            )
        ),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(arguments, says):
    with pytest.raises(ValueError, match=says) as caught:
        parse(arguments)
    assert "\n" not in str(caught.value)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | texts(), st.lists, max_leaves=3))
def test_nothing_that_a_model_writes_raises_anything_else(value):
    for arguments in (str(value), json.dumps(value), json.dumps(dict.fromkeys(SCHEMA["properties"], value))):
        try:
            parse(arguments)
        except ValueError as error:
            assert len(str(error)) < 200  # noqa: PT017


def test_the_schema_names_what_is_understood():
    values = {"handle": HANDLE, "search": "x"}
    for name in SCHEMA["properties"]:
        assert parse(json.dumps({"handle": HANDLE, name: values.get(name, 7)})) != WHOLE or name == "handle"
    assert SCHEMA["required"] == ["handle"]
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", TOOL_NAME)
    assert stub.defuse(DESCRIPTION + json.dumps(SCHEMA)) == DESCRIPTION + json.dumps(SCHEMA)


# Parts


def follow(text: str, read: Read, asked: Asked = WHOLE) -> list[str]:
    """The parts of a text, each asked for as the last line of the one before it says."""
    parts: list[str] = []
    while len(parts) <= len(text):
        out = read(text, asked, LIMIT)
        note = NOTE.search(out)
        if note is None:
            assert (asked, parts) == (WHOLE, []), "a part says what it is a part of"
            return [out]
        parts.append(shown(text, out[: note.start()], note))
        if note[5] is None:
            return parts
        asked = asking(**dict(pair.split("=") for pair in note[5].split(", ")))
    raise AssertionError("there is no end to it")


def shown(text: str, part: str, note: re.Match[str]) -> str:
    """A part without the line end that was put between it and its last line."""
    if note[1] == "lines":
        return part if text.endswith("\n") or note[3] != note[4] else part.removesuffix("\n")
    size = int(note[3]) - int(note[2]) + 1
    return part.encode("utf-8", "surrogatepass")[:size].decode("utf-8", "surrogatepass")


def splits_a_grapheme(text: str, parts: list[str]) -> bool:
    whole = {found.end() for found in regex.finditer(r"[\ud800-\udbff][\udc00-\udfff]|\X", text)}
    at = 0
    for part in parts:
        at += len(part)
        if at not in whole and at:
            return True
    return False


def long_texts() -> st.SearchStrategy[str]:
    """Texts of several parts: many lines, long lines, graphemes of several characters, lone surrogates."""
    runs = st.builds(lambda piece, times: piece * times, st.sampled_from((*PIECES, "x", "ab\r\n")), st.integers(1, 900))
    return st.lists(st.one_of(runs, texts(), broken_texts()), max_size=6).map("".join)


@given(long_texts())
def test_the_parts_make_up_the_text_and_each_fits_and_is_whole(text):
    parts = follow(text, excerpt)
    assert "".join(parts) == text
    assert not splits_a_grapheme(text, parts)


@given(long_texts(), st.integers(1, 900), st.integers(1, 900), st.sampled_from(("lines", "bytes")), texts(6))
def test_nothing_is_longer_than_its_limit(text, first, more, unit, term):
    for asked in (WHOLE, Asked(HANDLE, **{unit: (first, first + more)})):
        assert len(excerpt(text, asked, LIMIT)) <= LIMIT
        assert len(excerpt(text, Asked(HANDLE, asked.lines, asked.bytes, term or "x"), LIMIT)) <= LIMIT


def careless(text: str, asked: Asked, limit: int) -> str:
    """A reader that cuts wherever it must."""
    first = asked.bytes[0] - 1 if asked.bytes else 0
    data = text.encode("utf-8", "surrogatepass")
    start = len(data[:first].decode("utf-8", "surrogatepass"))
    part = text[start : start + 700]
    end = first + len(part.encode("utf-8", "surrogatepass"))
    following = f"; ask for first_byte={end + 1}" if end < len(data) else ""
    return f"{part}\n[bytes {first + 1}-{end} of {len(data)}{following}]"


def forgetful(text: str, asked: Asked, limit: int) -> str:
    """A reader whose last line leaves a line out."""
    return re.sub("first_line=([0-9]+)", lambda found: f"first_line={int(found[1]) + 1}", excerpt(text, asked, limit))


def test_a_careless_reader_is_caught():
    text = "x" + "\U0001f469\u200d\U0001f4bb" * 500
    assert "".join(follow(text, careless)) == text
    assert splits_a_grapheme(text, follow(text, careless))
    assert "".join(follow(FILE, forgetful)) != FILE


@pytest.mark.parametrize(("text", "size"), [(FILE, 20_000), ("short", 1000), ("", 1000), ("x" * 1000, 1000)])
def test_a_text_that_fits_comes_as_it_is(text, size):
    assert excerpt(text, WHOLE, max(size, len(text))) == text


@pytest.mark.parametrize(
    ("asked", "last"),
    [
        (WHOLE, "[lines 1-40 of 950; ask for first_line=41]"),
        (Asked(HANDLE, lines=(201, 950)), "[lines 201-238 of 950; ask for first_line=239]"),
        (Asked(HANDLE, lines=(201, 300)), "[lines 201-238 of 950; ask for first_line=239, last_line=300]"),
        (Asked(HANDLE, lines=(941, END)), "[lines 941-950 of 950]"),
        (Asked(HANDLE, lines=(7, 7)), "[lines 7-7 of 950]"),
        (Asked(HANDLE, bytes=(1, 4)), "[bytes 1-4 of 19842]"),
        (Asked(HANDLE, lines=(951, 960)), "[nothing there: the text has 950 lines, 19842 bytes]"),
        (Asked(HANDLE, bytes=(19843, END)), "[nothing there: the text has 950 lines, 19842 bytes]"),
    ],
)
def test_the_last_line_says_what_is_shown_and_what_to_ask(asked, last):
    assert excerpt(FILE, asked, LIMIT).rpartition("\n")[2] == last


def test_a_line_that_is_too_long_is_given_in_bytes():
    text = "short\n" + "é" * 3000 + "\nend\n"
    first = excerpt(text, WHOLE, LIMIT)
    assert first == "short\n[lines 1-1 of 3; ask for first_line=2]"
    second = excerpt(text, asking(first_line=2, last_line=2), LIMIT)
    assert second.endswith("é\n[bytes 7-1606 of 6011; ask for first_byte=1607, last_byte=6007]")


def test_bytes_are_widened_to_what_they_are_part_of():
    text = "ab\U0001f469\u200d\U0001f4bbcd"
    assert excerpt(text, Asked(HANDLE, bytes=(5, 6)), LIMIT) == "\U0001f469\u200d\U0001f4bb\n[bytes 3-13 of 15]"
    assert excerpt(text, Asked(HANDLE, bytes=(1, 2)), LIMIT) == "ab\n[bytes 1-2 of 15]"


def test_lines_end_at_line_feeds_only():
    assert (
        excerpt("a\u2028b\x0cc\rd\r\ne", Asked(HANDLE, lines=(1, 1)), LIMIT) == "a\u2028b\x0cc\rd\r\n[lines 1-1 of 2]"
    )


def test_a_limit_without_room_is_refused():
    with pytest.raises(ValueError, match="at least"):
        excerpt("x", WHOLE, SMALLEST - 1)
