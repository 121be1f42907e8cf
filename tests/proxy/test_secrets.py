"""Keys are passed on and never written down: not in the store, not in what the proxy shows."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from ctxgc.core.journal import Bypass, Settlement
from ctxgc.proxy import sending
from ctxgc.store import open_store
from ctxgc.store.rows import blob_row
from tests.proxy.bodies import body, tooled, user
from tests.proxy.client import request
from tests.proxy.upstream import completion, event, silent, stream, whole

CANARY = "CANARY-7f3a"
HEADERS = [
    ("Authorization", f"Bearer {CANARY}-1"), ("X-Api-Key", f"{CANARY}-2"), ("Api-Key", f"{CANARY}-3"),
    ("X-Goog-Api-Key", f"{CANARY}-4"), ("Proxy-Authorization", f"Basic {CANARY}-5"), ("Cookie", f"session={CANARY}-6"),
    ("X-Unknown-Token", f"{CANARY}-7"), ("OpenAI-Organization", f"{CANARY}-8"), ("x-ctxgc-session", f"{CANARY}-9"),
    ("x-litellm-trace-id", f"{CANARY}-10"), ("User-Agent", f"agent/{CANARY}-11"),
]  # fmt: skip
TARGET = f"/v1/chat/completions?key={CANARY}-12"


def found(folder: Path) -> list[str]:
    """Where the canary stands: in the files as they are, or in anything that is stored in them."""
    files = subprocess.run(["grep", "-rl", CANARY, folder], capture_output=True, text=True).stdout.splitlines()
    store = open_store(f"sqlite:///{folder / 'audit.db'}", read_only=True)
    try:
        digests = [blob_row(raw).digest for raw in store.rows().select("blob", 0, 1 << 32)]
        assert digests
        files += ["a blob" for digest in digests if CANARY.encode() in store.blob(digest)]
        files += [
            stored.kind
            for row in store.sessions()
            for stored in store.entries(row.key)
            if CANARY.encode() in stored.body
        ]
    finally:
        store.close()
    return files


ANSWERS = {
    "an answer": whole(completion()),
    "a key refused": whole(f'{{"error":{{"message":"Incorrect API key {CANARY}-1"}}}}'.encode(), 401),
    "a server error": whole(f"Traceback: {CANARY}-2".encode(), 500, [("X-Debug", f"{CANARY}-3")]),
    "headers": whole(headers=[("Set-Cookie", f"a={CANARY}"), ("X-Key", CANARY), ("Content-Type", "application/json")]),
    "a redirect": whole(b"", 302, [("Location", f"https://x/?key={CANARY}")]),
    "a stream that breaks": stream(event("x"), ending=False),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_no_key_is_stored(start, upstream, tmp_path, name):
    upstream.answers(ANSWERS[name])
    async with start(policies=({"name": "truncate", "budget": 64},)) as running:
        for text in (body(user()), tooled(), b"{", b""):
            await running.ask(request(text, HEADERS, target=TARGET))
        await running.ask(request(b"{}", HEADERS, target=f"/v1/embeddings?key={CANARY}"))
        await running.store.until(Bypass, 2)
        await running.store.until(Settlement, 4)
        assert not found(tmp_path), "while it runs, with its write-ahead log"
        for target in ("/metrics", "/ctxgc/sessions"):
            assert CANARY.encode() not in (await running.ask(request(method="GET", target=target))).body
    assert not found(tmp_path)
    passed = dict(upstream.calls[0].headers)
    assert passed[b"authorization"] == f"Bearer {CANARY}-1".encode()
    assert passed[b"x-api-key"] == f"{CANARY}-2".encode()


async def test_no_key_is_stored_when_the_client_leaves(start, upstream, tmp_path):
    upstream.answers(silent())
    async with start() as running:
        async with running.client() as client:
            await client.send(request(body(user()), HEADERS, target=TARGET))
            await upstream.next()
        await running.store.until(Settlement)
    assert not found(tmp_path)


async def test_the_check_finds_a_body_that_is_stored(start, upstream, tmp_path):
    async with start() as running:
        await running.chat(body(user(CANARY)))
    assert found(tmp_path)


async def test_the_check_finds_headers_that_are_stored(start, upstream, tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "stored", lambda headers: {name.decode(): value.decode() for name, value in headers})
    upstream.answers(ANSWERS["headers"])
    async with start() as running:
        await running.chat(body(user()))
    assert found(tmp_path)


async def test_the_check_finds_an_error_that_is_stored(start, upstream, tmp_path):
    upstream.answers(whole(f"key {CANARY}".encode(), 200))
    async with start() as running:
        await running.chat(body(user()))
    assert "a blob" in found(tmp_path)


async def test_faults_do_not_show_keys(start, upstream, monkeypatch, capfd, caplog):
    def fault(*args: object) -> None:
        raise ValueError(f"what was given is {CANARY}")

    caplog.set_level("DEBUG")
    monkeypatch.setattr("ctxgc.session.Sessions.finding", fault)
    monkeypatch.setattr("ctxgc.proxy.upstream.Upstream.url", fault)
    async with start() as running:
        for target in (TARGET, "/v1/models?key=" + CANARY):
            async with running.client() as client:
                await client.send(request(body(user()), HEADERS, target=target))
                assert await client.head() == 500
                assert CANARY.encode() not in (await client.rest()).body
        await asyncio.sleep(0)
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
