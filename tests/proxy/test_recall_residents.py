"""Results that were sent before and collected later are recalled, in sessions that go on collecting."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from ctxgc.core import stub
from ctxgc.core.journal import Collection
from ctxgc.session import projection
from ctxgc.session.reading import TOOL_NAME
from ctxgc.wire.openai_chat import OpenAIChat
from tests.proxy.bodies import LISTING, Dict, calling, result, user
from tests.proxy.recalls import NAME, completed, recall, request, said, streamed
from tests.proxy.upstream import stream, whole

BOTH = pytest.mark.parametrize("streaming", [False, True])
SOON = {"policy": "generational", "patience": 0, "regret": 9}
"""Settings with which what is dead goes as soon as it is."""
RULES = {"role": "system", "content": "".join(f"Rule {n}: be as brief as the matter allows. " for n in range(150))}
"""As long as it takes for what is left to be cached."""
OTHER = LISTING.replace("line", "row").replace("listing", "table")


def told(listings: dict[int, str], turns: int) -> list[Dict]:
    """A conversation of so many calls; those at these turns give a listing."""
    messages = [RULES, user()]
    for number in range(turns):
        name, text = ("search", listings[number]) if number in listings else ("ping", "pong")
        messages += [calling(f"c{number}", name, json.dumps({"n": number})), result(f"c{number}", text)]
    return messages


CALLS = 20
STORY = told({0: LISTING, 9: OTHER}, CALLS)
ASKED = 7
"""The request in whose reply the model recalls, when the first listing has been collected."""


def texts(call: Any) -> list[str]:
    return [str(message["content"]) for message in call.json["messages"]]


def handles(call: Any) -> list[str]:
    return [found for text in texts(call) for found in stub.handles(text)]


def answer(*, streaming: bool) -> Any:
    return stream(*streamed(text="well")) if streaming else whole(completed(text="well"))


async def first_shown(call: Any, *, streaming: bool) -> None:
    made = recall(handles(call)[0])
    await (stream(*streamed(made)) if streaming else whole(completed(made)))(call)


def replying(upstream: Any, *, streaming: bool) -> None:
    """The model answers, but recalls in the reply to one request."""
    asking = lambda call: first_shown(call, streaming=streaming)  # noqa: E731
    upstream.answers(*[answer(streaming=streaming)] * ASKED, asking, answer(streaming=streaming))


async def go_on(running: Any, first: int, last: int, *, streaming: bool) -> list[bytes]:
    """Send the requests from ``first`` to before ``last``; what the client got."""
    got = [await running.chat(request(*STORY[: 4 + 2 * at], stream=streaming)) for at in range(first, last)]
    assert all(one.whole and one.status == 200 for one in got)
    return [one.body for one in got]


def raws(call: Any) -> list[bytes]:
    body = OpenAIChat().split(call.body)
    return [span.of(call.body) for span in body.messages]


def rewrites(upstream: Any) -> int:
    """How often a request did not begin as the one before it."""
    sent = [raws(call) for call in upstream.calls]
    return sum(after[: len(before)] != before for before, after in pairwise(sent))


def collections(running: Any) -> list[Collection]:
    (entries,) = running.journals().values()
    return [one for one in entries if isinstance(one, Collection) and one.generation != "eden"]


@BOTH
async def test_a_collected_result_is_recalled_and_the_session_goes_on_collecting(
    start: Callable[..., Any], upstream: Any, streaming: bool
) -> None:
    replying(upstream, streaming=streaming)
    async with start(**SOON) as running:
        got = await go_on(running, 0, ASKED + 1, streaming=streaming)
        running.check()
        before = len(collections(running))
    async with start(**SOON) as running:
        got += await go_on(running, ASKED + 1, CALLS, streaming=streaming)
        (state,) = running.check()
        made = collections(running)
    assert not any(NAME in one for one in got)
    assert all(said(one, streaming=streaming)[0] == "well" for one in got)
    assert 0 < before < len(made)
    assert rewrites(upstream) == len(made)
    last = texts(upstream.calls[-1])
    (given,) = [text for text in last if text.startswith("recalled from search(")]
    assert LISTING[:10_000] in given
    assert not any(OTHER in text for text in last)
    assert not any("call again" in text for text in last)
    assert sum(state.resurrected.values()) == 1
    assert {TOOL_NAME in json.dumps(call.json["tools"]) for call in upstream.calls} == {True}


async def test_every_stub_of_the_newest_request_is_redeemed_in_it(start: Callable[..., Any], upstream: Any) -> None:
    upstream.answers(answer(streaming=False))
    async with start(**SOON) as running:
        await go_on(running, 0, CALLS - 1, streaming=False)
        shown = handles(upstream.calls[-1])
        asked = [recall(found, at, f"r{at}") for at, found in enumerate(shown)]
        upstream.answers(whole(completed(*asked)), answer(streaming=False))
        await go_on(running, CALLS - 1, CALLS, streaming=False)
        running.check()
    assert len(shown) >= 2
    answers = upstream.calls[-1].json["messages"][-len(shown) :]
    assert all(one["content"].startswith("recalled from search(") for one in answers)


async def test_a_rewrite_that_forgets_what_was_recalled_is_found(
    start: Callable[..., Any], upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control of both: the prefix is lost where nothing was collected, and the books do not agree."""
    ours = projection._ours
    monkeypatch.setattr(
        projection,
        "_ours",
        lambda state, track, found, count, made: (
            ours(state, track, found, count, made) if track else [[] for _ in range(count + 1)]
        ),
    )
    replying(upstream, streaming=False)
    async with start(**SOON) as running:
        await go_on(running, 0, CALLS, streaming=False)
        with pytest.raises(AssertionError):
            running.check()


async def test_a_history_without_the_tool_is_told_to_call_again(start: Callable[..., Any], upstream: Any) -> None:
    upstream.answers(answer(streaming=False))
    async with start(**SOON, recall=False) as running:
        await go_on(running, 0, CALLS, streaming=False)
        running.check()
    assert any("call again for all" in text for text in texts(upstream.calls[-1]))
