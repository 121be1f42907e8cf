"""``ctxgc proxy`` as a process: killed and started again, stopped in order, and refusing to start."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from pathlib import Path

import pytest

from ctxgc.core.journal import AnyEntry, Recovery, Settlement, decode
from ctxgc.core.state import fold
from ctxgc.session.originals import disagreements
from ctxgc.store import open_store
from ctxgc.wire.openai_chat import OpenAIChat
from tests.proxy.bodies import LISTING, body, calling, result, user
from tests.proxy.client import KEY, Client, Pairs, request
from tests.proxy.process import refused, running
from tests.proxy.upstream import DONE, EVENTS, HANG, Upstream, completion, event, finish, head, silent, whole

SESSION = [KEY, ("x-ctxgc-session", "one-session")]
FILE = "[[policies]]\nname = 'truncate'\nbudget = 64\n"


def turns() -> list[bytes]:
    """A conversation in which each request brings a long tool result."""
    messages, sent = [user()], []
    for number in range(4):
        messages += [calling(f"call_{number}"), result(f"call_{number}", f"{number} {LISTING}")]
        sent.append(body(*messages))
    return sent


def entries(path: Path) -> list[AnyEntry]:
    store = open_store(f"sqlite:///{path}", read_only=True)
    try:
        assert list(store.verify()) == []
        (row,) = store.sessions()
        found = [decode(stored.body) for stored in store.entries(row.key)]
        assert list(disagreements(found, store, OpenAIChat())) == []
        return found
    finally:
        store.close()


async def closed(port: int) -> None:
    """Nobody is let in any more."""
    try:
        while True:
            async with Client(port):
                pass
    except OSError:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ctxgc.toml").write_text(FILE)
    return tmp_path


async def converse(
    folder: Path,
    upstream: Upstream,
    store: str,
    *,
    killed_after: int = 0,
    headers: Pairs = SESSION,
    audit: str = "strict",
) -> list[bytes]:
    """What the upstream gets of a conversation if the proxy is killed in the call after so many (0: never)."""
    sent, texts = [], turns()
    flags = ("--upstream", upstream.base, "--store", f"sqlite:///{folder / store}", "--audit", audit)
    if killed_after:
        async with running(folder, *flags) as one:
            for text in texts[:killed_after]:
                assert (await one.chat(text, headers)).status == 200
                sent.append(upstream.calls[-1].body)
            upstream.answers(silent())
            async with Client(one.port) as client:
                before = len(upstream.calls)
                await client.send(request(texts[killed_after], headers))
                while len(upstream.calls) == before:
                    await upstream.next()
                one.process.kill()
                assert await one.ended() == -signal.SIGKILL
            upstream.calls.pop()
        upstream.answers(whole())
    async with running(folder, *flags) as two:
        for text in texts[killed_after:]:
            assert (await two.chat(text, headers)).status == 200
            sent.append(upstream.calls[-1].body)
        two.process.send_signal(signal.SIGTERM)
        assert await two.ended() == 0
    return sent


@pytest.mark.parametrize(
    ("headers", "audit"), [(SESSION, "strict"), ([KEY], "available")], ids=["by its id", "by its history"]
)
async def test_killed_in_a_call_and_started_again_it_sends_the_same_bytes(folder, upstream, headers, audit):
    open_store(f"sqlite:///{folder / 'a.db'}").close()  # two stores with one secret, so with the same handles
    shutil.copy(folder / "a.db", folder / "b.db")
    control = await converse(folder, upstream, "a.db", headers=headers, audit=audit)
    broken = await converse(folder, upstream, "b.db", killed_after=2, headers=headers, audit=audit)
    assert broken == control
    assert all(len(got) < len(text) / 5 for got, text in zip(control, turns(), strict=True)), "it was collected"
    found = entries(folder / "b.db")
    recoveries = len([entry for entry in found if isinstance(entry, Recovery)])
    assert recoveries == 1 or (audit == "available" and recoveries == 0), "strict had it on disk when it was killed"
    assert len([entry for entry in found if isinstance(entry, Settlement)]) == 4
    assert not fold(found).unsettled
    assert not [entry for entry in entries(folder / "a.db") if isinstance(entry, Recovery)]


async def test_with_another_store_the_same_conversation_is_sent_otherwise(folder, upstream):
    """What makes the comparison above mean something: handles come from the store."""
    one = await converse(folder, upstream, "a.db")
    other = await converse(folder, upstream, "c.db")
    assert one[0] != other[0]
    assert len(one[0]) == len(other[0])


async def test_told_to_stop_it_finishes_the_answer_and_exits_with_0(folder, upstream):
    go = asyncio.Event()

    async def answer(call):
        await call.write(head(200, EVENTS))
        await call.chunk(event("one"))
        await asyncio.wait_for(go.wait(), HANG)
        await call.chunk(event("two") + finish() + DONE)
        await call.chunk(b"")

    upstream.answers(answer)
    async with running(folder, "--upstream", upstream.base, "--store", f"sqlite:///{folder / 'a.db'}") as proxy:
        async with Client(proxy.port) as client:
            await client.send(request(body(user(), stream=True), SESSION))
            await client.head()
            assert await client.exactly(len(event("one"))) == event("one")
            proxy.process.send_signal(signal.SIGTERM)
            await closed(proxy.port)
            go.set()
            rest = await client.rest()
            assert (rest.body, rest.whole) == (event("two") + finish() + DONE, True)
        assert await proxy.ended() == 0
        assert proxy.process.stderr
        assert "Traceback" not in (await proxy.process.stderr.read()).decode()
    (settled,) = [entry for entry in entries(folder / "a.db") if isinstance(entry, Settlement)]
    assert settled.outcome == "ok"


async def test_ctrl_c_exits_with_130_and_nothing_but_its_two_lines(folder, upstream):
    async with running(folder, "--upstream", upstream.base) as proxy:
        assert (await proxy.chat(body(user()))).body == completion()
        proxy.process.send_signal(signal.SIGINT)
        assert await proxy.ended() == 130
        assert proxy.process.stderr
        assert proxy.process.stdout
        assert (await proxy.process.stderr.read()).decode().strip().startswith("metrics: ")
        assert await proxy.process.stdout.read() == b""
    assert (folder / "data" / "ctxgc" / "ctxgc.db").is_file(), "the store is where the user's data is"


async def test_a_port_in_use_is_one_line_and_exit_code_5(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, said = await refused(folder, "--port", port, "--upstream", "http://localhost/v1")
    assert code == 5
    assert said.splitlines() == [
        f"ctxgc: cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port"
    ]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--upstream", "api.openai.com/v1"], "api.openai.com/v1"),
        (["--upstream", "ftp://api.openai.com"], "not an http(s) URL"),
        (["--upstream", "https://api.openai.com/v1?key=1"], "no user, query or fragment"),
        (["--upstream", "https://:::/"], "not an http(s) URL"),
        ([], "--upstream"),
        (["--upstream", "http://x", "--audit", "sloppy"], "audit (from command line)"),
        (["--upstream", "http://x", "--port", "70000"], "port (from command line)"),
    ],
)
async def test_a_bad_setting_is_one_line_and_exit_code_3(tmp_path, flags, words):
    code, said = await refused(tmp_path, "--port", "0", *flags)
    assert code == 3
    assert said.startswith("ctxgc: ")
    assert words in said
    assert len(said.splitlines()) == 1


async def test_an_unknown_policy_is_one_line_and_exit_code_3(tmp_path):
    code, said = await refused(tmp_path, "--port", "0", "--upstream", "http://x", "--policy", "eeden")
    assert (code, said.splitlines()) == (3, ["ctxgc: unknown preset 'eeden': did you mean 'eden'?"])


async def test_a_store_that_is_none_is_one_line_and_exit_code_4(tmp_path):
    (tmp_path / "a.db").write_text("not a database, and long enough to be seen as one that is not" * 20)
    code, said = await refused(
        tmp_path, "--port", "0", "--upstream", "http://x", "--store", f"sqlite:///{tmp_path / 'a.db'}"
    )
    assert code == 4
    assert len(said.splitlines()) == 1
