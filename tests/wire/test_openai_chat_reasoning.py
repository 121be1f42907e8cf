"""Signed reasoning of several replies in one stream: every entry stays whole, with the signature that is its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib.streaming._deltas import accumulate_delta

from ctxgc.wire import openai_chat_sieve
from ctxgc.wire.codec import Earlier
from ctxgc.wire.openai_chat import OpenAIChat
from ctxgc.wire.openai_chat_reasoning import Numbering, joined, joined_blocks

CODEC = OpenAIChat()
NAME = "ctxgc_recall"
DONE = b"data: [DONE]\n\n"
RECALL = {"index": 0, "id": "r", "function": {"name": NAME, "arguments": "{}"}}
SEARCH = {"index": 1, "id": "s", "function": {"name": "search", "arguments": "{}"}}


def chunk(delta: object, finish: str | None = None, **more: object) -> bytes:
    value = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def thought(text: str, signature: str = "", index: object = 0, **more: object) -> bytes:
    """An entry in two fragments: its text, then its signature."""
    signed = {"signature": signature} if signature else {}
    parts = [{"text": text}, signed]
    return b"".join(
        chunk(
            {"reasoning": part.get("text"), "reasoning_details": [{"type": "reasoning.text", "index": index, **part}]}
        )
        for part in parts
        if part
    )


def relay(*replies: bytes, size: int = 1 << 20) -> bytes:
    """What a client gets of replies that follow each other; all but the last were gone on from."""
    earlier, out = Earlier(), b""
    for at, reply in enumerate(replies):
        sieve = CODEC.sieve(NAME, earlier, stream=True)
        out += b"".join(sieve.feed(reply[start : start + size]) for start in range(0, len(reply), size))
        earlier = sieve.earlier()
        out += sieve.rest() if at == len(replies) - 1 else b""
    return out


def message(data: bytes) -> dict[str, Any]:
    """The message that OpenAI's client puts together."""
    acc: dict[object, object] = {}
    for line in data.splitlines():
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                acc = accumulate_delta(acc, choice["delta"])
    return acc  # type: ignore[return-value]


def thoughts(data: bytes) -> list[tuple[str, str]]:
    return [(each.get("text", ""), each.get("signature", "")) for each in message(data).get("reasoning_details", ())]


ASKING = chunk({"tool_calls": [RECALL]}) + chunk({}, "tool_calls") + DONE
ENDING = chunk({"content": "so"}) + chunk({}, "stop") + DONE
ONE, TWO = thought("think one", "SIG1"), thought("think two", "SIG2")


@pytest.mark.parametrize("size", [1, 17, 1 << 20])
def test_what_was_shown_before_the_call_stays_apart_from_what_comes_later(size: int) -> None:
    got = relay(ONE + ASKING, TWO + ASKING, ONE + thought("more", "SIG3", 1) + ENDING, size=size)
    assert thoughts(got) == [("think one", "SIG1"), ("think two", "SIG2"), ("think one", "SIG1"), ("more", "SIG3")]
    assert NAME.encode() not in got


def test_the_check_finds_entries_that_run_into_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Numbering, "renumber", lambda self, value: False)
    assert thoughts(relay(ONE + ASKING, TWO + ENDING)) == [("think onethink two", "SIG1SIG2")]


def test_a_reply_behind_none_keeps_its_bytes() -> None:
    assert relay(ONE + TWO + ENDING) == ONE + TWO + ENDING


def test_what_comes_behind_the_call_of_a_reply_that_is_gone_on_from_is_not_shown() -> None:
    late = chunk({"tool_calls": [RECALL]}) + thought("late", "SIG9", 1) + chunk({}, "tool_calls") + DONE
    got = relay(ONE + late, TWO + ENDING)
    assert thoughts(got) == [("think one", "SIG1"), ("think two", "SIG2")]
    assert message(got)["reasoning"] == "think onelatethink two"


def test_a_signature_that_comes_behind_the_call_is_shown_with_its_text() -> None:
    late = thought("think one") + chunk({"tool_calls": [RECALL]}) + thought("", "SIG1") + ASKING
    assert thoughts(relay(late, TWO + ENDING)) == [("think one", "SIG1"), ("think two", "SIG2")]


def test_what_comes_behind_the_call_of_the_last_reply_is_shown_at_its_end() -> None:
    """The client needs it with its own call."""
    calls = chunk({"tool_calls": [RECALL]}) + thought("for", "", 1) + chunk({"tool_calls": [SEARCH]})
    last = calls + thought(" search", "SIG2", 1) + chunk({}, "tool_calls", usage={"prompt_tokens": 1}) + DONE
    got = relay(ONE + ASKING, ONE + last)
    assert thoughts(got) == [("think one", "SIG1"), ("think one", "SIG1"), ("for search", "SIG2")]
    assert [call["id"] for call in message(got)["tool_calls"]] == ["s"]
    assert got.endswith(DONE)
    assert got.index(b"SIG2") < got.index(b'"usage"')


@pytest.mark.parametrize("index", [None, True, -1, 1 << 40, "0", 1.5])
def test_an_index_that_is_none_is_left_alone(index: object) -> None:
    odd = thought("odd", "S", index)
    assert relay(ONE + ASKING, odd + ENDING).count(odd) == 1


# Said with the finish


