"""Streams in rounds, as clients put them together: nothing that was said is lost, and signed reasoning stays apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest

from ctxgc.wire import openai_chat_sieve
from ctxgc.wire.openai_chat_reasoning import Numbering
from tests.proxy.bodies import SMALL
from tests.proxy.recalls import HISTORY, NAME, SEARCH, delta, handle, recall, request, said, search, streamed
from tests.proxy.upstream import DONE, Answer, Call, event, finish, pieces, stream

Start = Callable[..., Any]


def thought(text: str, signature: str) -> list[bytes]:
    """An entry of reasoning as OpenRouter streams one of Anthropic's: its text in parts, then its signature."""
    entry = {"type": "reasoning.text", "index": 0}
    parts = [{**entry, "text": part} for part in (text[:3], text[3:])]
    return [delta(reasoning_details=[part]) for part in [*parts, {**entry, "signature": signature}]]


def thinking(text: str, signature: str, *, size: int = 0) -> Answer:
    """A reply that thinks, and then recalls."""

    async def answer(call: Call) -> None:
        parts = [*thought(text, signature), *streamed(recall(handle(call)), text="Look. ")]
        await stream(*(pieces(b"".join(parts), size) if size else parts))(call)

    return answer


async def final(running: Any) -> Any:
    """The message that OpenAI's client makes of an answer."""
    async with openai.AsyncOpenAI(api_key="x", base_url=running.base, max_retries=0) as client:
        given: Any = {"model": "gpt-5", "messages": list(HISTORY), "tools": [SEARCH]}
        async with client.chat.completions.stream(**given) as events:
            return (await events.get_final_completion()).choices[0]


def thoughts(choice: Any) -> list[tuple[str, str]]:
    return [(entry["text"], entry["signature"]) for entry in choice.message.reasoning_details]


@pytest.mark.parametrize("size", [0, 11])
async def test_openais_client_keeps_the_reasoning_of_each_round_apart(start: Start, upstream: Any, size: int) -> None:
    last = [*thought("think three", "SIG3"), *streamed(text="found")]
    upstream.answers(thinking("think one", "SIG1", size=size), thinking("think two", "SIG2", size=size), stream(*last))
    async with start(**SMALL) as running:
        choice = await final(running)
        running.check()
    assert thoughts(choice) == [("think one", "SIG1"), ("think two", "SIG2"), ("think three", "SIG3")]
    assert choice.message.content == "Look. Look. found"
    entry = {"type": "reasoning.text", "index": 0}
    given_back = [message.get("reasoning_details") for message in upstream.calls[2].json["messages"][3::2]]
    assert given_back[:2] == [
        [{**entry, "text": "think one", "signature": "SIG1"}],
        [{**entry, "text": "think two", "signature": "SIG2"}],
    ]


async def test_the_check_finds_reasoning_that_runs_together(
    start: Start, upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Numbering, "renumber", lambda self, value: False)
    last = [*thought("think two", "SIG2"), *streamed(text="found")]
    upstream.answers(thinking("think one", "SIG1"), stream(*last))
    async with start(**SMALL) as running:
        choice = await final(running)
    assert thoughts(choice) == [("think onethink two", "SIG1SIG2")]


async def test_reasoning_without_a_recall_goes_through_byte_for_byte(start: Start, upstream: Any) -> None:
    sent = [*thought("think one", "SIG1"), *streamed(search(), text="hi", counted=True)]
    upstream.answers(stream(*sent))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert got.body == b"".join(sent)


async def test_reasoning_of_the_clients_own_call_beside_a_recall_reaches_it(start: Start, upstream: Any) -> None:
    """Gemini's signatures come with the calls that they are for."""

    async def both(call: Call) -> None:
        entries = [{"type": "reasoning.encrypted", "index": at, "data": f"S{at}"} for at in range(2)]
        first = delta(tool_calls=[recall(handle(call))], reasoning_details=entries[:1])
        await stream(first, delta(tool_calls=[search(1)], reasoning_details=entries[1:]), finish("tool_calls"), DONE)(
            call
        )

    upstream.answers(both)
    async with start(**SMALL) as running:
        choice = await final(running)
    assert [entry["data"] for entry in choice.message.reasoning_details] == ["S0", "S1"]
    assert [call.id for call in choice.message.tool_calls] == ["s1"]


def at_once(text: str, ending: str) -> Answer:
    """Text, recall, finish and usage in one chunk, as Gemini, Ollama and vLLM send them."""

    async def answer(call: Call) -> None:
        made = {"role": "assistant", "content": text, "tool_calls": [recall(handle(call))]}
        used = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        await stream(event(choices=[{"index": 0, "delta": made, "finish_reason": ending}], usage=used), DONE)(call)

    return answer


@pytest.mark.parametrize("ending", ["stop", "tool_calls"])
async def test_what_is_said_with_the_finish_reaches_the_client(start: Start, upstream: Any, ending: str) -> None:
    upstream.answers(at_once("tt", ending), stream(*streamed(text="fin", counted=True)))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
        running.check()
    text, calls, how, used = said(got.body, streaming=True)
    assert (text, calls, how) == ("ttfin", [], "stop")
    assert used == {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    assert NAME not in got.body
    assert upstream.calls[1].json["messages"][3]["content"] == "tt"


async def test_the_check_finds_text_that_is_lost_with_the_finish(
    start: Start, upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_chat_sieve, "_spoken", lambda value: None)
    upstream.answers(at_once("tt", "stop"), stream(*streamed(text="fin")))
    async with start(**SMALL) as running:
        got = await running.chat(request(stream=True))
    assert said(got.body, streaming=True)[0] == "fin"


async def test_openais_client_reads_what_is_said_with_the_finish(start: Start, upstream: Any) -> None:
    upstream.answers(at_once("tt", "stop"), at_once("uu", "tool_calls"), stream(*streamed(text="fin")))
    async with start(**SMALL) as running:
        choice = await final(running)
    assert (choice.message.content, choice.message.tool_calls, choice.finish_reason) == ("ttuufin", None, "stop")
    assert json.loads(upstream.calls[2].body)["messages"][5]["content"] == "uu"
