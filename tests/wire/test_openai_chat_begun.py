"""When a reply has begun: the first delta that says anything, or the first byte of one that is not streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxgc.wire.openai_chat_reply import reader


def event(delta: dict[str, Any], **more: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **more}]}).encode() + b"\n\n"


CALL = {"index": 0, "id": "c", "function": {"name": "look", "arguments": ""}}


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"reasoning_content": "hm"},
        {"refusal": "no"},
        {"tool_calls": [CALL]},
        {"function_call": {"name": "look"}},
        {"content": [{"type": "text", "text": "a"}]},
    ],
    ids=lambda delta: next(iter(delta)),
)
def test_a_delta_that_says_anything_begins_a_stream(delta):
    read = reader(stream=True)
    read.feed(event({"role": "assistant", "content": ""}))
    assert not read.begun
    read.feed(event(delta))
    assert read.begun


@pytest.mark.parametrize(
    "silence",
    [
        b": keep-alive\n\n",
        b"\n\n",
        event({"role": "assistant", "content": ""}),
        event({}, finish_reason="stop"),
        b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}\n\n',
        b'data: {"error":{"message":"no"}}\n\n',
        b"data: [DONE]\n\n",
    ],
)
def test_what_says_nothing_does_not(silence):
    read = reader(stream=True)
    read.feed(silence)
    assert not read.begun


def test_a_delta_that_is_cut_begins_a_stream_when_all_of_it_is_there():
    read, whole = reader(stream=True), event({"content": "a"})
    read.feed(whole[:-3])
    assert not read.begun
    read.feed(whole[-3:])
    assert read.begun


def test_a_whole_reply_begins_with_its_first_byte():
    read = reader(stream=False)
    read.feed(b"  \n")
    assert not read.begun
    read.feed(b'{"id"')
    assert read.begun
