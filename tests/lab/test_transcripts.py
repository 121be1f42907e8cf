"""Transcripts in the shapes people have them in, and in those nobody can read."""

import gzip
import json

import pytest

from ctxgc.core.journal import Usage
from ctxgc.errors import InputError
from ctxgc.lab.transcripts import parse, read

MESSAGE = b'{"role": "user",  "content": "caf\\u00e9 \\ud800", "is_error": false}'
REPLY = b'{"content":"yes","role":"assistant","reasoning_content":"hm"}'
BOTH = (MESSAGE, REPLY)
LIST = b"[" + MESSAGE + b" ,\n" + REPLY + b"]"


def one(data: bytes):
    (found,) = parse(data, "f.json", "f")
    return found


@pytest.mark.parametrize(
    "data",
    [
        LIST,
        b'{"messages": ' + LIST + b"}",
        b'{"model": "m", "messages":' + LIST + b', "extra": {"a": 1}}\n',
        MESSAGE + b"\n\n" + REPLY + b"\n",
        MESSAGE + b"\r\n" + REPLY,
        b"\xef\xbb\xbf" + LIST,
        gzip.compress(LIST[:20]) + gzip.compress(LIST[20:]),
    ],
)
def test_messages_keep_their_bytes_in_every_shape(data):
    found = one(data)
    assert found.messages == BOTH
    assert found.roles == ("user", "assistant")
    assert found.id == "f"


def test_an_object_gives_its_id_model_and_tools_as_they_stand():
    found = one(b'{"id":"x","model":"gpt-5","tools": [ {"type":"function"} ],"messages":' + LIST + b"}")
    assert (found.id, found.model, found.tools) == ("x", "gpt-5", b'[ {"type":"function"} ]')


def test_null_tools_are_no_tools():
    assert one(b'{"tools":null,"model":null,"messages":' + LIST + b"}").tools is None


def test_json_lines_of_objects_are_as_many_transcripts():
    line = b'{"messages":' + LIST.replace(b"\n", b"") + b"}"
    named = line[:-1] + b',"id":"second"}'
    assert [found.id for found in parse(line + b"\n" + named, "f", "f")] == ["f#1", "second"]


def test_one_line_with_one_message_is_a_transcript():
    assert one(MESSAGE + b"\n").messages == (MESSAGE,)


def test_recorded_usage_times_and_compactions_are_read_where_they_are_known():
    meta = {
        "usage": [
            {"message_index": 1, "input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 2},
            {"message_index": 1, "prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 5},
            {"message_index": 1, "cumulative_input_tokens": 4},
            "nonsense",
        ],
        "timestamps": ["2026-02-07T00:35:35.500Z", 1_770_000_000_000],
        "compact_boundaries": [1, 7, True],
    }
    found = one(b'{"meta":' + json.dumps(meta).encode() + b',"messages":' + LIST + b"}")
    assert found.usage == ((1, Usage(uncached=3, cached=10, written=2)), (1, Usage(uncached=6, cached=4, output=5)))
    assert found.times == (1_770_424_535.5, 1_770_000_000.0)
    assert found.compactions == (1,)


def test_extras_of_unknown_form_are_left_out():
    found = one(b'{"usage": 3, "timestamps": "noon", "meta": [1], "messages":' + LIST + b"}")
    assert (found.usage, found.times, found.compactions) == ((), None, ())


UNREADABLE = {
    "empty": (b"", "line 1: the file is empty"),
    "blank": (b" \n\n ", "line 1: the file is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: binary data, or text that is not UTF-8"),
    "utf16": ("[]".encode("utf-16"), "not UTF-8"),
    "prose": (b"Once upon a time", "line 1: not readable as JSON"),
    "number": (b"42", "line 1: not readable as JSON"),
    "cut": (b'{"messages": [\n{"role": "user",\n "content": "a', "line 3: not readable as JSON"),
    "comma": (b'[\n{"role": "user"},\n]', "line 3: not readable as JSON"),
    "no messages": (b'{"choices": []}', "an object without messages (its keys: choices)"),
    "no message": (b'{"messages": []}', "a transcript without messages"),
    "empty list": (b"[]", "a transcript without messages"),
    "not objects": (b"[1, 2]", "message 1 is not an object"),
    "no role": (b'[{"role":"user"},\n{"content":"a"}]', "line 2: message 2 has no role"),
    "odd role": (b'[{"role":3}]', "message 1 has no role"),
    "messages not a list": (b'{"messages": {"a": 1}}', "not readable as JSON"),
    "bad line": (MESSAGE + b"\n" + REPLY + b"\n{oops\n", "line 3: not readable as JSON"),
    "line of another kind": (MESSAGE + b"\n[1]\n", "line 2: this line is not an object"),
    "line without a role": (MESSAGE + b'\n{"a":1}\n', "line 2: this line has no role"),
    "duplicate keys": (b'[{"role":"user","role":"tool"}]', "not readable as JSON"),
    "anthropic": (b'{"system":"s","messages":[{"role":"user"}]}', "another wire format"),
    "cut gzip": (gzip.compress(LIST)[:-9], "the gzip file is cut off"),
    "bad gzip": (b"\x1f\x8b\x08\x00" + b"x" * 40, "damaged gzip file"),
    "deep": (b"[" * 100_000, "not readable as JSON"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_one_line_that_says_where_and_what_is_accepted(name):
    data, expected = UNREADABLE[name]
    with pytest.raises(InputError) as caught:
        list(parse(data, "some/file.json", "file"))
    said = str(caught.value)
    assert said.startswith("some/file.json")
    assert expected in said
    assert "accepted:" in said
    assert "\n" not in said


def test_files_are_named_without_their_endings(tmp_path):
    path = tmp_path / "run-1.jsonl.gz"
    path.write_bytes(gzip.compress(LIST))
    assert [found.id for found in read(path)] == ["run-1"]


def test_gzip_is_known_by_content_and_not_by_name(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(gzip.compress(LIST))
    assert next(read(path)).messages == BOTH


@pytest.mark.parametrize("name", ["absent", "."])
def test_missing_files_and_folders_are_input_errors(tmp_path, name):
    with pytest.raises(InputError, match=r"No such file|Is a directory"):
        list(read(tmp_path / name))
