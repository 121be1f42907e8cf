"""The page as browsers meet it, through a real proxy on a real socket: who is let in, and what they are told."""

from __future__ import annotations

import gzip
import json
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from ctxgc.config import Config
from ctxgc.errors import BindError
from ctxgc.store import open_store
from ctxgc.web import app, events
from ctxgc.web.app import HEADERS
from ctxgc.web.desk import InThread
from ctxgc.web.token import bears, link, token_of
from tests.proxy.bodies import user
from tests.proxy.client import Answer, Client, Pairs, ask, request
from tests.proxy.harness import Running
from tests.proxy.process import running as process
from tests.proxy.test_process import closed
from tests.web.pages import JSON, Listener, Visitor, bearing, talked

GETS = ["sessions", "sessions/{}", "sessions/{}/cells", "sessions/{}/cells/0", "sessions/{}/diff?turn=1"]
GETS += ["sessions/{}/books", "sessions/{}/books/reconcile", "events", "nonsense"]
POSTS: dict[str, Any] = {"pin": {"cell": 0, "pinned": True}, "recall": {"handle": "a" * 16}, "milestone": {"name": "x"}}


@pytest.fixture
async def visitor(observing: Running) -> Visitor:
    return Visitor.of(observing)


# The page and its files


async def test_the_page_is_given_to_anybody_and_holds_no_token(observing: Running, visitor: Visitor) -> None:
    answer = await Visitor(observing.port, "").get("")
    assert answer.status == 200
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert visitor.token.encode() not in answer.body


async def test_every_file_that_the_page_names_is_there_with_its_type(visitor: Visitor) -> None:
    html = (await visitor.get("")).body.decode()
    names = re.findall(r'(?:src|href)="(static/[^"]+)"', html)
    assert len(names) > 3
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
    for name in names:
        answer = await visitor.get(name)
        assert (answer.status, answer.header("content-type")) == (200, kinds[name.rpartition(".")[2]])


async def test_a_file_that_is_known_is_not_sent_again(visitor: Visitor) -> None:
    first = await visitor.get("static/app.js")
    tag = first.header("etag")
    assert tag
    assert first.header("cache-control") == "no-cache"
    again = await visitor.get("static/app.js", [("If-None-Match", tag)])
    assert (again.status, again.body) == (304, b"")
    assert (await visitor.get("static/app.js", [("If-None-Match", '"other"')])).status == 200


@pytest.mark.parametrize(
    "path",
    [
        *("static/../app.py", "static/%2e%2e/app.py", "static/..%2fapp.py", "static/%00", "static/", "static/views"),
        *(
            "static//etc/passwd",
            "static/..\\app.py",
            "static/app.js/",
            "static/%c0%ae%c0%ae/app.py",
            "../../etc/passwd",
        ),
        *("app.py", "index.html", "api", "static/" + "a" * 4000),
    ],
)
async def test_nothing_else_is_served_from_the_disk(visitor: Visitor, path: str) -> None:
    assert (await visitor.get(path)).status in (400, 401, 404)


async def test_the_address_without_its_slash_leads_to_the_page(observing: Running) -> None:
    answer = await ask(observing.port, request(method="GET", target="/ctxgc"))
    assert (answer.status, answer.header("location")) == (307, "http://localhost/ctxgc/")


@pytest.mark.parametrize("path", ["", "static/app.js", "static/nothing.js", "api/sessions", "api/nonsense"])
@pytest.mark.parametrize("known", [True, False])
async def test_every_answer_has_the_policy(visitor: Visitor, path: str, known: bool) -> None:
    answer = await Visitor(visitor.port, visitor.token if known else "").get(path)
    assert {name: answer.header(name) for name in HEADERS} == HEADERS
    assert answer.header("access-control-allow-origin") is None


def test_the_policy_allows_what_is_ours_and_nothing_else() -> None:
    parts = dict(part.strip().split(" ", 1) for part in app.POLICY.split(";"))
    assert parts["default-src"] == "'none'"
    assert all(parts[name] == "'none'" for name in ("base-uri", "form-action", "frame-ancestors"))
    assert all(parts[name] == "'self'" for name in ("script-src", "style-src", "connect-src"))
    assert "unsafe" not in app.POLICY


# The token


