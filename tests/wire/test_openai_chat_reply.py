"""Replies as servers send them, broken ones included. Each test names what a server was seen to do."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Author, Kind
from ctxgc.core.journal import Usage
from ctxgc.wire.codec import Reply
from ctxgc.wire.openai_chat_reply import Reader, reader
from ctxgc.wire.sse import CAP


def read(*chunks: bytes, stream: bool = True) -> Reply:
    parser = reader(stream=stream)
    for chunk in chunks:
        parser.feed(chunk)
    return parser.finish()


def sse(*events: object, done: bool = True) -> bytes:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return b"".join(b"data: " + line + b"\n\n" for line in [*lines, *([b"[DONE]"] if done else [])])


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def whole(**fields: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}
    return json.dumps({"id": "c1", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 7}}).encode()


def call(text: str | None = None, name: str | None = None, **fields: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": text}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}


def calls(*deltas: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of the calls of a stream with one tool-call delta in each chunk."""
    reply = read(sse(*(delta(tool_calls=[one]) for one in deltas)))
    assert all(block.kind is Kind.TOOL_CALL for block in reply.blocks)
    return [(block.call_id, block.name, block.text) for block in reply.blocks]


def texts(reply: Reply) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in reply.blocks]


def usage(**fields: Any) -> Usage | None:
    return read(json.dumps({"choices": [], "usage": fields}).encode(), stream=False).usage


# What a reply says, whole or streamed


def test_a_whole_reply() -> None:
    reply = read(whole(content="hi"), stream=False)
    assert texts(reply) == [("text", "hi")]
    assert (reply.model, reply.finish, dict(reply.ids)) == ("m", "stop", {"response": "c1"})
    assert reply.usage == Usage(uncached=7)
    assert reply.complete


def test_a_streamed_reply() -> None:
    reply = read(sse(delta(role="assistant", content=""), delta(content="h"), delta(content="i"), delta("stop")))
    assert texts(reply) == [("text", "hi")]
    assert (reply.model, reply.finish, dict(reply.ids), reply.complete) == ("m", "stop", {"response": "c1"}, True)


def test_blocks_come_in_the_order_the_model_reads_them_back() -> None:
    fields = {
        "tool_calls": [call("{}", "f", id="a")],
        "refusal": "no",
        "content": "text",
        "audio": {"id": "x", "data": "AAAA", "transcript": "hm"},
        "reasoning_content": "think",
    }
    reply = read(whole(**fields), stream=False)
    assert [kind for kind, _ in texts(reply)] == ["thinking", "text", "refusal", "audio", "tool_call"]
    assert all(block.author is Author.AGENT and block.path is None for block in reply.blocks)


def test_reasoning_under_either_name() -> None:
    assert texts(read(sse(delta(reasoning="a"), delta(reasoning_content="b")))) == [("thinking", "ab")]


def test_reasoning_under_both_names_is_one_text() -> None:
    assert texts(read(sse(delta(reasoning="a", reasoning_content="a")))) == [("thinking", "a")]


def test_content_in_parts_as_mistral_sends_it() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "hi"}]
    assert texts(read(sse(delta(content=parts), delta(content="!")))) == [("thinking", "hm"), ("text", "hi!")]


def test_audio_is_measured_and_not_kept() -> None:
    reply = read(sse(delta(audio={"data": "AAAA"}), delta(audio={"data": "AA==", "transcript": "hm"})))
    assert texts(reply) == [("audio", "hm")]
    assert reply.blocks[0].media is not None
    assert reply.blocks[0].media.size == 4


def test_only_the_first_choice_is_read() -> None:
    choices = [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]
    assert texts(read(sse({"choices": choices}))) == [("text", "yes")]


def test_a_legacy_function_call() -> None:
    pieces = ({"name": "f", "arguments": '{"a"'}, {"arguments": ":1}"})
    reply = read(sse(*(delta(function_call=piece) for piece in pieces)))
    assert [(block.name, block.text, block.call_id) for block in reply.blocks] == [("f", '{"a":1}', "")]


def test_a_custom_tool_call() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    reply = read(whole(content=None, tool_calls=[custom]), stream=False)
    assert [(block.name, block.text, block.call_id) for block in reply.blocks] == [("sh", "ls -l", "a")]


# Tool calls, told apart


def test_parallel_calls_by_index() -> None:
    deltas = (call("", "f", index=0, id="a"), call("", "g", index=1, id="b"), call("1", index=0), call("2", index=1))
    assert calls(*deltas) == [("a", "f", "1"), ("b", "g", "2")]


