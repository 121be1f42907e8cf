"""A reply without the calls of one tool: nothing of them is left, nothing else is lost, however the bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.wire.codec import Earlier
from ctxgc.wire.openai_chat import OpenAIChat
from ctxgc.wire.openai_chat_offer import offer, room, tool
from tests.strategies import texts

CODEC = OpenAIChat()
NAME = "ctxgc_recall"
DONE = b"data: [DONE]\n\n"


def chunk(delta: object, finish: str | None = None, **more: object) -> bytes:
    value = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def call(index: int, name: str, arguments: str = "", **more: object) -> dict[str, object]:
    return {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": arguments}, **more}


def sift(data: bytes, cuts: list[int], earlier: Earlier | None = None, *, stream: bool = True) -> bytes:
    """What a client gets of a reply that comes in pieces cut at these places, and is the last."""
    sieve = CODEC.sieve(NAME, earlier or Earlier(), stream=stream)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    out = b"".join(sieve.feed(data[start:end]) for start, end in pairwise(places))
    return out + sieve.rest()


def client(data: bytes) -> tuple[str, list[tuple[object, str, str]], list[str]]:
    """Text, calls in order of their index, and finishes, as a client puts them together."""
    text, finishes = "", []
    found: dict[object, list[str]] = {}
    for line in data.splitlines():
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            text += choice["delta"].get("content") or ""
            finishes += [choice["finish_reason"]] if choice["finish_reason"] else []
            for part in choice["delta"].get("tool_calls", ()):
                made = found.setdefault(part["index"], ["", ""])
                made[0] += part["function"].get("name") or ""
                made[1] += part["function"].get("arguments") or ""
    return text, [(index, *made) for index, made in sorted(found.items())], finishes


CUTS = st.lists(st.integers(0, 5000), max_size=12)


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, str, list[tuple[str, str]]]:
    """A stream with texts and calls, some of them of the tool; its text, and the calls that are the client's."""
    end = draw(st.sampled_from(("\n", "\r\n")))
    parts, text, others = [], "", []
    index = 0
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            said = draw(texts(8)).encode("utf-8", "replace").decode()
            text += said
            parts.append(chunk({"content": said}))
            continue
        name = draw(st.sampled_from((NAME, "search", "ctxgc_", "ctxgc_recall_more")))
        arguments = draw(st.sampled_from(("{}", '{"handle": "a"}')))
        parts.append(chunk({"tool_calls": [call(index, name)]}))
        parts += [chunk({"tool_calls": [{"index": index, "function": {"arguments": each}}]}) for each in arguments]
        others += [(name, arguments)] if name != NAME else []
        index += 1
    parts += [b": ping\n\n", chunk({}, "tool_calls" if index else "stop"), DONE]
    return b"".join(parts).replace(b"\n", end.encode()), text, others


@given(streams(), CUTS)
@settings(max_examples=150)
def test_the_tools_calls_go_and_all_else_stays(made: tuple[bytes, str, list[tuple[str, str]]], cuts: list[int]) -> None:
    data, text, others = made
    got = sift(data, cuts)
    said, calls, finishes = client(got)
    assert said == text
    assert calls == [(at, *each) for at, each in enumerate(others)]
    assert finishes == ["tool_calls" if others or b'"tool_calls"' not in data else "stop"] or finishes == ["stop"]
    assert got.rstrip().endswith(b"[DONE]")
    assert f'"{NAME}"'.encode() not in got


@given(streams(), CUTS)
@settings(max_examples=80)
def test_a_stream_without_them_keeps_its_bytes(made: tuple[bytes, str, list[tuple[str, str]]], cuts: list[int]) -> None:
    data = made[0].replace(f'"{NAME}"'.encode(), b'"ctxgc_recalls"')
    assert sift(data, cuts) == data


@given(st.binary(max_size=300), CUTS, st.booleans())
@settings(max_examples=150)
def test_whatever_comes_goes_through_if_it_holds_none(data: bytes, cuts: list[int], stream: bool) -> None:
    assert sift(data, cuts, stream=stream) == data


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_events_in_several_lines_are_read_as_one(ending: bytes) -> None:
    value = chunk({"tool_calls": [call(0, NAME, "{}")]})[6:-2]
    data = b"".join(b"data: " + part + ending for part in value.replace(b", ", b",\n").split(b"\n")) + ending
    assert NAME.encode() not in sift(data + DONE, [])
    assert NAME.encode() not in sift(data + DONE, list(range(0, 400, 3)))


