"""Errors of the upstream, as they come; what is tried again, and what is not."""

from __future__ import annotations

import socket

import pytest

from ctxgc.core.journal import Allocation, Bypass, Collection, Settlement
from tests.proxy.bodies import LISTING, SMALL, agent, body, calling, result, tooled, user
from tests.proxy.client import KEY, request
from tests.proxy.harness import proxy
from tests.proxy.upstream import completion, whole

JSON = ("Content-Type", "application/json")
REFUSED = whole(b'{"error":{"message":"no such form"}}', 400)
ERRORS = {
    400: (b'{"error": {"message":"bad \\ud800", "type":"invalid_request_error"} }\n', [JSON]),
    401: (b'{"error":{"message":"Incorrect API key provided"}}', [JSON, ("WWW-Authenticate", "Bearer")]),
    403: (b"<html>no</html>", [("Content-Type", "text/html")]),
    429: (
        b'{"error":{"message":"slow down"}}',
        [JSON, ("Retry-After", "17"), ("anthropic-ratelimit-unified-status", "x")],
    ),
    500: (b"\x00\xff not json", [("Content-Type", "application/octet-stream")]),
    503: (b"", [("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")]),
    529: (b'{"type":"error","error":{"type":"overloaded_error"}}', [JSON, ("x-should-retry", "true")]),
}


@pytest.mark.parametrize("status", ERRORS)
async def test_an_error_comes_back_byte_for_byte_and_is_not_tried_again(observing, upstream, status):
    text, headers = ERRORS[status]
    upstream.answers(whole(text, status, headers))
    answer = await observing.chat(body(user()))
    assert (answer.status, answer.body, answer.whole) == (status, text, True)
    assert answer.headers[:-1] == [(name.lower(), value) for name, value in headers]
    assert len(upstream.calls) == 1
    (settled,) = await observing.store.until(Settlement)
    assert (settled.outcome, settled.status, settled.reply) == ("error", status, b"")
    observing.check()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_relayed_and_not_followed(observing, upstream, status):
    async with type(upstream)() as canary:
        upstream.answers(whole(b"", status, [("Location", canary.base)]))
        for target in ("/v1/chat/completions", "/v1/models"):
            answer = await observing.ask(request(body(user()), [KEY], target=target))
            assert (answer.status, answer.header("location")) == (status, canary.base)
        assert canary.connections == 0