async def statuses(visitor: Visitor, session: str, headers: Pairs = ()) -> set[int]:
    """How all that the token protects answers."""
    gets = [await visitor.get(f"api/{path.format(session)}", headers) for path in GETS]
    posts = [await visitor.act(f"sessions/{session}/{name}", POSTS[name], [JSON, *headers]) for name in POSTS]
    return {answer.status for answer in (*gets, *posts)}


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer x", "Basic {}", "{}", "Bearer {}x", "Bearer é", "Bearer x{}", "bearer  "],
)
async def test_without_the_token_there_is_nothing_to_be_seen(observing: Running, header: str) -> None:
    session = await talked(observing)
    token = token_of(observing.store.inner.secret)
    given = [("Authorization", header.format(token))] if header else []
    assert await statuses(Visitor(observing.port, ""), session, given) == {401}


async def test_a_refusal_tells_nothing_of_what_is_stored(observing: Running) -> None:
    session = await talked(observing)
    answers = [await Visitor(observing.port, "").get(f"api/{path.format(session)}") for path in GETS]
    assert len({answer.body for answer in answers}) == 1
    assert answers[0].error["type"] == "ctxgc_unauthorized"


async def test_a_token_in_the_query_does_not_count(observing: Running, visitor: Visitor) -> None:
    bare = Visitor(observing.port, "")
    assert (await bare.get(f"api/sessions?token={visitor.token}")).status == 401
    assert (await bare.get("api/sessions", [("Cookie", f"token={visitor.token}")])).status == 401


async def test_the_token_of_another_store_does_not_count(observing: Running) -> None:
    other = Visitor(observing.port, token_of(b"o" * 32))
    assert (await other.get("api/sessions")).status == 401


def test_a_token_stays_the_same_and_cannot_be_guessed() -> None:
    assert token_of(b"a" * 32) == token_of(b"a" * 32) != token_of(b"b" * 32)
    assert re.fullmatch(r"[\w-]{24}", token_of(b"a" * 32))
    assert bears("bearer t", "t")
    assert not bears("", "")


def test_a_link_has_the_token_where_it_is_not_sent() -> None:
    assert link("http://h:1", "T") == "http://h:1/ctxgc/#token=T"
    assert link("http://h:1", "T", "ab", "suspects") == "http://h:1/ctxgc/#token=T&/session/ab/suspects"


# Who asks


@pytest.mark.parametrize("path", ["", "static/app.js", "api/sessions"])
async def test_another_host_is_not_answered(visitor: Visitor, path: str) -> None:
    assert (await visitor.get(path, host="evil.example")).status == 421


@pytest.mark.parametrize("name", POSTS)
@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (403, [JSON, ("Origin", "https://evil.example")]),
        (403, [JSON, ("Origin", "null")]),
        (403, [JSON, ("Origin", "http://localhost.evil.example")]),
        (415, [("Content-Type", "text/plain")]),
        (415, [("Content-Type", "application/x-www-form-urlencoded")]),
        (415, []),
    ],
)
async def test_a_page_of_another_origin_can_do_nothing(
    observing: Running, visitor: Visitor, name: str, status: int, headers: Pairs
) -> None:
    session = await talked(observing)
    assert (await visitor.act(f"sessions/{session}/{name}", POSTS[name], headers)).status == status


async def test_the_page_itself_can(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    answer = await visitor.act(f"sessions/{session}/pin", POSTS["pin"], [JSON, ("Origin", "http://localhost")])
    assert answer.status in (200, 409)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"\xff", b"{}", b'{"cell":1}', b'{"cell":-1,"pinned":true}', b'{"cell":1,"pinned":1}',
        b'{"cell":99999999999,"pinned":true}', b'{"cell":1,"pinned":true,"more":1}', b'{"cell":1.5,"pinned":true}',
    ],
)  # fmt: skip
async def test_what_is_no_request_is_refused(observing: Running, visitor: Visitor, body: bytes) -> None:
    session = await talked(observing)
    answer = await visitor.act(f"sessions/{session}/pin", body)
    assert (answer.status, answer.error["type"]) == (400, "ctxgc_refused")