def test_servers_without_empty_lines_are_read_all_the_same() -> None:
    lines = chunk({"content": "a"}).rstrip() + b"\n" + chunk({"tool_calls": [call(0, NAME, "{}")]}).rstrip() + b"\n"
    sieve = CODEC.sieve(NAME, Earlier(), stream=True)
    assert sieve.feed(lines) == chunk({"content": "a"}).rstrip() + b"\n"


def test_all_of_it_once_more_at_the_end_is_no_second_call() -> None:
    message = {"role": "assistant", "content": "a", "tool_calls": [call(0, NAME, "{}")]}
    last = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    data = chunk({"content": "a"}) + chunk({"tool_calls": [call(0, NAME, "{}")]})
    data += b"data: " + json.dumps(last).encode() + b"\n\n" + DONE
    assert NAME.encode() not in sift(data, [])
    found = CODEC.asking(data, NAME)
    assert found is not None
    assert [use.arguments for use in found.uses] == ["{}"]
    assert json.loads(found.message)["content"] == "a"


def test_calls_without_indices_or_with_one_for_all_are_told_apart() -> None:
    for index in (None, 0):
        calls = [{**call(0, name, "{}"), "id": each, "index": index} for each, name in (("a", NAME), ("b", "search"))]
        data = chunk({"tool_calls": calls}) + chunk({}, "tool_calls") + DONE
        found = CODEC.asking(data, NAME)
        assert found is not None
        assert (len(found.uses), found.alone) == (1, False)
        assert NAME.encode() not in sift(data, [])


def test_a_whole_reply_keeps_its_bytes_unless_it_must_change() -> None:
    odd = b' {"choices":[{"index":0,"message":{"content":"\\u00e9","x":1e3},"finish_reason":"stop"}]}\n'
    assert sift(odd, [3], stream=False) == odd
    behind = sift(odd, [3], Earlier({"prompt_tokens": 1}, "before "), stream=False)
    assert json.loads(behind)["choices"][0]["message"]["content"] == "before \xe9"


def test_figures_of_usage_are_added_and_all_else_is_the_last() -> None:
    used = {"prompt_tokens": 3, "details": {"cached_tokens": 1}, "service": "b", "cost": None}
    before = {
        "prompt_tokens": 2,
        "details": {"cached_tokens": 2, "audio": 1},
        "service": "a",
        "cost": 0.5,
    }
    data = chunk({}, "stop") + chunk({}, usage=used) + DONE
    got = sift(data, [], Earlier(before))
    assert json.loads(got.split(b"data: ")[2])["usage"] == {
        "prompt_tokens": 5, "details": {"cached_tokens": 3, "audio": 1}, "service": "b", "cost": 0.5,
    }  # fmt: skip


# Offering


def test_the_tool_is_spliced_behind_the_last_and_nothing_else_changes() -> None:
    made = tool(NAME, "d", {"type": "object"})
    before = b'{ "tools" : [ {"a":[1]} ] , "messages":['
    assert offer(before, "messages", made) == before.replace(b"[1]} ]", b"[1]}," + made + b" ]")
    behind = b'], "x":{"tools":[1]},\n"tools":[{"b":"]"}]}\n'
    assert offer(behind, "messages", made) == behind.replace(b'"]"}]', b'"]"},' + made + b"]")
    assert offer(b'{"messages":[', "messages", made) == b'{"messages":['


NO_ROOM = (
    b"[]", b"null", b"7", b"{}", b"[", b'[{"function":{"name":"ctxgc\\u005frecall"}}]', b'[{"name":"ctxgc_recall"}]'
)  # fmt: skip


@pytest.mark.parametrize("tools", NO_ROOM)
def test_there_is_no_room_for_it(tools: bytes) -> None:
    assert not room(tools, NAME)
    assert room(b'[{"function":{"name":"other"}}]', NAME)
