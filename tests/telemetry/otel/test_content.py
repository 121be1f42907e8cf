"""Messages in the form of the GenAI conventions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Author, Block, Kind
from ctxgc.telemetry.otel.content import answered, told
from ctxgc.wire.codec import Reply


def test_a_request_is_told_message_by_message_and_part_by_part():
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}}
    body = {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "this"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "seen"},
        ],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
    }
    messages, tools = map(json.loads, told(json.dumps(body).encode()))
    assert messages == [
        {"role": "system", "parts": [{"type": "text", "content": "be brief"}]},
        {"role": "user", "parts": [{"type": "text", "content": "this"}, {"type": "image_url"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"at":1}'}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "seen"}]},
    ]
    assert tools == [{"type": "function", "name": "look", "parameters": {}}]


def test_a_reply_is_one_message_of_the_assistants():
    blocks = (
        Block(Kind.THINKING, Author.AGENT, "hm"),
        Block(Kind.TEXT, Author.AGENT, "well"),
        Block(Kind.TOOL_CALL, Author.AGENT, "{}", name="look", call_id="c1"),
    )
    assert json.loads(answered(Reply(blocks=blocks))) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "text", "content": "well"},
                {"type": "tool_call", "id": "c1", "name": "look", "arguments": "{}"},
            ],
        }
    ]
    assert answered(Reply()) == ""


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"messages":5,"tools":{}}', b"[" * 100_000])
def test_what_is_no_request_is_not_told(body):
    assert told(body) == ("", "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "function", "type", "text", "id"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=4), st.lists(json_values, max_size=3))
def test_whatever_stands_in_a_request_is_told_as_json_that_can_be_encoded(messages, tools):
    for text in told(json.dumps({"messages": messages, "tools": tools}).encode()):
        assert text == "" or json.loads(text) is not None
        text.encode()
