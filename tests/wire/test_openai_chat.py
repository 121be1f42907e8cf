"""Chat completions: which blocks a message has, what makes two messages the same one, and how edits come out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Author, Block, Kind, Mark, Media
from ctxgc.core.spans import Malformed
from ctxgc.wire.openai_chat import CALL_OVERHEAD, MESSAGE_OVERHEAD, OpenAIChat
from tests.strategies import histories, json_bodies, texts

CODEC = OpenAIChat()
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYnAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
FUNCTION = {"name": "f", "arguments": '{"a": 1}'}


def raw(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def blocks(message: Any) -> list[Block]:
    """The blocks of a message, without the framing of the message and of its calls."""
    found = CODEC.decode(raw(message)).blocks
    assert found[0].overhead >= MESSAGE_OVERHEAD
    return [Block(one.kind, one.author, one.text, one.path, one.name, one.call_id, one.media) for one in found]


def text(author: Author, content: str, *path: str | int) -> Block:
    return Block(Kind.TEXT, author, content, path or ("content",))


def tool(content: str, *path: str | int, name: str = "", call_id: str = "c1") -> Block:
    return Block(Kind.TOOL_RESULT, Author.TOOL, content, path or ("content",), name, call_id)


def thought(content: str, *path: str) -> Block:
    """Thinking at a path; without one it is not to be edited."""
    return Block(Kind.THINKING, Author.AGENT, content, path or None)


def called(name: str, arguments: str, call_id: str = "") -> Block:
    return Block(Kind.TOOL_CALL, Author.AGENT, arguments, None, name, call_id)


MESSAGES: dict[str, tuple[Any, list[Block]]] = {
    "system": ({"role": "system", "content": "s"}, [text(Author.SYSTEM, "s")]),
    "developer": ({"role": "developer", "content": "s"}, [text(Author.SYSTEM, "s")]),
    "user": ({"role": "user", "content": "u"}, [text(Author.USER, "u")]),
    "user in parts": (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        [text(Author.USER, "a", "content", 0, "text"), text(Author.USER, "b", "content", 1, "text")],
    ),
    "a part that is a bare string": (
        {"role": "user", "content": ["a"]},
        [text(Author.USER, "a", "content", 0)],
    ),
    "assistant": ({"role": "assistant", "content": "a"}, [text(Author.AGENT, "a")]),
    "assistant with two calls": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": FUNCTION},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "not json"}},
            ],
        },
        [called("f", '{"a": 1}', "c1"), called("g", "not json", "c2")],
    ),
    "assistant with thinking, text and a call": (
        {
            "role": "assistant",
            "reasoning_content": "hm",
            "content": "a",
            "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
        },
        [thought("hm", "reasoning_content"), text(Author.AGENT, "a"), called("f", '{"a": 1}', "c1")],
    ),
    "thinking by its other name": (
        {"role": "assistant", "reasoning": "hm", "content": None},
        [thought("hm", "reasoning")],
    ),
    "thinking by both its names": (
        {"role": "assistant", "reasoning": "h", "reasoning_content": "hm", "content": "a"},
        [thought("hm", "reasoning_content"), text(Author.AGENT, "a")],
    ),
    "thinking that is signed": (
        {"role": "assistant", "reasoning": "hm", "reasoning_details": [{"signature": "s"}], "content": "a"},
        [thought("hm"), text(Author.AGENT, "a")],
    ),
    "thinking that is signed in blocks": (
        {"role": "assistant", "reasoning_content": "hm", "thinking_blocks": [{"signature": "s"}], "content": "a"},
        [thought("hm"), text(Author.AGENT, "a")],
    ),
    "thinking of no known shape": (
        {"role": "assistant", "reasoning": ["hm"], "reasoning_content": "", "content": "a"},
        [text(Author.AGENT, "a")],
    ),
    "a custom tool's call": (
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "f", "input": "x"}}]},
        [called("f", "x", "c1")],
    ),
    "a legacy function call": (
        {"role": "assistant", "content": None, "function_call": FUNCTION},
        [called("f", '{"a": 1}')],
    ),
    "a refusal": (
        {"role": "assistant", "content": None, "refusal": "no"},
        [Block(Kind.REFUSAL, Author.AGENT, "no")],
    ),
    "a refusal as a part": (
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        [Block(Kind.REFUSAL, Author.AGENT, "no")],
    ),
    "audio that the server keeps": (
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        [Block(Kind.AUDIO, Author.AGENT, media=Media())],
    ),
    "a tool result": ({"role": "tool", "tool_call_id": "c1", "content": "r"}, [tool("r")]),
    "an empty tool result": ({"role": "tool", "tool_call_id": "c1", "content": ""}, [tool("")]),
    "a tool result in parts": (
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
        [tool("r", "content", 0, "text")],
    ),
    "an image in a tool result": (
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]},
        [Block(Kind.IMAGE, Author.TOOL, call_id="c1", media=Media())],
    ),
    "a legacy function's result": (
        {"role": "function", "name": "f", "content": "r"},
        [tool("r", name="f", call_id="")],
    ),
    "an image by its address": (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}}]},
        [Block(Kind.IMAGE, Author.USER, media=Media(detail="low"))],
    ),
    "an image by its data": (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]},
        [Block(Kind.IMAGE, Author.USER, media=Media(1, 2, None, len(PIXEL) * 3 // 4))],
    ),
    "an image whose address is a bare string": (
        {"role": "user", "content": [{"type": "image_url", "image_url": "https://x/y.png"}]},
        [Block(Kind.IMAGE, Author.USER, media=Media())],
    ),
    "sound": (
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]},
        [Block(Kind.AUDIO, Author.USER, media=Media(size=3))],
    ),
    "a file": (
        {"role": "user", "content": [{"type": "file", "file": {"file_data": "AAAAAAAA"}}]},
        [Block(Kind.FILE, Author.USER, media=Media(size=6))],
    ),
    "a file by its id": (
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]},
        [Block(Kind.FILE, Author.USER, media=Media())],
    ),
    "an unknown part": (
        {"role": "user", "content": [{"type": "hologram", "data": "é"}]},
        [Block(Kind.OTHER, Author.USER, '{"type": "hologram", "data": "é"}')],
    ),
    "a part that is no object": ({"role": "user", "content": [1]}, [Block(Kind.OTHER, Author.USER, "1")]),
    "no content": ({"role": "user"}, [Block(Kind.OTHER, Author.USER)]),
    "content null": ({"role": "assistant", "content": None}, [Block(Kind.OTHER, Author.AGENT)]),
    "content of no known shape": ({"role": "user", "content": 1}, [Block(Kind.OTHER, Author.USER)]),
    "an unknown role": ({"role": "narrator", "content": "x"}, [text(Author.USER, "x")]),
    "no role": ({"content": "x"}, [text(Author.USER, "x")]),
    "calls of no known shape": ({"role": "assistant", "content": "a", "tool_calls": [1]}, [text(Author.AGENT, "a")]),
    "duplicate keys": (
        b'{"role":"tool","content":"a","content":"b"}',
        [Block(Kind.OTHER, Author.USER, '{"role":"tool","content":"a","content":"b"}')],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_blocks_of(name: str) -> None:
    message, expected = MESSAGES[name]
    assert blocks(message) == expected


def test_overhead_is_the_messages_own_and_that_of_its_calls() -> None:
    message, _ = MESSAGES["assistant with two calls"]
    found = CODEC.decode(raw(message)).blocks
    assert [block.overhead for block in found] == [MESSAGE_OVERHEAD + CALL_OVERHEAD, CALL_OVERHEAD]


@given(json_bodies())
def test_any_object_has_a_block_and_anything_else_is_malformed(content: bytes) -> None:
    if content.strip().startswith(b"{"):
        assert CODEC.decode(content).blocks
    else:
        with pytest.raises(Malformed):
            CODEC.decode(content)


@pytest.mark.parametrize("deep", [400, 2_000, 100_000])
def test_deep_nesting_is_decoded_or_malformed(deep: int) -> None:
    try:
        found = CODEC.decode(b'{"role":"user","content":' + b"[" * deep + b"]" * deep + b"}")
    except Malformed:
        return
    assert found.blocks


# Which messages are the same


USER = {"role": "user", "content": "u"}
SAME: list[tuple[Any, Any]] = [
    (USER, b'{ "content":"u",\n"role" : "\\u0075ser" }'),
    (USER, {**USER, "cache_control": {"type": "ephemeral"}}),
    (USER, {**USER, "prompt_cache_breakpoint": {"mode": "explicit"}}),
    (USER, {**USER, "ctxgc": {"pin": True}}),
    (USER, {**USER, "content": [{"type": "text", "text": "u"}]}),
    (USER, {**USER, "content": [{"type": "text", "text": "u", "cache_control": {"type": "ephemeral"}}]}),
]
DIFFERENT: list[tuple[Any, Any]] = [
    (USER, {**USER, "content": "U"}),
    (USER, {**USER, "role": "assistant"}),
    (USER, {**USER, "name": "x"}),
    (USER, {**USER, "content": [{"type": "text", "text": "u"}, {"type": "text", "text": ""}]}),
    (USER, {**USER, "content": [{"type": "text", "text": "u", "citations": []}]}),
    ({**USER, "content": ""}, {**USER, "content": [{"type": "text", "text": ""}]}),
    ({**USER, "n": 1}, {**USER, "n": True}),
    ({**USER, "n": 1}, {**USER, "n": 1.0}),
    ({**USER, "n": 1.5}, {**USER, "n": "1.5"}),
    (b'{"n":1e3}', b'{"n":1000.0}'),
    (b'{"a":1,"a":2}', b'{"a":2}'),
    (b'{"a":1,"a":2}', b'{"a":2,"a":2}'),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_message(one: Any, other: Any) -> None:
    assert CODEC.decode(raw(one)).digest == CODEC.decode(raw(other)).digest


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_message(one: Any, other: Any) -> None:
    assert CODEC.decode(raw(one)).digest != CODEC.decode(raw(other)).digest


@given(histories())
def test_messages_with_one_digest_have_blocks_with_the_same_texts(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        lone = message["content"]
        parts = {**message, "content": [{"type": "text", "text": lone, "cache_control": {}}]}
        one, other = CODEC.decode(raw(message)), CODEC.decode(raw(parts))
        if one.digest == other.digest:
            assert [(block.kind, block.text) for block in one.blocks] == [
                (block.kind, block.text) for block in other.blocks
            ]


# What an application says in its own field


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ({"tag": "notes"}, Mark("notes")),
        ({"pin": True}, Mark(None, True)),
        ({"tag": "notes", "pin": True}, Mark("notes", True)),
        ({"tag": "", "pin": 1}, Mark()),
        ({"tag": 7, "pin": "true"}, Mark()),
        ("pin", Mark()),
        (None, Mark()),
    ],
)
def test_marks(said: Any, mark: Mark) -> None:
    assert CODEC.decode(raw({**USER, "ctxgc": said})).mark == mark


@pytest.mark.parametrize(
    ("came", "left"),
    [
        (b'{"ctxgc":{"pin":true},"role":"user","content":"u"}', b'{"role":"user","content":"u"}'),
        (b'{"role":"user","ctxgc":{"pin":true},"content":"u"}', b'{"role":"user","content":"u"}'),
        (b'{"role":"user","content":"u","ctxgc":{"pin":true}}', b'{"role":"user","content":"u"}'),
        (b'{ "ctxgc" : {} , "role":"user" }', b'{ "role":"user" }'),
        (b'{"role":"user","\\u0063t\\u0078gc":{"pin":true}}', b'{"role":"user"}'),
        (b'{"ctxgc":1}', b"{}"),
        (b'{"role":"user","content":"ctxgc"}', b'{"role":"user","content":"ctxgc"}'),
        (b'{"role":"user","content":"\\"ctxgc\\":1"}', b'{"role":"user","content":"\\"ctxgc\\":1"}'),
        (b'{"content":[{"ctxgc":1}]}', b'{"content":[{"ctxgc":1}]}'),
        (b'{"ctxgc":1,"ctxgc":2}', b'{"ctxgc":1,"ctxgc":2}'),
    ],
)
def test_its_field_does_not_leave(came: bytes, left: bytes) -> None:
    assert CODEC.project(came, {}) == left


# Edits


@given(texts(), st.sampled_from(["content", "content in parts"]))
def test_an_edit_changes_the_text_and_no_other_byte(new: str, form: str) -> None:
    content = '"old"' if form == "content" else '[ {"type":"text","text":"old" , "n":1e3} ]'
    came = f'{{"n": 1e3,"big":123456789012345678901234567890,"role":"tool", "content" :{content},"e":"\\u00e9"}}'
    left = came.replace('"old"', json.dumps(new, ensure_ascii=False))
    assert CODEC.project(came.encode(), {0: new}) == left.encode()


def test_several_blocks_of_one_message() -> None:
    message = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": one} for one in "abc"]}
    left = json.loads(CODEC.project(raw(message), {0: "x", 2: "z"}))
    assert [part["text"] for part in left["content"]] == ["x", "b", "z"]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thinking_is_edited_where_it_stands(key: str) -> None:
    came = f'{{"role":"assistant", "{key}" : "hm","content":"hm"}}'
    assert CODEC.project(came.encode(), {0: " "}) == came.replace('"hm"', '" "', 1).encode()


UNEDITABLE = (
    "a legacy function call",
    "an unknown part",
    "duplicate keys",
    "no content",
    "thinking that is signed",
    "thinking that is signed in blocks",
)


@pytest.mark.parametrize("name", UNEDITABLE)
def test_what_has_no_place_cannot_be_edited(name: str) -> None:
    with pytest.raises(Malformed):
        CODEC.project(raw(MESSAGES[name][0]), {0: "x"})


def test_control_an_edit_that_writes_the_message_again_is_noticed() -> None:
    came = b'{"n": 1e3,"role":"tool","content":"old"}'
    again = json.dumps({**json.loads(came), "content": "new"}).encode()
    assert again != CODEC.project(came, {0: "new"}) == came.replace(b"old", b"new")


# Tools


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, ["f"]),
        ({"tools": [{"type": "custom", "custom": {"name": "g"}}]}, ["g"]),
        ({"tools": [{"type": "web_search"}]}, ["web_search"]),
        ({"functions": [{"name": "h", "parameters": {}}]}, ["h"]),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "functions": [{"name": "h"}]}, ["f", "h"]),
        ({"tools": []}, []),
        ({"tools": None}, []),
        ({"tools": {}}, []),
        ({}, []),
    ],
)
def test_schemas(fields: dict[str, Any], names: list[str]) -> None:
    found = CODEC.schemas(CODEC.split(raw({**fields, "messages": []})))
    assert [(message.blocks[0].kind, message.blocks[0].name) for message in found] == [
        (Kind.TOOL_SCHEMA, name) for name in names
    ]


def test_a_schema_is_its_bytes() -> None:
    text = b'{"messages":[],"tools":[ {"type":"function", "function":{"name":"f","n":1e3}} ]}'
    (message,) = CODEC.schemas(CODEC.split(text))
    assert message.blocks[0].text == '{"type":"function", "function":{"name":"f","n":1e3}}'
