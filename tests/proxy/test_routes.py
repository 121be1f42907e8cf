"""Where requests go: other paths through, ctxgc's own answered here, and nowhere but to the one upstream."""

from __future__ import annotations

import json

import pytest

from ctxgc.core.journal import Allocation
from tests.proxy.bodies import body, user
from tests.proxy.client import KEY, request
from tests.proxy.harness import proxy
from tests.proxy.upstream import Upstream, completion, pieces, stream, whole

MULTIPART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\x00\xff\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("method", "target", "sent"),
    [
        ("GET", "/v1/models", b""),
        ("GET", "/v1/models/gpt-5?x=1", b""),
        ("POST", "/v1/embeddings", b'{"input": "a" }'),
        ("POST", "/v1/messages/count_tokens", b"{}"),
        ("POST", "/v1/completions", b""),
        ("PUT", "/v1/things/1", b"new"),
        ("PATCH", "/v1/things/1", b"\x00"),
        ("DELETE", "/v1/responses/resp_1", b""),
        ("DELETE", "/v1/threads/1", b'{"why": 1}'),
        ("OPTIONS", "/v1/chat/completions", b""),
        ("GET", "/v1/chat/completions", b""),
        ("POST", "/v1/files", MULTIPART),
        ("GET", "/v1/metrics", b""),
        ("GET", "/v1/healthz", b""),
        ("GET", "/v1/a%2Fb%2f..%2f/%C3%A9;x=1", b""),
        ("GET", "/v1/search", b'{"a":"body"}'),
    ],
)
async def test_other_paths_are_passed_through(observing, upstream, method, target, sent):
    upstream.answers(whole(b"\x00theirs", 207, [("Content-Type", "x/y"), ("Content-Encoding", "br")]))
    answer = await observing.ask(request(sent, [KEY, ("Accept-Encoding", "br")], method=method, target=target))
    (call,) = upstream.calls
    assert (call.method, call.target, call.body) == (method, target, sent)
    assert call.header("accept-encoding") == b"br"
    assert (answer.status, answer.body, answer.header("content-encoding")) == (207, b"\x00theirs", "br")
    assert not observing.store.written


@pytest.mark.parametrize("target", ["/", "/v1/models", "/v1/chat/completions"])
async def test_head_is_passed_through(observing, upstream, target):
    async with observing.client() as client:
        for _ in range(2):  # the connection is in order afterwards
            await client.send(request(method="HEAD", target=target))
            assert await client.head() == 200
            assert dict(client.headers)["content-length"] == str(len(completion()))
    assert [call.method for call in upstream.calls] == ["HEAD", "HEAD"]


@pytest.mark.parametrize("status", [204, 304])
async def test_answers_without_a_body_are_passed_through(observing, upstream, status):
    async def answer(call):
        await call.write(b"HTTP/1.1 %d x\r\nETag: abc\r\n\r\n" % status)

    upstream.answers(answer)
    got = await observing.ask(request(method="GET", target="/v1/files/1"))
    assert (got.status, got.body, got.header("etag")) == (status, b"", "abc")


async def test_streams_of_other_paths_are_passed_through(observing, upstream):
    said = b"data: \xc3\xa9\n\n" * 50
    upstream.answers(stream(*pieces(said, 7)))
    assert (await observing.ask(request(b"{}", target="/v1/responses"))).body == said


@pytest.mark.parametrize(
    ("base", "target", "arrives"),
    [
        ("/v1", "/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions", "/v1/chat/completions"),
        ("/v1", "/chat/completions", "/v1/chat/completions"),
        ("", "/v1/chat/completions", "/v1/chat/completions"),
        ("/", "/chat/completions", "/chat/completions"),
        ("/openai/deployments/a%20b", "/v1/chat/completions", "/openai/deployments/a%20b/chat/completions"),
        ("/v1", "/v1beta/chat/completions", "/v1/v1beta/chat/completions"),
    ],
)
async def test_the_bases_path_takes_the_place_of_v1(upstream, tmp_path, base, target, arrives):
    async with proxy(upstream.base.removesuffix("/v1") + base, tmp_path / "audit.db") as running:
        await running.ask(request(body(user()), [KEY], target=target))
        assert upstream.calls[0].target == arrives
        assert running.store.of(Allocation)


# Whose Host, and which destination


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8787", "[::1]:8787", "[::1]"])
async def test_our_own_names_are_answered_to(observing, host):
    assert (await observing.ask(request(method="GET", target="/healthz", host=host))).status == 200


@pytest.mark.parametrize("target", ["/v1/chat/completions", "/v1/models", "/healthz", "/metrics", "/ctxgc/sessions"])
@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "evil@localhost", "", "127.0.0.1.", "10.0.0.1:8787"]
)
async def test_any_other_host_is_refused(observing, upstream, host, target):
    answer = await observing.ask(request(body(user()), [KEY], host=host, target=target))
    assert (answer.status, answer.error["code"]) == (421, "unknown_host")
    assert not upstream.calls


async def test_a_request_without_a_host_is_refused(observing):
    answer = await observing.ask(b"GET /metrics HTTP/1.0\r\n\r\n")
    assert answer.status == 421


async def test_allowed_hosts_are_answered_to(start):
    async with start(allowed_hosts=("Proxy.Example", "fe80::1")) as running:
        for host in ("proxy.example:80", "PROXY.example", "[fe80::1]:8787"):
            assert (await running.ask(request(method="GET", target="/healthz", host=host))).status == 200


