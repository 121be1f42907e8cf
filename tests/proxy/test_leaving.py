"""Clients that leave, and answers that break off."""

from __future__ import annotations

import asyncio

import pytest

from ctxgc.core.journal import Settlement
from ctxgc.proxy.exchange import Exchange
from tests.proxy.bodies import body, user
from tests.proxy.client import KEY, request
from tests.proxy.upstream import EVENTS, HANG, completion, event, head, silent, stream

ASK = request(body(user()), [KEY])
OTHER = request(b"{}", [KEY], target="/v1/embeddings")


async def leaves(proxy, upstream, ask: bytes, *, after: int) -> None:
    """A client leaves after so many bytes of its answer: the upstream's connection is closed, without another byte."""
    async with proxy.client() as client:
        await client.send(ask)
        call = await upstream.next()
        if after:
            await client.head()
            await client.exactly(after)
        client.leave()
        await asyncio.wait_for(call.gone.wait(), HANG)


def said(*, of: int, type: str = "application/json"):
    """A whole answer of which only the first part comes."""

    async def answer(call):
        await call.write(head(200, [("Content-Type", type), ("Content-Length", str(len(completion())))]))
        await call.write(completion()[: 2 * of])
        await call.gone.wait()

    return answer


def streaming():
    async def answer(call):
        await call.write(head(200, EVENTS))
        await call.chunk(event("one"))
        await call.gone.wait()

    return answer


@pytest.mark.parametrize(
    ("answer", "after"),
    [(silent(), 0), (streaming(), len(event("one"))), (said(of=20), 0), (said(of=20), -1)],
    ids=["before the first byte", "in a stream", "in a whole answer, unseen", "in a whole answer"],
)
async def test_the_upstream_is_cancelled_when_the_client_leaves_and_that_is_booked(observing, upstream, answer, after):
    upstream.answers(answer)
    async with observing.client() as client:
        await client.send(ASK)
        call = await upstream.next()
        if after:
            await client.head()
        if after > 0:
            await client.exactly(after)
        client.leave()
        await asyncio.wait_for(call.gone.wait(), HANG)
    (settled,) = await observing.store.until(Settlement)
    assert settled.outcome == "aborted"
    observing.check()


@pytest.mark.parametrize("answer", [silent(), streaming()], ids=["before the first byte", "in a stream"])
async def test_it_is_on_other_paths_too(observing, upstream, answer):
    upstream.answers(answer)
    await leaves(observing, upstream, OTHER, after=0 if answer.__qualname__.startswith("silent") else len(event("one")))


async def test_the_check_finds_a_proxy_that_does_not_notice(observing, upstream, monkeypatch):
    async def unwatched(self, work):
        await work

    monkeypatch.setattr(Exchange, "while_connected", unwatched)
    monkeypatch.setattr("tests.proxy.test_leaving.HANG", 0.3)
    upstream.answers(silent())
    with pytest.raises(TimeoutError):
        await leaves(observing, upstream, ASK, after=0)
    upstream.calls[0].cut()  # or else the proxy would wait on


async def test_a_client_that_left_does_not_disturb_the_next_request_of_its_session(observing, upstream):
    upstream.answers(streaming(), stream(event("again")))
    await leaves(observing, upstream, ASK, after=len(event("one")))
    await observing.store.until(Settlement)
    answer = await observing.ask(ASK)
    assert answer.body == event("again")
    (state,) = observing.check()
    assert not state.unsettled


async def test_a_stream_that_breaks_off_is_broken_off_for_the_client_and_booked_as_partial(observing, upstream):
    upstream.answers(stream(event("one"), event("two"), ending=False))
    answer = await observing.ask(ASK)
    assert answer.status == 200
    assert answer.body == event("one") + event("two")
    assert not answer.whole
    (settled,) = await observing.store.until(Settlement)
    assert settled.outcome == "partial"
    assert observing.store.blob(settled.reply) == answer.body
    assert len(upstream.calls) == 1, "what has begun is never asked for again"


async def test_a_whole_answer_that_breaks_off_is_broken_off_for_the_client(observing, upstream):
    async def answer(call):
        await call.write(head(200, [("Content-Type", "application/json"), ("Content-Length", "100")]) + b'{"half":')
        call.end()

    upstream.answers(answer)
    got = await observing.ask(ASK)
    assert (got.body, got.whole) == (b'{"half":', False)
    (settled,) = await observing.store.until(Settlement)
    assert settled.outcome == "partial"
    assert len(upstream.calls) == 1


async def test_other_paths_break_off_alike(observing, upstream):
    upstream.answers(stream(b"some", ending=False))
    answer = await observing.ask(OTHER)
    assert (answer.body, answer.whole) == (b"some", False)
    assert len(upstream.calls) == 1


async def test_requests_under_way_are_counted_down_again(observing, upstream):
    upstream.answers(silent())
    await leaves(observing, upstream, ASK, after=0)
    await observing.store.until(Settlement)
    metrics = (await observing.ask(request(method="GET", target="/metrics"))).body.decode()
    (line,) = (line for line in metrics.splitlines() if line.startswith("ctxgc_") and "in_flight" in line)
    assert float(line.split()[-1]) == 0


async def test_what_a_client_had_of_an_answer_when_it_left_is_kept(observing, upstream):
    upstream.answers(streaming())
    await leaves(observing, upstream, ASK, after=len(event("one")))
    (settled,) = await observing.store.until(Settlement)
    assert settled.outcome == "aborted"
    assert observing.store.blob(settled.reply) == event("one")


async def test_of_an_answer_that_never_began_nothing_is_kept(observing, upstream):
    upstream.answers(silent())
    await leaves(observing, upstream, ASK, after=0)
    (settled,) = await observing.store.until(Settlement)
    assert (settled.outcome, settled.reply) == ("aborted", b"")
