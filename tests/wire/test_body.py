"""Splitting a body: offsets that rejoin to the same bytes, whole or behind a known prefix, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.spans import Malformed, Span
from ctxgc.wire.body import resume, split
from ctxgc.wire.codec import Body
from tests.strategies import SPACES, json_strings, json_texts


@st.composite
def messages(draw: st.DrawFn) -> str:
    """A JSON object as somebody may have written it."""
    extra = draw(st.lists(st.tuples(json_strings(), json_texts()), max_size=3, unique_by=lambda member: member[0]))
    members = ['"role":"user"', *(f'"x{number}{key[1:]}:{value}' for number, (key, value) in enumerate(extra))]
    return "{" + draw(SPACES) + ",".join(members) + draw(SPACES) + "}"


@st.composite
def requests(draw: st.DrawFn, minimum: int = 0) -> tuple[str, str, list[str], str]:
    """A request in pieces: what stands before its messages, what separates them, the messages, and what follows."""
    fields = draw(
        st.lists(st.tuples(st.sampled_from("abcdef"), json_texts()), max_size=4, unique_by=lambda one: one[0])
    )
    cut = draw(st.integers(0, len(fields)))
    before = "".join(f'"{key}"{draw(SPACES)}:{value}{draw(SPACES)},' for key, value in fields[:cut])
    after = "".join(f',{draw(SPACES)}"{key}":{draw(SPACES)}{value}' for key, value in fields[cut:])
    separator = draw(SPACES) + "," + draw(SPACES)
    found = draw(st.lists(messages(), min_size=minimum, max_size=5))
    return f'{draw(SPACES)}{{{before}"messages":[{draw(SPACES)}', separator, found, f"]{after}}}{draw(SPACES)}"


def join(request: tuple[str, str, list[str], str]) -> bytes:
    before, separator, found, after = request
    return f"{before}{separator.join(found)}{after}".encode()


def rejoined(body: Body) -> bytes:
    """The body from its parts, what lies between its messages included."""
    parts, at = [body.text[: body.start]], body.start
    for span in body.messages:
        parts += (body.text[at : span.start], span.of(body.text))
        at = span.end
    return b"".join((*parts, body.text[body.end :]))


@given(requests())
@settings(max_examples=40)
def test_the_parts_of_a_body_rejoin_to_the_same_bytes(request) -> None:
    text = join(request)
    assert rejoined(split(text, "messages")) == text


@given(requests())
@settings(max_examples=40)
def test_messages_and_fields_are_the_bytes_that_came(request) -> None:
    body = split(join(request), "messages")
    assert [span.of(body.text).decode() for span in body.messages] == request[2]
    parsed = json.loads(body.text)
    assert {key: json.loads(raw) for key, raw in body.fields.items()} == {
        key: value for key, value in parsed.items() if key != "messages"
    }
    assert all(raw in body.text[: body.start] for raw in body.head.values())


@given(requests(minimum=1), st.data())
@settings(max_examples=40)
def test_resuming_comes_to_what_a_whole_split_does(request, data) -> None:
    before, separator, found, after = request
    count = data.draw(st.integers(1, len(found)))
    known = split(join((before, separator, found[:count], after)), "messages").known()
    whole, part = split(join(request), "messages"), resume(join(request), "messages", known)
    assert part == replace(whole, messages=whole.messages[count:], behind=len(known.prefix), first=count)
    assert part.known() == whole.known()


@given(requests(minimum=1), requests(minimum=1))
@settings(max_examples=40)
def test_a_body_that_begins_otherwise_is_not_resumed(one, other) -> None:
    known = split(join(other), "messages").known()
    text = join(one)
    assert (resume(text, "messages", known) is None) == (not text.startswith(known.prefix))


def test_nothing_is_resumed_behind_an_empty_history() -> None:
    assert resume(b'{"messages":[{}]}', "messages", split(b'{"messages":[]}', "messages").known()) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"messages":{}}',
        b'{"messages":"x"}',
        b'{"messages":null}',
        b'{"messages":[],"messages":[]}',
        b'{"model":1,"messages":[],"model":2}',
        b'{"m\\u006fdel":1,"messages":[],"model":2}',
        b'{"messages":[{"a":NaN}]}',
        b'\xef\xbb\xbf{"messages":[]}',
        b'{"messages":[]} x',
        b'{"messages":[' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
    ],
)
def test_what_is_no_request_is_refused(text: bytes) -> None:
    with pytest.raises(Malformed):
        split(text, "messages")


@pytest.mark.parametrize("end", [b',{}],"model":2}', b',{}],"messages":[]}', b",{}]", b",{}]}x", b"{}]}", b",]}"])
def test_what_is_refused_as_a_whole_is_refused_behind_a_prefix(end: bytes) -> None:
    known = split(b'{"model":1,"messages":[{}]}', "messages").known()
    with pytest.raises(Malformed):
        split(known.prefix + end, "messages")
    with pytest.raises(Malformed):
        resume(known.prefix + end, "messages", known)


@pytest.mark.parametrize("off", [-1, 1])
def test_control_offsets_that_are_off_by_one_are_noticed(off: int) -> None:
    body = split(b'{"messages":[{"a":1}, {"b":2}],"model":"m"}', "messages")
    wrong = replace(body, messages=(*body.messages[:-1], replace(body.messages[-1], end=body.end + off)))
    assert rejoined(wrong) == body.text[: body.end + off] + body.text[body.end :] != body.text
    shifted = tuple(Span("", span.start + off, span.end + off) for span in body.messages)
    assert [span.of(body.text) for span in shifted] != [b'{"a":1}', b'{"b":2}']