def test_indexes_may_start_at_one() -> None:
    assert calls(call("", "f", index=1, id="a"), call("1", index=1)) == [("a", "f", "1")]


def test_calls_that_all_have_index_zero_are_told_apart_by_id() -> None:
    deltas = (call('{"x":1}', "f", index=0, id="a"), call('{"x":2}', "f", index=0, id="b"))
    assert calls(*deltas) == [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')]


def test_without_index_a_delta_goes_on_with_the_last_call() -> None:
    deltas = (call("{", "f", id="a"), call("}"), call("[", "g", id="b"), call("]"))
    assert calls(*deltas) == [("a", "f", "{}"), ("b", "g", "[]")]


def test_without_index_and_id_a_name_begins_a_call() -> None:
    assert calls(call("1", "f"), call("2", "f")) == [("", "f", "1"), ("", "f", "2")]


def test_an_id_on_every_delta_is_one_call() -> None:
    assert calls(call("1", "f", index=0, id="a"), call("2", index=0, id="a")) == [("a", "f", "12")]


def test_a_new_id_on_every_delta_is_one_call_without_a_new_name() -> None:
    assert calls(call("1", "f", index=0, id="a"), call("2", index=0, id="b")) == [("a", "f", "12")]


def test_a_name_on_every_delta_is_one_call() -> None:
    assert calls(call("1", "f", index=0), call("2", "f", index=0)) == [("", "f", "12")]


def test_an_id_that_comes_late_belongs_to_the_call() -> None:
    assert calls(call("1", "f", index=0), call("2", index=0, id="a")) == [("a", "f", "12")]


def test_an_id_and_a_name_that_come_late_belong_to_the_call() -> None:
    assert calls(call("1", "f", index=0), call("2", "f", index=0, id="a")) == [("a", "f", "12")]


def test_without_index_an_id_goes_on_with_its_call() -> None:
    deltas = (call("1", "f", id="a"), call("2", "g", id="b"), call("3", "f", id="a"))
    assert calls(*deltas) == [("a", "f", "13"), ("b", "g", "2")]


def test_an_index_that_comes_late_belongs_to_the_last_call() -> None:
    assert calls(call("1", "f", id="a"), call("2", index=0)) == [("a", "f", "12")]


def test_one_id_at_two_indexes_is_two_calls() -> None:
    assert calls(call("1", "f", index=0, id="a"), call("2", "f", index=1, id="a")) == [("a", "f", "1"), ("a", "f", "2")]


def test_whole_calls_are_never_merged() -> None:
    reply = read(whole(content=None, tool_calls=[call("{}", "f", index=0), call("{}", "f", index=0)]), stream=False)
    assert len(reply.blocks) == 2


def test_empty_deltas_change_nothing() -> None:
    deltas = (call("", "f", index=0, id="a"), call("", index=0), call(None, index=0), {"index": 0}, call("1", index=0))
    assert calls(*deltas) == [("a", "f", "1")]


def test_deltas_that_repeat_everything_so_far() -> None:
    pieces = ['{"city":', '{"city":"P', '{"city":"Par', '{"city":"Par', '{"city":"Paris"}']
    deltas = [call("", "f", index=0, id="a"), *(call(piece, index=0) for piece in pieces)]
    assert calls(*deltas) == [("a", "f", '{"city":"Paris"}')]


def test_text_that_repeats_everything_so_far() -> None:
    text = "The quick brown fox"
    assert texts(read(sse(*(delta(content=text[:end]) for end in range(1, 20))))) == [("text", text)]


def test_deltas_that_repeat_each_other_are_deltas() -> None:
    pieces = ["haha", "haha", "hahaha", " ", "haha"]
    assert texts(read(sse(*(delta(content=piece) for piece in pieces)))) == [("text", "".join(pieces))]


def test_short_deltas_that_grow_are_deltas() -> None:
    assert texts(read(sse(*(delta(content=piece) for piece in ("1", "10", "100", "1000"))))) == [("text", "1101001000")]


def test_empty_arguments_before_the_real_ones_are_a_placeholder() -> None:
    assert calls(call("{}", "f", index=0, id="a"), call('{"x":1}', index=0)) == [("a", "f", '{"x":1}')]


def test_empty_arguments_alone_are_empty_arguments() -> None:
    assert calls(call("{}", "f", index=0, id="a"), call("", index=0)) == [("a", "f", "{}")]


def test_arguments_that_are_an_object_are_read_as_its_json() -> None:
    reply = read(whole(content=None, tool_calls=[{"function": {"name": "f", "arguments": {"x": 1}}}]), stream=False)
    assert reply.blocks[0].text == '{"x": 1}'


def test_a_message_at_the_end_of_a_stream_replaces_its_deltas() -> None:
    last = {"choices": [{"index": 0, "message": {"content": "hi there"}, "finish_reason": "stop"}]}
    assert texts(read(sse(delta(content="hi"), delta(content=" there"), last))) == [("text", "hi there")]


def test_an_empty_message_replaces_nothing() -> None:
    last = {"choices": [{"index": 0, "delta": {}, "message": {}, "finish_reason": "stop"}]}
    assert texts(read(sse(delta(content="hi"), last))) == [("text", "hi")]


def test_messages_in_the_place_of_deltas_are_deltas() -> None:
    pieces = [{"choices": [{"message": {"content": piece}}]} for piece in ("hel", "lo")]
    assert texts(read(sse(*pieces))) == [("text", "hello")]


# How it ends


def test_a_stream_that_breaks_off_is_not_complete() -> None:
    reply = read(sse(delta(content="hi"), done=False))
    assert (texts(reply), reply.complete) == ([("text", "hi")], False)


@pytest.mark.parametrize("end", [sse(delta("length"), done=False), sse(), b"data: [DONE]"])
def test_a_stream_ends_with_a_finish_reason_or_done(end: bytes) -> None:
    assert read(sse(delta(content="hi"), done=False) + end).complete


def test_nothing_at_all_is_not_complete() -> None:
    assert read() == Reply(complete=False)
    assert read(b"", stream=False) == Reply(complete=False)


def test_a_body_that_breaks_off_is_not_complete() -> None:
    assert read(whole(content="hi")[:-3], stream=False) == Reply(complete=False)


def test_a_body_that_is_no_json_is_not_complete() -> None:
    assert read(b"<html>Bad Gateway</html>", stream=False) == Reply(complete=False)


def test_finishing_twice_says_the_same() -> None:
    parser = reader(stream=False)
    parser.feed(whole(content="hi"))
    assert parser.finish() == parser.finish()


def test_json_that_comes_although_a_stream_was_asked_for() -> None:
    assert read(whole(content="hi"), stream=True) == read(whole(content="hi"), stream=False)


def test_a_stream_that_comes_although_it_was_not_asked_for() -> None:
    stream = sse(delta(content="hi"), delta("stop"))
    assert read(stream, stream=False) == read(stream)


@pytest.mark.parametrize("prefix", [b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_blank_lines_and_a_byte_order_mark_before_a_reply(prefix: bytes) -> None:
    assert texts(read(prefix, prefix, whole(content="hi"), stream=False)) == [("text", "hi")]
    assert texts(read(prefix, sse(delta(content="hi")))) == [("text", "hi")]


def test_comments_and_pings_between_chunks() -> None:
    stream = b": OPENROUTER PROCESSING\n\nevent: ping\ndata: ping\n\n" + sse(delta(content="hi"))
    assert texts(read(stream)) == [("text", "hi")]


def test_chunks_without_empty_lines_between_them() -> None:
    stream = sse(delta(content="h"), delta(content="i"), done=False).replace(b"\n\n", b"\n") + b"data: [DONE]\n"
    assert (texts(read(stream)), read(stream).complete) == ([("text", "hi")], True)


# Errors at status 200


ERROR = {"error": {"message": "too long", "code": "context_length_exceeded", "type": "invalid_request_error"}}


def test_an_error_in_a_stream() -> None:
    reply = read(sse(delta(content="h"), ERROR, done=False))
    assert (reply.error, reply.complete, texts(reply)) == (
        "context_length_exceeded: too long",
        False,
        [("text", "h")],
    )


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (ERROR, "context_length_exceeded: too long"),
        ([ERROR], "context_length_exceeded: too long"),
        ({"error": "busy"}, "busy"),
        ({"error": {"reason": ["x"]}}, '{"reason": ["x"]}'),
        ({"object": "error", "message": "no such model"}, "no such model"),
        ({"detail": [{"msg": "field required"}]}, '[{"msg": "field required"}]'),
        ({"choices": [{"error": {"code": 502, "message": "down"}, "finish_reason": "error"}]}, "502: down"),
        ({"error": None, "choices": []}, ""),
    ],
)
def test_errors_in_the_shapes_servers_give_them(body: object, error: str) -> None:
    assert read(json.dumps(body).encode(), stream=False).error == error


def test_errors_are_cut() -> None:
    assert len(read(json.dumps({"error": "x" * 9999}).encode(), stream=False).error) == 2000


# Usage


def test_cached_tokens_are_a_part_of_the_prompt() -> None:
    figures = usage(prompt_tokens=10, completion_tokens=3, prompt_tokens_details={"cached_tokens": 4})
    assert figures == Usage(uncached=6, cached=4, output=3)


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_tokens_details": {"cache_write_tokens": 5}},
        {"prompt_tokens_details": {"cache_creation_tokens": 5}},
        {"cache_write_tokens": 5},
        {"cache_creation_input_tokens": 5},
    ],
)
def test_written_tokens_under_every_name(fields: dict[str, Any]) -> None:
    assert usage(prompt_tokens=10, **fields) == Usage(uncached=5, written=5)


