from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import spans
from ctxgc.core.spans import Malformed, Span
from tests.strategies import json_bodies, json_strings, texts


def split(text: bytes) -> tuple[Span, ...]:
    return spans.elements(text) if text.strip()[:1] == b"[" else spans.members(text)


def rejoined(text: bytes, found: tuple[Span, ...]) -> bytes:
    """The text from what lies between the spans and what they hold."""
    edges = [0, *(edge for span in found for edge in (span.start, span.end)), len(text)]
    return b"".join(text[start:end] for start, end in pairwise(edges))


def values(text: bytes) -> list[object]:
    parsed = json.loads(text)
    return list(parsed.values()) if isinstance(parsed, dict) else parsed


@given(json_bodies())
def test_spans_hold_the_values_and_nothing_else(text: bytes) -> None:
    found = split(text)
    assert [json.loads(span.of(text)) for span in found] == values(text)
    assert all(span.of(text) == span.of(text).strip() for span in found)
    assert rejoined(text, found) == text


@given(json_bodies())
def test_keys_are_the_texts_own(text: bytes) -> None:
    parsed = json.loads(text)
    expected = list(parsed) if isinstance(parsed, dict) else [""] * len(parsed)
    assert [span.key for span in split(text)] == expected


def test_a_split_that_is_off_by_one_is_noticed() -> None:
    text = b'{"a": 12, "b": 3}'
    wrong = tuple(Span(span.key, span.start + 1, span.end) for span in spans.members(text))
    assert [json.loads(span.of(text)) for span in wrong if span.of(text)] != values(text)


@pytest.mark.parametrize(
    "text",
    [b'{"a":1,"a":2}', b'{"a":1,"b":2,"a":1}', b'{"a":1,"\\u0061":2}', b'{"\\ud800":1,"\\uD800":2}'],
)
def test_duplicate_keys_are_refused(text: bytes) -> None:
    with pytest.raises(Malformed):
        spans.members(text)


@pytest.mark.parametrize("text", [b"", b"[1", b"{}{}", b"[1,]", b'{"a":nan}', b"1", b'{"a":"\\x"}', b'{"a" 1}'])
def test_what_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(Malformed):
        spans.members(text)
    with pytest.raises(Malformed):
        spans.elements(text)


def test_an_array_has_no_members_and_an_object_no_elements() -> None:
    with pytest.raises(Malformed):
        spans.members(b"[1]")
    with pytest.raises(Malformed):
        spans.elements(b'{"a":1}')


@pytest.mark.parametrize("text", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000])
def test_deep_nesting_is_malformed_and_no_crash(text: bytes) -> None:
    with pytest.raises(Malformed):
        split(text)


def test_surrogates_in_keys_and_values() -> None:
    text = b'{"\\ud83d\\ude00":"\\ud800","\\ud800":2,"\\udc00":3}'
    assert [span.key for span in spans.members(text)] == ["😀", "\ud800", "\udc00"]


def test_an_escaped_backslash_before_u_is_no_surrogate() -> None:
    text = b'{"a\\\\ud800":"\\ud800"}'
    assert [span.key for span in spans.members(text)] == ["a\\ud800"]


@given(st.lists(st.one_of(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=12), json_strings())
def test_find_follows_a_path_of_any_depth(path: list[str | int], leaf: str) -> None:
    text = leaf
    for step in reversed(path):
        text = f'{{"x": 1, "{step}" :{text}}}' if isinstance(step, str) else f"[{'0, ' * step}{text} ]"
    span = spans.find(text.encode(), tuple(path))
    assert span is not None
    assert span.of(text.encode()) == leaf.encode()


def test_find_is_none_where_a_path_leads_nowhere() -> None:
    assert spans.find(b'{"a":[1]}', ("a", 1)) is None
    assert spans.find(b'{"a":[1]}', ("b",)) is None


def test_find_of_the_empty_path_is_the_whole() -> None:
    assert spans.find(b"[1]", ()) == Span("", 0, 3)


@given(texts(), json_bodies())
def test_replace_changes_the_value_and_no_other_byte(value: str, other: bytes) -> None:
    before = b'{"n":1e3, "big":123456789012345678901234567890,"o":' + other + b', "content" : '
    text = before + b'"old" ,"x":"\\u00e9"}'
    assert spans.replace(text, {("content",): value}) == before + spans.encode(value) + b' ,"x":"\\u00e9"}'


def test_replacing_a_value_by_itself_may_only_change_its_own_escapes() -> None:
    text = b'[{"a" : "\\u00e9"}, 1.0, "\\u00e9"]'
    assert spans.replace(text, {(0, "a"): "é"}) == b'[{"a" : "\xc3\xa9"}, 1.0, "\\u00e9"]'


def test_replace_takes_several_paths_in_any_order() -> None:
    edits: dict[spans.Path, str] = {("b",): "B", ("a", 1): "A"}
    assert spans.replace(b'{"a":["",""],"b":""}', edits) == b'{"a":["","A"],"b":"B"}'


def test_replace_refuses_a_path_that_leads_nowhere() -> None:
    with pytest.raises(Malformed):
        spans.replace(b'{"a":"x"}', {("b",): "y"})


@pytest.mark.parametrize("other", [("a", 0), ("a", -1, "b")])
def test_replace_refuses_one_path_within_another(other: spans.Path) -> None:
    with pytest.raises(Malformed):
        spans.replace(b'{"a":[{"b":""}]}', {("a",): "x", other: "y"})


@pytest.mark.parametrize(
    ("key", "expected"),
    [("a", b'{"b": 2, "c":3}'), ("b", b'{"a":1, "c":3}'), ("c", b'{"a":1,"b": 2}'), ("d", b'{"a":1,"b": 2, "c":3}')],
)
def test_remove_takes_the_member_and_its_comma(key: str, expected: bytes) -> None:
    assert spans.remove(b'{"a":1,"b": 2, "c":3}', key) == expected


@given(json_bodies(), st.data())
def test_remove_leaves_the_other_members(text: bytes, data: st.DataObject) -> None:
    parsed = json.loads(text)
    if isinstance(parsed, dict) and parsed:
        key = data.draw(st.sampled_from(sorted(parsed)))
        del parsed[key]
        assert json.loads(spans.remove(text, key)) == parsed


@given(st.text())
def test_encode_is_read_back_as_the_same_string(value: str) -> None:
    assert json.loads(spans.encode(value)) == json.loads(json.dumps(value))


def test_however_many_parts_are_replaced_each_container_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    through = spans.elements
    monkeypatch.setattr(spans, "elements", lambda text: looked.append(len(text)) or through(text))
    text = b'{"content":[' + b",".join(b'{"type":"text","text":"part"}' for _ in range(50)) + b"]}"
    replaced = spans.replace(text, {("content", at, "text"): str(at) for at in range(50)})
    assert [part["text"] for part in json.loads(replaced)["content"]] == [str(at) for at in range(50)]
    assert len(looked) == 1
