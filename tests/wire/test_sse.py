"""The event splitter, against a simple reading of the standard and against every way of cutting a stream."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.wire.sse import EventSplitter


def split(*chunks: bytes, cap: int = 1 << 20) -> list[bytes]:
    splitter = EventSplitter(cap)
    return [event for chunk in chunks for event in splitter.feed(chunk)] + splitter.close()


def reference(stream: bytes) -> list[bytes]:
    """The standard's algorithm over a whole stream, with the event at its end dispatched."""
    events, data = [], []
    for line in [*re.split(rb"\r\n|\r|\n", stream.removeprefix(b"\xef\xbb\xbf")), b""]:
        name, _, value = line.partition(b":")
        if line and name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            events.append(b"\n".join(data))
            data = []
    return events


def test_events_are_separated_by_empty_lines() -> None:
    assert split(b"data: a\n\ndata:b\n\n") == [b"a", b"b"]


def test_lines_may_end_in_crlf_or_cr() -> None:
    assert split(b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n") == [b"a", b"b", b"c"]


def test_a_crlf_cut_in_two_is_one_line_end() -> None:
    assert split(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [b"a\nb"]


def test_an_empty_chunk_between_cr_and_lf_changes_nothing() -> None:
    assert split(b"data: a\r", b"", b"\ndata: b\n\n") == [b"a\nb"]


def test_the_data_of_several_lines_is_joined() -> None:
    assert split(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']


def test_comments_are_not_data() -> None:
    assert split(b": OPENROUTER PROCESSING\n\n: data: x\n\ndata: a\n\n") == [b"a"]


def test_other_fields_are_left_out() -> None:
    assert split(b"event: error\nid: 7\nretry: 10\ndatax: no\ndata: a\n\nevent: ping\n\n") == [b"a"]


def test_only_one_space_belongs_to_the_syntax() -> None:
    assert split(b"data:  a \n\n") == [b" a "]


def test_a_byte_order_mark_is_skipped_once() -> None:
    assert split(b"\xef\xbb", b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [b"a"]


def test_the_last_event_counts_without_its_empty_line() -> None:
    assert split(b"data: a\n\ndata: [DONE]") == [b"a", b"[DONE]"]


def test_a_character_cut_in_two_arrives_whole() -> None:
    stream = "data: naïve 🙂\n\n".encode()
    assert [event.decode() for event in split(*(bytes([byte]) for byte in stream))] == ["naïve 🙂"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_over_the_cap_is_dropped_and_the_next_is_read(size: int) -> None:
    stream = b"data: " + b"x" * 300 + b"\ndata: y\n\ndata: z\n\n"
    splitter = EventSplitter(cap=100)
    events = [event for at in range(0, len(stream), size) for event in splitter.feed(stream[at : at + size])]
    assert (events, splitter.overflowed) == ([b"z"], True)


def test_many_lines_of_one_event_count_together() -> None:
    splitter = EventSplitter(cap=100)
    assert splitter.feed(b"data:\n" * 200 + b"\ndata: z\n\n") == [b"z"]
    assert splitter.overflowed


def test_an_event_within_the_cap_is_no_overflow() -> None:
    splitter = EventSplitter(cap=100)
    assert splitter.feed(b"data: " + b"x" * 90 + b"\n\n") == [b"x" * 90]
    assert not splitter.overflowed


def test_next_to_nothing_is_kept_of_a_line_without_end() -> None:
    splitter = EventSplitter(cap=100)
    for _ in range(50):
        splitter.feed(b"x" * 99)
    assert len(splitter._line) + len(splitter._data) <= 1


STREAMS = st.lists(
    st.sampled_from([b"data", b"data:", b"data: ", b"x", b":", b"\n", b"\r", b"\r\n", b"\n\n", "é".encode(), b" "])
).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 80)))
def test_where_a_stream_is_cut_does_not_matter(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert split(*chunks) == reference(stream)


@given(st.binary(), st.integers(1, 40))
def test_no_bytes_make_it_fail(stream: bytes, cap: int) -> None:
    splitter = EventSplitter(cap)
    assert all(len(event) <= cap for event in [*splitter.feed(stream), *splitter.close()])