@pytest.mark.parametrize(
    "fields", [{"cached_tokens": 5}, {"cache_read_input_tokens": 5}, {"prompt_cache_hit_tokens": 5}]
)
def test_cached_tokens_under_every_name(fields: dict[str, Any]) -> None:
    assert usage(prompt_tokens=10, **fields) == Usage(uncached=5, cached=5)


def test_hits_and_misses_make_the_prompt() -> None:
    figures = usage(prompt_cache_hit_tokens=4, prompt_cache_miss_tokens=6, completion_tokens=1)
    assert figures == Usage(uncached=6, cached=4, output=1)


def test_parts_that_overlap_never_exceed_the_prompt() -> None:
    figures = usage(prompt_tokens=10, prompt_tokens_details={"cached_tokens": 8, "cache_write_tokens": 8})
    assert figures == Usage(cached=8, written=2)


def test_parts_larger_than_the_prompt_are_not_parts_of_it() -> None:
    figures = usage(prompt_tokens=10, cache_read_input_tokens=50, cache_creation_input_tokens=5)
    assert figures == Usage(uncached=10, cached=50, written=5)


def test_reasoning_is_a_part_of_the_output() -> None:
    figures = usage(
        prompt_tokens=1, completion_tokens=9, total_tokens=10, completion_tokens_details={"reasoning_tokens": 5}
    )
    assert figures == Usage(uncached=1, output=9, reasoning=5)


