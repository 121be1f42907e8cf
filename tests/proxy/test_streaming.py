"""Streamed answers: every byte as it came, each piece when it came, and only the end held until all is on disk."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from ctxgc.core.journal import Allocation, Settlement, Usage
from ctxgc.proxy import relay as relaying
from tests.proxy.bodies import body, user
from tests.proxy.client import KEY, request
from tests.proxy.upstream import (
    DONE,
    EVENTS,
    HANG,
    Answer,
    completion,
    event,
    finish,
    head,
    pieces,
    stream,
    usage,
    whole,
)

ASK = request(body(user(), stream=True), [KEY])
SAID = (
    b": OPENROUTER PROCESSING\n\n"
    + event("h\xe9llo \U0001f600 ")
    + b":ping\r\n\r\n"
    + event("w\xf6rld")
    + finish()
    + usage()
)
ANSWER = SAID + DONE
SPLIT = SAID.index("\U0001f600".encode()) + 2
HALVES = [SAID[:SPLIT], SAID[SPLIT:]]


def identical(got: bytes, sent: bytes) -> None:
    assert got == sent


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
async def test_a_stream_comes_back_byte_for_byte_however_it_is_cut(observing, upstream, size):
    upstream.answers(stream(*pieces(ANSWER, size)))
    answer = await observing.ask(ASK)
    identical(answer.body, ANSWER)
    assert answer.whole
    assert answer.header("content-type") == "text/event-stream; charset=utf-8"
    (settled,) = observing.store.of(Settlement)
    assert (settled.outcome, settled.model, settled.usage) == ("ok", "gpt-5-2025", Usage(uncached=11, output=3))
    assert observing.store.blob(settled.reply) == ANSWER


ODD = {
    "no end": SAID,
    "no events": b": nothing\n\n",
    "carriage returns": ANSWER.replace(b"\n", b"\r\n"),
    "lone carriage returns": ANSWER.replace(b"\n", b"\r"),
    "no space after the colon": ANSWER.replace(b"data: ", b"data:"),
    "an error inside": event("so far") + b'data: {"error":{"message":"overloaded","code":529}}\n\n',
    "broken json": event("a") + b"data: {oops\n\n" + DONE,
    "named events": b"event: error\ndata: {}\n\nretry: 10\nid: 4\n\n" + DONE,
    "something behind the end": ANSWER + b": bye\n\n" + event("late"),
    "not utf-8": b"data: \xff\xfe\n\n" + DONE,
    "nothing": b"",
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_streams_come_back_byte_for_byte_too(observing, upstream, name):
    upstream.answers(stream(*pieces(ODD[name], 11)))
    answer = await observing.ask(ASK)
    identical(answer.body, ODD[name])
    assert answer.whole
    assert len(observing.store.of(Settlement)) == 1


async def test_an_error_inside_a_stream_is_booked_as_one(observing, upstream):
    upstream.answers(stream(ODD["an error inside"]))
    await observing.ask(ASK)
    assert [settled.outcome for settled in observing.store.of(Settlement)] == ["error"]


async def arrive_one_by_one(proxy, upstream, parts: list[bytes]) -> None:
    """Each part is in the client's hands before the upstream sends the next one."""
    seen = asyncio.Event()

    async def answer(call):
        await call.write(head(200, EVENTS))
        for part in parts:
            seen.clear()
            await call.chunk(part)
            await asyncio.wait_for(seen.wait(), HANG)
        await call.chunk(DONE)
        await call.chunk(b"")

    upstream.answers(answer)
    async with proxy.client() as client:
        await client.send(ASK)
        await client.head()
        for part in parts:
            assert await client.exactly(len(part)) == part
            seen.set()
        identical((await client.rest()).body, DONE)


@pytest.mark.parametrize("size", [37, 100])
async def test_each_piece_arrives_before_the_next_one_is_sent(observing, upstream, size):
    await arrive_one_by_one(observing, upstream, list(pieces(SAID, size)))


async def test_a_character_arrives_in_halves_if_it_came_in_halves(observing, upstream):
    await arrive_one_by_one(observing, upstream, HALVES)


async def test_the_check_finds_a_relay_that_repairs_characters(observing, upstream, monkeypatch):
    take = relaying.Hold.take
    monkeypatch.setattr(relaying.Hold, "take", lambda self, chunk: take(self, chunk.decode(errors="replace").encode()))
    with pytest.raises(AssertionError):
        await arrive_one_by_one(observing, upstream, HALVES)


async def test_the_head_arrives_before_the_first_byte_of_the_body(observing, upstream):
    seen = asyncio.Event()

    async def answer(call):
        await call.write(head(200, EVENTS))
        await asyncio.wait_for(seen.wait(), HANG)
        await call.chunk(ANSWER)
        await call.chunk(b"")

    upstream.answers(answer)
    async with observing.client() as client:
        await client.send(ASK)
        assert await client.head() == 200
        seen.set()
        assert (await client.rest()).body == ANSWER


