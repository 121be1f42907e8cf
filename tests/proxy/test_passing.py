"""What goes to the upstream: the client's bytes, unless the journal says otherwise."""

from __future__ import annotations

import hashlib
import json

import pytest

from ctxgc.core.journal import Allocation, Bypass, Collection, Settlement
from tests.proxy.bodies import LISTING, agent, body, calling, result, tooled, user
from tests.proxy.client import KEY, request
from tests.proxy.upstream import Call, completion, pieces, whole

ODD = (
    b'{ "messages":[ {"role":"user","content":"\xc3\xa9\\u00e9 \\ud83d\\ude00 \\ud800"} ,\n\t{"content":null,'
    b'"role":"assistant","x_unknown":[1e3,1.50,12345678901234567890123]}],"model":"m","seed":12345678901234567890,"temperature":1e0}\r\n'
)
BODIES = {
    "plain": body(user()),
    "odd": ODD,
    "tools": tooled(),
    "no model": b'{"messages":[]}',
    "not utf-8": b'{"messages":[{"role":"user","content":"\xff\xfe"}]}',
    "a bom": b'\xef\xbb\xbf{"messages":[]}',
    "parts": body({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "of_tomorrow", "x": {}}]}),
    "cut json": b'{"messages":[{"role":"user"',
    "twice the key": b'{"messages":[],"messages":[{"role":"user","content":"b"}]}',
    "twice the key inside": b'{"messages":[{"role":"user","role":"system","content":"b"}]}',
    "NaN": b'{"messages":[],"temperature":NaN}',
    "deep": b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep inside": b'{"messages":[{"role":"user","content":' + b"[" * 50_000 + b"]" * 50_000 + b"}]}",
    "a long number": b'{"messages":[{"role":"user","content":"a","n":' + b"9" * 100_000 + b"}]}",
    "brackets": b"[" * 1_000_000,
    "no object": b'["messages"]',
    "a model of half a character": b'{"model":"\\ud800","messages":[{"role":"user","content":"x"}]}',
    "empty": b"",
    "nothing of ours": b"\x00\x01\x02",
}
UNREADABLE = {"not utf-8", "a bom", "cut json", "twice the key", "NaN", "deep", "brackets", "no object", "empty",
              "nothing of ours", "deep inside", "a long number"}  # fmt: skip


def same(call: Call, sent: bytes) -> None:
    """What every request must hold that was not edited."""
    assert call.body == sent
    assert call.header("content-length") == b"%d" % len(sent)


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_arrives_as_it_was_sent_whatever_is_in_it(observing, upstream, name):
    answer = await observing.chat(BODIES[name])
    assert answer.status == 200
    assert answer.body == completion()
    same(upstream.calls[0], BODIES[name])
    bypasses = observing.store.of(Bypass)
    digest = hashlib.sha256(BODIES[name]).digest() if BODIES[name] else b""
    assert [bypass.received for bypass in bypasses] == [digest] * (name in UNREADABLE)
    assert all(bypass.reason.startswith("malformed") for bypass in bypasses)
    observing.check()


async def test_a_session_goes_on_after_a_body_that_could_not_be_read(observing, upstream):
    session = [KEY, ("x-ctxgc-session", "one-session")]
    for sent in (
        body(user()),
        BODIES["a model of half a character"],
        BODIES["cut json"],
        body(user(), agent(), user()),
    ):
        await observing.chat(sent, session)
        same(upstream.calls[-1], sent)
    assert len(await observing.store.until(Settlement, 4)) == 4
    observing.check()


def test_the_check_finds_a_changed_byte():
    class Changed:
        body = ODD[:-1]

    with pytest.raises(AssertionError):
        same(Changed(), ODD)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["plain", "odd", "no model", "parts"])
async def test_what_no_policy_wants_to_edit_arrives_as_it_was_sent_under_eden_too(eden, upstream, name):
    await eden.chat(BODIES[name])
    same(upstream.calls[0], BODIES[name])
    assert not eden.store.of(Collection)


async def test_an_edit_is_made_where_the_journal_says_and_nowhere_else(eden, upstream):
    sent = tooled(seed=12345678901234567890)
    await eden.chat(sent)
    got = upstream.calls[0].body
    (collection,), (allocation,) = eden.store.of(Collection), eden.store.of(Allocation)
    (edit,) = collection.edits
    old, new = json.dumps(LISTING, ensure_ascii=False).encode(), json.dumps(edit.text, ensure_ascii=False).encode()
    assert got == sent.replace(old, new)
    assert len(got) < len(sent) / 10
    assert allocation.sent == hashlib.sha256(got).digest()
    assert allocation.received == hashlib.sha256(sent).digest()
    eden.check()


async def test_what_was_sent_is_sent_again_byte_for_byte(eden, upstream):
    first = [user(), calling(), result()]
    await eden.chat(body(*first))
    await eden.chat(body(*first, agent(), user("and now?")))
    one, two = (call.body for call in upstream.calls)
    assert two.startswith(one[: one.index(b"]", one.rindex(b"content"))])
    assert len(eden.store.of(Collection)) == 1


async def test_the_query_is_kept(observing, upstream):
    query = "beta=true&x=%2F%2f%20+&q=a%0d%0ab&empty=&&y"
    answer = await observing.ask(request(body(user()), target=f"/v1/chat/completions?{query}"))
    assert answer.status == 200
    assert upstream.calls[0].target == f"/v1/chat/completions?{query}"