@pytest.mark.parametrize("size", [1, 17, 1 << 20])
@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
def test_what_is_said_in_the_chunk_that_ends_a_reply_is_not_lost(finish: str, size: int) -> None:
    used = {"prompt_tokens": 1}
    whole = chunk({"role": "assistant", "content": "tt", "tool_calls": [RECALL]}, finish, usage=used) + DONE
    got = relay(whole, chunk({"content": "fin"}, "stop", usage=used) + DONE, size=size)
    assert message(got)["content"] == "ttfin"
    finishes = [json.loads(line[6:])["choices"][0]["finish_reason"] for line in got.splitlines() if b"finish" in line]
    assert [finish for finish in finishes if finish] == ["stop"]
    assert got.count(b'"usage"') == 1


def test_the_check_finds_text_that_goes_with_its_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat_sieve, "_spoken", lambda value: None)
    whole = chunk({"content": "tt", "tool_calls": [RECALL]}, "stop") + DONE
    assert message(relay(whole, ENDING))["content"] == "so"


def test_a_call_of_the_clients_in_the_chunk_that_ends_a_reply_is_not_lost() -> None:
    used = {"prompt_tokens": 1}
    got = relay(chunk({"content": "tt", "tool_calls": [RECALL, SEARCH]}, "tool_calls", usage=used) + DONE)
    found = message(got)
    assert (found["content"], [call["id"] for call in found["tool_calls"]]) == ("tt", ["s"])
    assert got.count(b'"finish_reason": "tool_calls"') == got.count(b'"usage"') == 1
    assert got.endswith(DONE)


WORDS = st.text("abc", min_size=1, max_size=3)
REPLIES = st.lists(st.tuples(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=2), st.booleans()), max_size=3)


@given(REPLIES, st.integers(1, 400))
@settings(max_examples=100)
def test_entries_and_texts_are_those_that_were_shown(
    replies: list[tuple[list[str], list[str], bool]], size: int
) -> None:
    """Whatever a reply thinks and says before its call, and with its finish, and however it is cut."""
    datas, expected, text = [], [], ""
    for thinks, says, together in replies:
        data = b"".join(thought(each, each.upper(), at) for at, each in enumerate(thinks))
        data += b"".join(chunk({"content": each}) for each in says)
        last = {"content": "with", "tool_calls": [RECALL]}
        data += (
            chunk(last, "stop") if together else chunk({"tool_calls": [RECALL]}) + chunk({"content": "with"}, "stop")
        )
        datas.append(data + DONE)
        expected += [(each, each.upper()) for each in thinks]
        text += "".join(says) + "with"
    got = relay(*datas, ONE + ENDING, size=size)
    assert thoughts(got) == [*expected, ("think one", "SIG1")]
    assert message(got)["content"] == text + "so"


# What goes back to the provider


def test_the_fragments_of_an_entry_go_back_as_one() -> None:
    found = CODEC.asking(ONE + thought("second", "SIG2", 1) + ASKING, NAME)
    assert found is not None
    assert json.loads(found.message)["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "think one", "signature": "SIG1"},
        {"type": "reasoning.text", "index": 1, "text": "second", "signature": "SIG2"},
    ]


def test_entries_that_cannot_be_told_apart_stay_as_they_are() -> None:
    odd = [{"text": "a"}, {"text": "b"}, 7, None, {"index": 0, "type": "x"}, {"index": 0, "type": "y", "data": "d"}]
    assert joined(odd) == odd


def test_blocks_without_an_index_end_with_their_signature() -> None:
    def block(text: str, signature: str | None = None) -> dict[str, object]:
        return {"type": "thinking", "thinking": text, "signature": signature}

    redacted = {"type": "redacted_thinking", "data": "d"}
    fragments = [block("a"), block("b"), block("", "S1"), block("c"), redacted, block("d", "S2"), block("e", "S3"), 7]
    expected = [block("ab", "S1"), block("c"), redacted, block("d", "S2"), block("e", "S3"), 7]
    assert joined_blocks(fragments) == expected
    chunks = b"".join(chunk({"thinking_blocks": [each]}) for each in fragments)
    found = CODEC.asking(chunks + ASKING, NAME)
    assert found is not None
    assert json.loads(found.message)["thinking_blocks"] == expected


def test_what_google_puts_beside_a_message_goes_back() -> None:
    extra = {"google": {"thought_signature": "S"}}
    found = CODEC.asking(chunk({"extra_content": extra}) + ASKING, NAME)
    assert found is not None
    assert json.loads(found.message)["extra_content"] == extra


def test_what_the_client_brings_with_its_own_calls_does_not_go_back_twice() -> None:
    said = chunk({"content": "let me see", "reasoning_content": "hm"})
    beside = CODEC.asking(said + chunk({"tool_calls": [SEARCH]}) + ASKING, NAME)
    alone = CODEC.asking(said + ASKING, NAME)
    assert beside is not None
    assert alone is not None
    assert [json.loads(found.message)["content"] for found in (beside, alone)] == [None, "let me see"]
    assert json.loads(beside.message)["reasoning_content"] == "hm"  # without it, providers refuse the call


def test_what_is_given_last_counts_and_texts_go_on() -> None:
    parts = [
        {"index": 0, "type": "t", "text": "a", "signature": None, "id": "i"},
        {"index": 0, "type": "t", "text": "b", "signature": "s", "id": None},
        {"index": 0, "type": "t", "text": None},
    ]
    assert joined(parts) == [{"index": 0, "type": "t", "text": "ab", "signature": "s", "id": "i"}]