async def test_a_body_that_is_too_large_is_not_read(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    answer = await visitor.act(f"sessions/{session}/milestone", b'{"name":"' + b"x" * 20_000 + b'"}')
    assert answer.status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_no_other_method_does_anything(observing: Running, visitor: Visitor, method: str) -> None:
    session = await talked(observing)
    for path in ("", "static/app.js", "api/sessions", f"api/sessions/{session}/pin"):
        answer = await visitor.get(path, method=method)
        assert answer.status == 405
        assert answer.header("access-control-allow-methods") is None


# Documents


async def test_a_session_is_shown_as_the_store_has_it(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing)
    (line,) = (await visitor.document("sessions"))["sessions"]
    assert (line["id"], line["live"], line["requests"]) == (session, True, 1)
    summary = await visitor.document(f"sessions/{session}")
    assert summary["schema"] == "ctxgc.page.session/1"
    assert summary["actions"] == {"pin": True, "recall": True, "milestone": True}
    cells = await visitor.document(f"sessions/{session}/cells")
    assert cells["columns"]["id"] == list(range(len(cells["columns"]["id"])))
    one = await visitor.document(f"sessions/{session}/cells/1")
    assert one["schema"] == "ctxgc.page.cell/1"
    assert (await visitor.document(f"sessions/{session}/diff?turn=1"))["turn"] == 1
    assert (await visitor.document(f"sessions/{session}/books"))["facts"] == []
    assert (await visitor.document(f"sessions/{session}/books/reconcile"))["ok"] is True


async def test_a_ledger_is_no_session(observing: Running, visitor: Visitor) -> None:
    from ctxgc.ledger import open_ledger

    session = await talked(observing)
    ledger = open_ledger(observing.store.inner, f"session {session}")
    voucher = ledger.vault.store(ref="run", content="12 passed")
    ledger.post("12 pass", [ledger.verify(voucher, "12 passed")])
    assert [one["id"] for one in (await visitor.document("sessions"))["sessions"]] == [session]
    other = next(row.key.hex() for row in observing.store.inner.sessions() if row.key.hex() != session)
    assert (await visitor.get(f"api/sessions/{other}")).status == 404
    books = await visitor.document(f"sessions/{session}/books")
    assert [fact["statement"] for fact in books["facts"]] == ["12 pass"]
    trace = await visitor.document(f"sessions/{session}/books/trace/F1")
    assert trace["sources"][0]["agree"] is True


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (404, "sessions/{}/cells/9999"),
        (400, "sessions/{}/cells/x"),
        (400, "sessions/{}/cells/-1"),
        (400, "sessions/{}/cells/1e3"),
        (400, "sessions/{}/cells/%D9%A3"),
        (404, "sessions/{}/diff?turn=99"),
        (404, "sessions/{}/diff?turn=1&against=99"),
        (400, "sessions/{}/diff"),
        (400, "sessions/{}/diff?turn=1&against=x"),
        (404, "sessions/{}/books/trace/F9"),
        (404, "sessions/{}/books/more"),
        (404, "sessions/{}/"),
        (404, "sessions/abc"),
        (404, "sessions/" + "0" * 64),
        (404, "sessions/../sessions"),
        (404, "sessions/%00"),
        (404, "grown"),
        (404, ""),
    ],
)
async def test_what_is_not_there_is_said_in_one_line(
    observing: Running, visitor: Visitor, status: int, path: str
) -> None:
    session = await talked(observing)
    answer = await visitor.get(f"api/{path.format(session)}")
    assert answer.status == status
    assert "\n" not in answer.error["message"]
    assert len(answer.error["message"]) < 200


async def test_a_large_document_is_compressed_for_who_takes_that(observing: Running, visitor: Visitor) -> None:
    session = await talked(observing, *(user(f"{number}") for number in range(1_500)))
    plain = await visitor.get(f"api/sessions/{session}/cells")
    packed = await visitor.get(f"api/sessions/{session}/cells", [("Accept-Encoding", "gzip, br")])
    assert plain.header("content-encoding") is None
    assert packed.header("content-encoding") == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    small = await visitor.get("api/sessions/nothing", [("Accept-Encoding", "gzip")])
    assert small.header("content-encoding") is None


async def test_documents_are_kept_by_nobody(observing: Running, visitor: Visitor) -> None:
    assert (await visitor.get("api/sessions")).header("cache-control") == "no-store"


# Events


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAUSE", 0.02)