async def test_headers_arrive_in_order_with_duplicates_and_unknown_ones(observing, upstream):
    mine = [
        ("anthropic-beta", "b-2"), ("X-Unknown", "one"), ("anthropic-beta", "a-1"), ("Cookie", "a=b; c=d"),
        ("X-Unknown", ""), ("User-Agent", "OpenAI/Python 1.0"), ("Accept", "*/*"), ("Traceparent", "00-ab-cd-01"),
        ("X-Forwarded-For", "10.1.1.1"), ("Authorization", "Bearer sk-mine"), ("Content-Type", "application/json"),
        ("Referer", "http://a/b"), ("Date", "today"),
    ]  # fmt: skip
    await observing.ask(request(body(user()), mine))
    got = [(name.decode(), value.decode()) for name, value in upstream.calls[0].headers]
    assert [pair for pair in got if pair[0] not in ("host", "content-length", "accept-encoding")] == [
        (name.lower(), value) for name, value in mine
    ]
    assert len([name for name, _ in got if name in ("host", "content-length", "accept-encoding")]) == 3


async def test_header_values_keep_their_bytes(observing, upstream):
    await observing.ask(request(body(user())).replace(b"Host:", "X-Name: Zoë ✓\r\nHost:".encode()))
    assert upstream.calls[0].header("x-name") == "Zoë ✓".encode()


async def test_hop_by_hop_headers_stop_here(observing, upstream):
    hop = [
        ("Connection", "keep-alive, X-Private , x-other"), ("X-Private", "1"), ("X-Other", "2"), ("Keep-Alive", "5"),
        ("TE", "trailers"), ("Trailer", "x"), ("Proxy-Authorization", "Basic x"), ("Proxy-Connection", "close"),
        ("X-Kept", "3"), ("Expect", "100-continue"),
    ]  # fmt: skip
    async with observing.client() as client:
        await client.send(request(body(user()), hop))
        assert await client.head() == 100
        assert await client.head() == 200
    names = {name.decode() for name, _ in upstream.calls[0].headers}
    assert names == {"host", "content-length", "accept-encoding", "x-kept"}


async def test_own_headers_stop_here(observing, upstream):
    await observing.chat(body(user()), [KEY, ("x-ctxgc-session", "mine-alone"), ("X-Ctxgc-Else", "x")])
    assert not [name for name, _ in upstream.calls[0].headers if b"ctxgc" in name]
    assert b"mine-alone" not in upstream.calls[0].head


async def test_host_is_the_upstreams_and_the_key_is_passed_on(observing, upstream):
    await observing.chat(body(user()))
    call = upstream.calls[0]
    assert call.header("host") == b"127.0.0.1:%d" % upstream.port
    assert call.header("authorization") == KEY[1].encode()


async def test_completions_are_asked_for_uncompressed(observing, upstream):
    await observing.chat(body(user()), [KEY, ("Accept-Encoding", "gzip, br, zstd")])
    assert [value for name, value in upstream.calls[0].headers if name == b"accept-encoding"] == [b"identity"]


async def test_a_chunked_body_arrives_with_its_length(observing, upstream):
    sent = body(user())
    head = request(b"", [("Transfer-Encoding", "chunked")], length=False)
    await observing.ask(head + b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (sent[:5], len(sent) - 5, sent[5:]))
    same(upstream.calls[0], sent)
    assert upstream.calls[0].header("transfer-encoding") is None


async def test_answer_headers_come_back_in_order_with_duplicates(observing, upstream):
    headers = [
        ("Content-Type", "application/json"), ("X-Request-Id", "req_1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"),
        ("X-RateLimit-Remaining", "7"), ("Date", "then"), ("Server", "theirs"), ("X-Latin", "caf\xe9"),
    ]  # fmt: skip
    upstream.answers(whole(headers=[*headers, ("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "2")]))
    answer = await observing.chat(body(user()))
    assert answer.headers[:-1] == [(name.lower(), value) for name, value in headers]
    assert answer.headers[-1] == ("content-length", str(len(completion())))


async def test_a_connection_serves_one_request_after_another(observing, upstream):
    async with observing.client() as client:
        for number in range(3):
            await client.send(request(body(user(f"{number}")), [KEY]))
            await client.head()
            assert (await client.rest()).body == completion()
    assert upstream.connections == 1


OFFER = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAEAAEAA")]


@pytest.mark.parametrize("size", [1, 50, 100_000])
async def test_an_offer_of_http_2_is_not_taken_and_no_body_is_lost(observing, upstream, size):
    async with observing.client() as client:
        for text in ("one", "two", "three"):
            sent = request(body(user(text)), [*OFFER, KEY] if text != "three" else [KEY])
            for piece in pieces(sent, size):
                await client.send(piece)
            assert await client.head() == 200
            assert (await client.rest()).body == completion()
    assert [call.body for call in upstream.calls] == [body(user(text)) for text in ("one", "two", "three")]
    assert upstream.calls[0].header("http2-settings") is None
    assert upstream.calls[0].header("authorization") == KEY[1].encode()


async def test_nor_is_a_chunked_one_or_one_behind_another_request(observing, upstream):
    head = request(b"", [*OFFER, KEY, ("Transfer-Encoding", "chunked")], length=False)
    text = body(user("chunked"))
    async with observing.client() as client:
        await client.send(request(body(user("first")), [KEY]))
        await client.head()
        await client.rest()
        await client.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(text), text))
        assert await client.head() == 200
    assert [call.body for call in upstream.calls] == [body(user("first")), text]
