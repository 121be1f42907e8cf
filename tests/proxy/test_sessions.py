"""Many conversations at once: they keep apart, and none of their journals is harmed."""

from __future__ import annotations

import asyncio
import json

import pytest

from ctxgc.core.journal import Allocation, Settlement
from tests.proxy.bodies import LISTING, SMALL, agent, body, calling, result, user
from tests.proxy.client import KEY
from tests.proxy.upstream import completion, whole


def turns(name: str, count: int) -> list[bytes]:
    """The requests of a conversation that goes on for so many turns."""
    messages, sent = [user(f"task {name}")], []
    for number in range(count):
        sent.append(body(*messages))
        call_id = f"call_{number}"
        messages += [
            calling(call_id, arguments=json.dumps({"q": number})),
            result(call_id, f"{name} {number} {LISTING}"),
        ]
    return sent


def keep_apart(journals, names: list[str], count: int) -> None:
    """There is one session for each conversation, with all of its requests, in order."""
    heads = sorted([entry.head for entry in entries if isinstance(entry, Allocation)] for entries in journals.values())
    assert heads == [[2 * number for number in range(count)]] * len(names)


@pytest.mark.parametrize("how", ["by their histories", "by their ids"])
async def test_sixteen_interleaved_sessions_of_one_credential_keep_apart(start, upstream, how):
    names, count = [f"name-{number:02}" for number in range(16)], 5

    async def converse(running, name: str) -> None:
        headers = [KEY] if how == "by their histories" else [KEY, ("x-ctxgc-session", f"session-{name}")]
        for text in turns(name, count):
            assert (await running.chat(text, headers)).status == 200

    async with start(**SMALL) as running:
        await asyncio.gather(*(converse(running, name) for name in names))
        await running.store.until(Settlement, 16 * count)
        keep_apart(running.journals(), names, count)
        assert len(running.check()) == 16
    for call in upstream.calls:
        task = call.json["messages"][0]["content"].removeprefix("task ")
        assert not [other for other in names if other != task and other.encode() in call.body]


async def test_the_check_finds_sessions_that_were_thrown_together(start):
    async with start() as running:
        for name in ("one", "two"):
            for text in turns(name, 2):
                await running.chat(text, [KEY, ("x-ctxgc-session", "the-same-id")])
        with pytest.raises(AssertionError):
            keep_apart(running.journals(), ["one", "two"], 2)


async def test_one_id_under_two_credentials_is_two_sessions(start):
    async with start() as running:
        for key in ("Bearer sk-a", "Bearer sk-b"):
            await running.chat(body(user()), [("Authorization", key), ("x-ctxgc-session", "the-same-id")])
        assert len(running.journals()) == 2


async def test_parallel_requests_of_one_session_do_not_harm_its_journal(start, upstream):
    session = [KEY, ("x-ctxgc-session", "one-session")]
    first = [user(), calling(), result()]
    async with start(**SMALL) as running:
        await running.chat(body(*first), session)
        for number in range(6):
            branches = [body(*first, agent(), user(f"{number} {side} {LISTING}")) for side in range(4)]
            longer = [
                body(*first, agent(), calling(f"c{side}"), result(f"c{side}", f"{number}{LISTING}"))
                for side in range(4)
            ]
            answers = await asyncio.gather(
                *(running.chat(text, session) for text in [*branches, *longer, body(*first)])
            )
            assert {answer.status for answer in answers} == {200}
        (state,) = running.check()
        assert state.calls == 1 + 6 * 9
        assert not state.unsettled


async def test_the_same_request_twice_at_once_is_sent_alike(start, upstream):
    async with start(**SMALL) as running:
        text = body(user(), calling(), result())
        await asyncio.gather(*(running.chat(text) for _ in range(8)))
        assert len({call.body for call in upstream.calls}) == 1
        (state,) = running.check()
        assert (state.calls, len(state.nodes)) == (8, 3)


async def test_a_refusal_meets_with_parallel_requests_of_its_session(start, upstream):
    """Whatever order they come in, each request is answered and the journal rebuilds what was sent."""

    async def refusing(call):
        await (whole() if LISTING[-200:].encode() in call.body.replace(b"\\n", b"\n") else whole(b"{}", 400))(call)

    upstream.answers(refusing)
    session = [KEY, ("x-ctxgc-session", "one-session")]
    async with start(**SMALL) as running:
        texts = [body(user(), calling(), result(), agent(), user(f"{number}")) for number in range(4)]
        texts += [body(user(), calling(f"c{number}"), result(f"c{number}")) for number in range(4)]
        for _ in range(2):
            answers = await asyncio.gather(*(running.chat(text, session) for text in texts))
            assert [answer.body for answer in answers] == [completion()] * 8
        (state,) = running.check()
        assert state.plain