@pytest.mark.usefixtures("quick")
async def test_who_listens_hears_when_a_session_grows(start: Any) -> None:
    async with start() as running, running.client() as client:
        visitor = Visitor.of(running)
        session = await talked(running)
        listener = await Listener.of(visitor, client)
        entries = running.store.inner.sessions()[0].entries
        await talked(running, user("more"))
        await listener.until(session, entries + 1)


@pytest.mark.usefixtures("quick")
async def test_several_hear_the_same_and_one_that_leaves_is_forgotten(start: Any) -> None:
    async with start() as running, running.client() as one:
        visitor = Visitor.of(running)
        session = await talked(running)
        first = await Listener.of(visitor, one)
        async with running.client() as other:
            second = await Listener.of(visitor, other)
            await talked(running, user("more"))
            await first.until(session, 3)
            await second.until(session, 3)
        await talked(running, user("and more"))
        await first.until(session, 5)


async def test_an_open_stream_does_not_keep_the_server_from_ending(start: Any) -> None:
    async with start() as running:
        client = running.client()
        await client.__aenter__()
        listener = await Listener.of(Visitor.of(running), client)
    await listener.end()
    client.leave()


async def test_nor_the_process(tmp_path: Path, upstream: Any) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with process(tmp_path, "--upstream", upstream.base, "--store", url) as proxy:
        token = _token(url)
        async with Client(proxy.port) as client:
            listener = await Listener.of(Visitor(proxy.port, token), client)
            proxy.process.send_signal(signal.SIGTERM)
            await closed(proxy.port)
            await listener.end()
        assert await proxy.ended() == 0


# Where it is served


async def test_turned_off_it_says_so(start: Any) -> None:
    async with start(page=False) as running:
        visitor = Visitor.of(running)
        for path in ("", "static/app.js", "api/sessions"):
            answer = await visitor.get(path)
            assert answer.status == 404
            assert "page = true" in answer.error["message"]
        assert (await ask(running.port, request(method="GET", target="/ctxgc/sessions"))).status == 200


async def test_at_a_port_of_its_own_it_is_there_and_nowhere_else(start: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with start(page_port=port) as running:
        session = await talked(running)
        visitor = Visitor.of(running)
        assert (await visitor.get("")).status == 404
        apart = Visitor(port, visitor.token)
        assert (await apart.get("")).status == 200
        assert (await apart.document(f"sessions/{session}"))["live"] is True
        assert (await apart.get("", host="evil.example")).status == 421
        assert (await Visitor(port, "").get("api/sessions")).status == 401
        for target in ("/v1/models", "/metrics", "/ctxgc/sessions"):
            assert (await ask(port, request(method="GET", target=target))).status == 404
        root = await ask(port, request(method="GET", target="/"))
        assert root.header("location") == "/ctxgc/"


async def test_a_port_that_is_taken_is_named_by_its_setting(start: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(BindError, match="another with page_port"):
        async with start(page_port=taken.getsockname()[1]):
            pass


async def test_the_page_changes_nothing_of_what_the_proxy_had(observing: Running, upstream: Any) -> None:
    answer: Answer = await ask(observing.port, request(method="GET", target="/ctxgcx"))
    assert answer.status == 200
    assert upstream.calls[-1].target.endswith("/ctxgcx")


# A store in memory


async def test_a_store_in_memory_is_shown_by_a_thread(upstream: Any) -> None:
    from ctxgc.proxy import server
    from ctxgc.web.frames import Asked, Terms

    store = open_store("sqlite://")
    try:
        desk = InThread(store, Terms(url="sqlite://"))
        answer = await desk.ask(Asked(path="sessions"))
        assert json.loads(answer.body)["sessions"] == []
        await desk.close()
        assert (await desk.ask(Asked(path="sessions"))).status == 503
    finally:
        store.close()
    addresses: list[str] = []
    listener = server.listen("127.0.0.1", 0)
    with listener:
        config = Config(upstream=upstream.base, store="sqlite://", policy="observe")
        async with server.running(config, (), listener, addresses.append):
            (address,) = addresses
            token = address.partition("#token=")[2]
            data = request(method="GET", target="/ctxgc/api/sessions", headers=[bearing(token)])
            answered = await ask(listener.getsockname()[1], data)
            assert json.loads(answered.body)["sessions"] == []


def _token(url: str) -> str:
    store = open_store(url, read_only=True)
    try:
        return token_of(store.secret)
    finally:
        store.close()