async def is_held(proxy, upstream, answer: Answer, early: bytes, late: bytes) -> None:
    """``early`` arrives while the store has not said that the end is on disk, and ``late`` not before it has."""
    go = asyncio.Event()

    async def gated(call):
        await go.wait()
        await answer(call)

    upstream.answers(gated)
    async with proxy.client() as client:
        await client.send(ASK)
        await proxy.store.until(Allocation)
        proxy.store.held = True
        go.set()
        await client.head()
        assert await client.exactly(len(early)) == early
        await proxy.store.until(Settlement)  # it is settled, and only the store's word is missing
        await proxy.ask(request(method="GET", target="/healthz"))  # whatever was on its way has arrived since
        assert client.waiting == b"", "the end went out before it was on disk"
        proxy.store.release()
        rest = await client.rest()
        assert rest.whole
        assert rest.body == late


@pytest.mark.parametrize("size", [1, 5, 100_000])
async def test_the_end_of_a_stream_is_held_back_until_all_is_on_disk(observing, upstream, size):
    await is_held(observing, upstream, stream(*pieces(ANSWER, size)), SAID, DONE)


async def test_the_end_is_told_from_text_that_looks_like_it(observing, upstream):
    said = event("an end reads data: [DONE]\n\n and is no end") + finish()
    await is_held(observing, upstream, stream(*pieces(said, 9), DONE), said, DONE)


async def test_the_end_of_a_whole_answer_is_held_back_too(observing, upstream):
    await is_held(observing, upstream, whole(), b"", completion())


async def test_the_check_finds_a_relay_that_holds_nothing_back(observing, upstream, monkeypatch):
    monkeypatch.setattr(relaying.Hold, "take", lambda self, chunk: chunk)
    with pytest.raises(AssertionError):
        await is_held(observing, upstream, stream(SAID, DONE), SAID, DONE)


async def test_a_stream_that_does_not_close_after_its_end_is_not_waited_for(observing, upstream):
    closing = asyncio.Event()

    async def answer(call):
        await call.write(head(200, EVENTS))
        await call.chunk(ANSWER)
        await asyncio.wait_for(closing.wait(), HANG)
        await call.chunk(b"")

    upstream.answers(answer)
    async with observing.client() as client:
        await client.send(ASK)
        await client.head()
        assert await client.exactly(len(ANSWER)) == ANSWER
        closing.set()
        assert (await client.rest()).whole
    assert [settled.outcome for settled in observing.store.of(Settlement)] == ["ok"]


async def test_a_compressed_answer_is_relayed_with_its_header(observing, upstream):
    packed = gzip.compress(ANSWER)
    headers = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
    upstream.answers(whole(packed, headers=headers))
    answer = await observing.ask(ASK)
    assert answer.header("content-encoding") == "gzip"
    assert answer.header("content-length") == str(len(packed))
    identical(answer.body, packed)
    (settled,) = observing.store.of(Settlement)
    assert (settled.outcome, settled.usage) != ("ok", None)
    assert observing.store.blob(settled.reply) == packed


async def test_a_compressed_answer_is_read_like_a_plain_one(observing, upstream):
    for packed, encoding in ((ANSWER, "identity"), (gzip.compress(ANSWER), "gzip"), (b"not gzip", "gzip")):
        headers = [("Content-Type", "text/event-stream"), ("Content-Encoding", encoding)]
        upstream.answers(whole(packed, headers=headers))
        await observing.ask(ASK)
    plain, opened, broken = await observing.store.until(Settlement, 3)
    assert plain.usage == opened.usage != broken.usage
    assert [plain.outcome, opened.outcome, broken.outcome] == ["ok", "ok", "partial"]


async def test_an_answer_that_ends_with_its_connection_is_relayed(observing, upstream):
    async def answer(call):
        await call.write(head(200, [("Content-Type", "text/event-stream"), ("Connection", "close")]) + ANSWER)
        call.end()

    upstream.answers(answer)
    identical((await observing.ask(ASK)).body, ANSWER)
    assert [settled.outcome for settled in observing.store.of(Settlement)] == ["ok"]


async def test_an_answer_too_long_to_keep_is_relayed_and_not_kept(observing, upstream, monkeypatch):
    monkeypatch.setattr(relaying, "COPY_LIMIT", 1000)
    long = b"data: " + b"x" * 300_000 + b"\n\n" + ANSWER
    upstream.answers(stream(*pieces(long, 50_000)))
    identical((await observing.ask(ASK)).body, long)
    (settled,) = observing.store.of(Settlement)
    assert (settled.outcome, settled.reply) == ("ok", b"")


async def test_a_fault_in_reading_an_answer_does_not_break_it(observing, upstream, monkeypatch):
    def fault(self: object, chunk: bytes) -> None:
        raise RuntimeError

    monkeypatch.setattr("ctxgc.wire.openai_chat_reply.Reader.feed", fault)
    upstream.answers(stream(*pieces(ANSWER, 100)))
    identical((await observing.ask(ASK)).body, ANSWER)
    assert [settled.outcome for settled in observing.store.of(Settlement)] == ["partial"]