async def hears_nothing(canary: Upstream, running, data: bytes) -> None:
    """Whatever becomes of the request, it does not go to ``canary``."""
    async with running.client() as client:
        await client.send(data)
        await client.head()
        assert client.status != 200 or (await client.rest()).body == b"from the upstream"
    assert canary.connections == 0


TARGETS = [
    "http://127.0.0.1:{port}/v1/models", "http://user:sk-x@127.0.0.1:{port}/v1/models", "//127.0.0.1:{port}/v1/models",
    "/v1/@127.0.0.1:{port}/x", "@127.0.0.1:{port}/x", "/%2f%2f127.0.0.1:{port}/x", "/%5c%5c127.0.0.1:{port}/x",
    "/v1/../../127.0.0.1:{port}", "/v1/models?url=http://127.0.0.1:{port}/", "/\\127.0.0.1:{port}/x",
    "/v1/models#@127.0.0.1:{port}/", ":{port}/v1/models", ":@127.0.0.1:{port}/", "http:127.0.0.1:{port}/",
    "///127.0.0.1:{port}/v1/chat/completions", "https://127.0.0.1:{port}", "*", ".127.0.0.1:{port}/",
    "?@127.0.0.1:{port}/", "",
]  # fmt: skip
HEADERS = [
    "Host", "X-Forwarded-Host", "X-Base-Url", "X-Api-Base", "X-Portkey-Custom-Host", "Forwarded", "X-Original-Url",
    "X-Upstream", "OpenAI-Base-Url", "Helicone-Target-Url", "X-Ctxgc-Upstream", "Destination", "Location", "Via",
]  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("offer", [[], [("Connection", "Upgrade"), ("Upgrade", "h2c")]], ids=["", "read by h11"])
async def test_no_target_leads_anywhere_else(observing, upstream, method, offer):
    upstream.answers(whole(b"from the upstream"))
    async with Upstream() as canary:
        for target in (target.format(port=canary.port) for target in TARGETS):
            sent = b"{}" if method == "POST" else b""
            await hears_nothing(canary, observing, request(sent, [KEY, *offer], method=method, target=target))
        await hears_nothing(canary, observing, request(method="CONNECT", target=f"127.0.0.1:{canary.port}"))


async def test_no_header_or_field_leads_anywhere_else(observing, upstream):
    upstream.answers(whole(b"from the upstream"))
    async with Upstream() as canary:
        for name in HEADERS:
            await hears_nothing(canary, observing, request(body(user()), [KEY, (name, canary.base)]))
        fields = dict.fromkeys(("api_base", "base_url", "custom_llm_provider", "proxy", "url"), canary.base)
        await hears_nothing(canary, observing, request(body(user(), **fields), [KEY]))


async def test_the_environments_proxies_are_not_used(observing, upstream, monkeypatch):
    async with Upstream() as canary:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        await observing.chat(body(user()))
        assert canary.connections == 0
    assert upstream.calls


async def test_the_canary_does_hear_what_comes_to_it(tmp_path):
    async with Upstream() as canary, proxy(canary.base, tmp_path / "audit.db") as running:
        with pytest.raises(AssertionError):
            await hears_nothing(canary, running, request(body(user()), [KEY]))


@pytest.mark.parametrize("target", ["/v1/responses", "/v1/chat/completions", "/", "/metrics"])
async def test_a_websocket_is_sent_back_to_http(observing, upstream, target):
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "WebSocket"), ("Sec-WebSocket-Version", "13"), KEY]
    answer = await observing.ask(request(method="GET", target=target, headers=upgrade))
    assert (answer.status, answer.header("upgrade")) == (426, "HTTP/1.1")
    assert not upstream.calls


# ctxgc's own paths


async def test_health(observing):
    answer = await observing.ask(request(method="GET", target="/healthz"))
    assert (answer.status, answer.body) == (200, b"ok\n")
    assert (await observing.ask(request(method="HEAD", target="/healthz"))).status == 200


async def test_metrics_tell_what_went_through(observing, upstream):
    await observing.chat(body(user()))
    answer = await observing.ask(request(method="GET", target="/metrics"))
    assert answer.header("content-type").startswith("text/plain")
    assert b"ctxgc_" in answer.body
    assert b"gpt-5" in answer.body


async def test_the_list_of_sessions_holds_no_content(observing):
    await observing.chat(body(user("a secret")), [KEY, ("x-ctxgc-session", "named-session")])
    answer = await observing.ask(request(method="GET", target="/ctxgc/sessions"))
    shown = json.loads(answer.body)
    assert shown["schema"] == "ctxgc.live/1"
    assert [(row["origin"], row["calls"]) for row in shown["sessions"]] == [("x-ctxgc-session", 1)]
    for word in (b"secret", b"sk-test", b"named"):
        assert word not in answer.body


@pytest.mark.parametrize("target", ["/ctxgc/else", "/ctxgc/../v1/models", "/ctxgc/%2e%2e/v1/models"])
async def test_own_paths_that_there_are_not_are_a_404(observing, upstream, target):
    assert (await observing.ask(request(method="GET", target=target))).status == 404
    assert not upstream.calls


@pytest.mark.parametrize("target", ["/metrics", "/healthz", "/ctxgc/sessions"])
async def test_own_paths_are_only_to_be_read(observing, upstream, target):
    assert (await observing.ask(request(b"{}", target=target))).status == 405
    assert not upstream.calls