def test_reasoning_that_the_total_counts_apart_is_added_to_the_output() -> None:
    figures = usage(
        prompt_tokens=32, completion_tokens=9, total_tokens=135, completion_tokens_details={"reasoning_tokens": 94}
    )
    assert figures == Usage(uncached=32, output=103, reasoning=94)


def test_reasoning_never_exceeds_the_output() -> None:
    figures = usage(completion_tokens=9, total_tokens=10, completion_tokens_details={"reasoning_tokens": 94})
    assert figures == Usage(output=9, reasoning=9)


HUGE = "1" + "0" * 5000


@pytest.mark.parametrize("bad", ["-1", "9007199254740993", HUGE, "1.5", '"12"', "true", "null", "[]", "NaN"])
def test_figures_that_are_none_are_ignored(bad: str) -> None:
    body = f'{{"usage": {{"prompt_tokens": {bad}, "completion_tokens": 3}}}}'
    assert read(body.encode()).usage == Usage(output=3)


def test_usage_without_figures_is_no_usage() -> None:
    assert usage() is None
    assert usage(prompt_tokens="many") is None


FINAL = {"prompt_tokens": 10, "completion_tokens": 2}


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [], "usage": FINAL},
        {**delta("stop"), "usage": FINAL},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": FINAL}]},
        {"choices": [], "x_groq": {"usage": FINAL}},
        {"choices": [{"index": 3, "delta": {}, "usage": FINAL}]},
    ],
)
def test_usage_wherever_it_stands_in_a_stream(chunk: dict[str, Any]) -> None:
    assert read(sse(delta(content="hi"), chunk)).usage == Usage(uncached=10, output=2)


def test_the_last_usage_counts() -> None:
    chunks = ({"usage": {"prompt_tokens": 10, "completion_tokens": count}, "choices": []} for count in (1, 2, 3))
    assert read(sse(*chunks)).usage == Usage(uncached=10, output=3)


def test_zeros_do_not_replace_figures() -> None:
    zeros = {"prompt_tokens": 0, "completion_tokens": 0}
    assert read(sse({"usage": FINAL}, {"usage": zeros}, {"usage": None})).usage == Usage(uncached=10, output=2)
    assert read(sse({"usage": zeros})).usage == Usage()


# Whatever comes