async def test_an_upstream_that_is_not_there_is_a_502_that_gives_nothing_away(tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        async with proxy(f"http://127.0.0.1:{port}/secret/v1", tmp_path / "audit.db") as running:
            for target in ("/v1/chat/completions?key=sk-in-query", "/v1/models?key=sk-in-query"):
                answer = await running.ask(request(body(user()), [KEY], target=target))
                assert answer.status == 502
                assert answer.error["code"] == "upstream_unreachable"
                shown = repr(answer)
                assert not [word for word in (str(port), "127.0.0.1", "secret", "sk-", "Traceback") if word in shown]
            (settled,) = running.store.of(Settlement)
            assert (settled.outcome, settled.status) == ("error", 0)


async def test_a_name_that_does_not_resolve_is_a_502_too(tmp_path):
    async with proxy("http://no-such-host.invalid/v1", tmp_path / "audit.db") as running:
        answer = await running.chat(body(user()))
        assert answer.status == 502
        assert b"invalid" not in answer.body


async def test_an_upstream_that_hangs_up_without_a_word_is_a_502(observing, upstream):
    async def answer(call):
        call.cut()

    upstream.answers(answer)
    assert (await observing.chat(body(user()))).status == 502
    assert len(upstream.calls) == 1


async def test_an_upstream_that_does_not_speak_http_is_a_502(observing, upstream):
    async def answer(call):
        await call.write(b"SSH-2.0-OpenSSH sk-secret\r\n\r\n")

    upstream.answers(answer)
    answer = await observing.chat(body(user()))
    assert answer.status == 502
    assert b"sk-secret" not in answer.body


async def test_a_kept_connection_that_was_closed_meanwhile_is_opened_again(observing, upstream):
    async def hang_up(call):
        call.cut()

    upstream.answers(whole(), hang_up, whole(b"{}"))
    await observing.chat(body(user()))
    assert (await observing.chat(body(user()))).body == b"{}"
    assert [call.body for call in upstream.calls] == [body(user())] * 3


async def test_an_edited_request_that_is_refused_is_sent_once_more_as_it_came(eden, upstream):
    upstream.answers(REFUSED, whole())
    answer = await eden.chat(tooled())
    assert (answer.status, answer.body) == (200, completion())
    edited, original = upstream.calls
    assert edited.body != tooled()
    assert original.body == tooled()
    assert edited.headers[:-1] == original.headers[:-1], "only the length differs"
    (settled,) = eden.store.of(Settlement)
    assert (settled.outcome, settled.status) == ("ok", 200)
    eden.check()


async def test_the_session_then_goes_as_it_comes_also_after_a_restart(start, upstream):
    upstream.answers(REFUSED, whole())
    first = [user(), calling(), result()]
    later = [agent(), calling("call_2"), result("call_2", LISTING + "more")]
    async with start(**SMALL) as running:
        await running.chat(body(*first))
        await running.chat(body(*first, *later))
        (plain,) = [bypass for bypass in running.store.of(Bypass) if bypass.plain]
        assert plain.reason.startswith("refused")
        assert len(running.store.of(Collection)) == 1
        running.check()
    longer = [*first, *later, agent(), calling("call_3"), result("call_3", LISTING + "even more")]
    async with start(**SMALL) as running:
        await running.chat(body(*longer))
        assert not running.store.of(Collection)
        (state,) = running.check()
        assert state.plain
    assert [call.body for call in upstream.calls[1:]] == [body(*first), body(*first, *later), body(*longer)]


async def test_the_other_sessions_are_still_edited(eden, upstream):
    upstream.answers(REFUSED, whole())
    await eden.chat(tooled())
    other = body(user("something else"), calling(), result())
    await eden.chat(other)
    assert len(upstream.calls[-1].body) < len(other) / 10


async def test_if_the_original_is_refused_too_the_first_answer_counts_and_edits_go_on(eden, upstream):
    upstream.answers(REFUSED, whole(b"another", 400), whole())
    answer = await eden.chat(tooled())
    assert (answer.status, answer.body) == (400, b'{"error":{"message":"no such form"}}')
    assert len(upstream.calls) == 2
    assert not eden.store.of(Bypass)
    await eden.chat(body(user(), calling(), result(), agent(), user("again")))
    assert LISTING[-100:].encode() not in upstream.calls[-1].body.split(b"call_1")[0]
    assert len(upstream.calls[-1].body) < 3000


@pytest.mark.parametrize("status", [429, 500])
async def test_if_the_original_meets_with_another_error_nothing_is_concluded(eden, upstream, status):
    upstream.answers(REFUSED, whole(b"busy", status, [("Retry-After", "3")]))
    answer = await eden.chat(tooled())
    assert (answer.status, answer.body, answer.header("retry-after")) == (status, b"busy", "3")
    assert not eden.store.of(Bypass)


async def test_if_the_original_finds_nobody_the_refusal_is_the_answer(eden, upstream):
    async def hang_up(call):
        call.cut()

    async def refuse_and_close(call):
        await REFUSED(call)
        call.end()

    upstream.answers(refuse_and_close, hang_up)
    assert (await eden.chat(tooled())).status == 400
    assert not eden.store.of(Bypass)


@pytest.mark.parametrize("status", [401, 404, 413, 429, 500])
async def test_only_a_request_that_is_said_to_be_not_valid_is_tried_again(eden, upstream, status):
    upstream.answers(whole(b"{}", status))
    assert (await eden.chat(tooled())).status == status
    assert len(upstream.calls) == 1
    assert eden.store.of(Allocation)


@pytest.mark.parametrize("status", [400, 422])
async def test_an_edited_request_that_is_said_to_be_not_valid_is_sent_as_it_came(eden, upstream, status):
    upstream.answers(whole(b"{}", status), whole())
    assert (await eden.chat(tooled())).status == 200
    assert [call.body == tooled() for call in upstream.calls] == [False, True]