@pytest.mark.parametrize("bad", [7, "x", [], {}, [7, None], [[]], {"a": 1}, True])
@pytest.mark.parametrize("key", ["content", "reasoning", "refusal", "audio", "tool_calls", "function_call"])
def test_a_field_of_the_wrong_type_costs_that_field_alone(key: str, bad: object) -> None:
    good = {"content": "hi", "refusal": "no"}
    reply = read(sse({**delta("stop", **{**good, key: bad}), "usage": FINAL}))
    assert (reply.usage, reply.finish) == (Usage(uncached=10, output=2), "stop")
    assert set(texts(reply)) >= {("text" if name == "content" else name, good[name]) for name in good if name != key}


def test_a_choice_of_the_wrong_type_costs_that_choice_alone() -> None:
    chunk = {"id": 7, "model": ["x"], "choices": [None, 7, {"index": "0", "delta": {"content": "hi"}}], "usage": FINAL}
    reply = read(sse(chunk))
    assert (texts(reply), reply.usage, reply.model) == ([("text", "hi")], Usage(uncached=10, output=2), "")


def test_an_emoji_cut_into_two_surrogates_is_joined() -> None:
    stream = sse(b'{"choices":[{"delta":{"content":"\\ud83d"}}]}', b'{"choices":[{"delta":{"content":"\\ude42"}}]}')
    assert texts(read(stream)) == [("text", "🙂")]


def test_a_lone_surrogate_is_replaced() -> None:
    assert texts(read(sse(b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}'))) == [("text", "a�")]


def test_damaged_utf8_costs_its_character_alone() -> None:
    assert texts(read(sse(b'{"choices":[{"delta":{"content":"a\xff"}}]}'))) == [("text", "a�")]


@pytest.mark.parametrize("nested", [b"[" * 100_000, b'{"error":' * 100_000, b'{"choices":' + b"[" * 100_000])
def test_deep_nesting_is_survived(nested: bytes) -> None:
    assert read(nested) == Reply(complete=False)
    assert read(sse(nested, delta(content="hi"))).blocks[0].text == "hi"


@pytest.mark.parametrize("depth", range(900, 1000, 9))
def test_nesting_that_can_just_be_read_is_survived(depth: int) -> None:
    read(sse(b'{"error":' + b"[" * depth + b"]" * depth + b"}"))


def test_a_body_over_the_cap_is_dropped() -> None:
    parser = Reader(stream=False, cap=100)
    for _ in range(10):
        parser.feed(b'{"id": "0123456789"')
    assert len(parser._body) <= 100 + 19
    assert parser.finish() == Reply(complete=False)


def test_a_stream_over_the_cap_keeps_its_usage_and_is_not_complete() -> None:
    parser = Reader(stream=True, cap=100)
    parser.feed(sse(*(delta(content="x" * 60) for _ in range(9)), {"usage": FINAL}, delta("stop")))
    reply = parser.finish()
    assert (reply.usage, reply.finish, reply.complete) == (Usage(uncached=10, output=2), "stop", False)
    assert len(reply.blocks[0].text) <= 160


def test_an_event_over_the_cap_is_lost_and_the_reply_not_complete() -> None:
    reply = read(sse(delta(content="x" * CAP)), sse(delta("stop", content="hi")))
    assert (texts(reply), reply.finish, reply.complete) == ([("text", "hi")], "stop", False)


def test_many_calls_count_towards_the_cap() -> None:
    parser = Reader(stream=True, cap=1000)
    parser.feed(sse(*(delta(tool_calls=[call("", "f", index=index)]) for index in range(99))))
    assert len(parser.finish().blocks) <= 5


STREAM = sse(delta(content="h"), delta(content="i 🙂"), delta("stop", tool_calls=[call("{}", "f", index=0, id="a")]))


@given(st.lists(st.integers(0, len(STREAM))))
def test_where_a_stream_is_cut_does_not_matter(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in pairwise(places))) == read(STREAM)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**64) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["id", "model", "choices", "usage", "error", "message", "delta", "content", "tool_calls", "index", "function",
         "custom", "name", "arguments", "finish_reason", "audio", "data", "type", "text", "thinking", "prompt_tokens",
         "prompt_tokens_details", "cached_tokens", "completion_tokens", "function_call", "reasoning"]
    ), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), st.booleans())
def test_no_json_makes_it_fail(events: list[Any], stream: bool) -> None:
    read(sse(*events), stream=stream)
    read(*(json.dumps(event).encode() for event in events), stream=stream)


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"data: ", b"\n\n", b"{", b'"choices":['])), st.booleans())
def test_no_bytes_make_it_fail(chunks: list[bytes], stream: bool) -> None:
    reply = read(*chunks, stream=stream)
    assert reply.usage is None or reply.usage.uncached >= 0
