"""Who reads for the page: a process that knows no key, is begun anew where it dies, and ends with the proxy."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctxgc.core.pacer import Pacer
from ctxgc.store import open_store
from ctxgc.web import desk as desks
from ctxgc.web.app import Page
from ctxgc.web.child import received
from ctxgc.web.desk import InChild, environment
from ctxgc.web.frames import Answer, Asked, Terms, encoded, frame, unframe
from ctxgc.web.serving import listen, page_server, serving
from ctxgc.web.token import token_of
from tests.proxy.process import running as process
from tests.proxy.upstream import HANG, Upstream
from tests.web.pages import Visitor

LIST = Asked(path="sessions")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store on disk, with nothing in it."""
    found = f"sqlite:///{tmp_path / 'audit.db'}"
    open_store(found).close()
    return found


@pytest.fixture
async def desk(url: str) -> AsyncIterator[InChild]:
    made = InChild(Terms(url=url))
    yield made
    await made.close()


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop.add_reader(handle, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), HANG)
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def children(pid: int) -> list[int]:
    """The processes that a process has begun."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(one) for path in found for one in path.read_text().split()]


def about(pid: int, what: str) -> bytes:
    return Path(f"/proc/{pid}/{what}").read_bytes()


# Asking


async def test_it_is_begun_with_the_first_question(desk: InChild) -> None:
    assert desk.pid is None
    answer = await desk.ask(LIST)
    assert (answer.status, json.loads(answer.body)["sessions"]) == (200, [])
    assert desk.pid is not None


async def test_it_can_be_begun_before_anybody_asks_and_only_once(desk: InChild) -> None:
    desk.begin()
    desk.begin()
    assert desk._beginning is not None
    await desk._beginning
    pid = desk.pid
    assert pid is not None
    desk.begin()
    assert (await desk.ask(LIST)).status == 200
    assert desk.pid == pid
    assert children(os.getpid()).count(pid) == 1


@pytest.mark.parametrize("steps", [0, 1, 3])
async def test_one_that_is_being_begun_ends_with_the_desk(desk: InChild, steps: int) -> None:
    before = set(children(os.getpid()))
    desk.begin()
    for _ in range(steps):
        await asyncio.sleep(0)
    await desk.close()
    assert desk._beginning is not None
    await desk._beginning
    assert set(children(os.getpid())) <= before
    assert desk.pid is None


class Opened:
    """A desk that says whether it was told to begin."""

    begun = 0

    def begin(self) -> None:
        self.begun += 1

    async def ask(self, asked: Asked) -> Answer:
        return Answer(200, b"{}")

    async def close(self) -> None:
        pass


async def test_whoever_opens_the_page_has_it_begun_and_nobody_else() -> None:
    desk = Opened()
    with listen("127.0.0.1", 0) as listener:
        visitor = Visitor(listener.getsockname()[1], "")
        async with serving(page_server(Page(desk, "token"), "127.0.0.1", ()), listener):
            for path in ("static/app.js", "api/sessions", "api/events", "nothing"):
                await visitor.get(path)
            assert desk.begun == 0
            assert (await visitor.get("")).status == 200
            assert desk.begun == 1


def test_a_frame_may_come_in_pieces_and_a_broken_one_is_none() -> None:
    class Pieces(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(1)

    whole = frame(LIST)
    assert unframe(received(Pieces(whole)) or b"", Asked) == LIST
    for size in range(len(whole)):
        assert received(Pieces(whole[:size])) is None


def test_it_loads_nothing_that_only_runs_sessions_or_draws() -> None:
    names = ("asyncio", "pydantic", "rich", "click", "litellm", "aiohttp", "starlette", "ctxgc.session.session",
             "ctxgc.session.cycle", "ctxgc.proxy", "ctxgc.cli")  # fmt: skip
    code = "import sys, ctxgc.web.child, ctxgc.web.reader, ctxgc.store.sqlite\n"
    code += f"print([name for name in {names!r} if name in sys.modules])"
    argv = (sys.executable, "-P", "-c", code)
    assert subprocess.check_output(argv, env=environment(os.environ), timeout=HANG) == b"[]\n"
    argv = (sys.executable, "-P", "-c", "import ctxgc.session.session, " + code.removeprefix("import "))
    assert b"ctxgc.session.cycle" in subprocess.check_output(argv, env=environment(os.environ), timeout=HANG)


async def test_answers_come_to_whom_they_are_for(desk: InChild) -> None:
    paths = [f"nothing/{number}" if number % 2 else "sessions" for number in range(20)]
    answers = await asyncio.gather(*(desk.ask(Asked(path=path)) for path in paths))
    assert [answer.status for answer in answers] == [404 if number % 2 else 200 for number in range(20)]


async def test_one_who_leaves_does_not_get_in_the_way_of_the_next(desk: InChild) -> None:
    leaving = asyncio.ensure_future(desk.ask(LIST))
    await asyncio.sleep(0)
    leaving.cancel()
    answers = await asyncio.gather(desk.ask(Asked(path="nothing")), desk.ask(LIST))
    assert [answer.status for answer in answers] == [404, 200]


async def test_too_many_at_once_are_refused(desk: InChild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "MOST", 3)
    await desk.ask(LIST)
    answers = await asyncio.gather(*(desk.ask(LIST) for _ in range(9)))
    assert sorted(answer.status for answer in answers) == [200] * 3 + [503] * 6


async def test_a_store_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    desk = InChild(Terms(url=f"sqlite:///{tmp_path / 'none.db'}"))
    answer = await desk.ask(LIST)
    assert answer.status == 503
    assert "there is no store" in json.loads(answer.body)["error"]["message"]
    await desk.close()


async def test_a_store_that_comes_later_is_read_then(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'late.db'}"
    desk = InChild(Terms(url=url))
    assert (await desk.ask(LIST)).status == 503
    open_store(url).close()
    assert (await desk.ask(LIST)).status == 200
    await desk.close()


async def test_what_no_pipe_can_carry_is_refused_and_begins_nothing(desk: InChild) -> None:
    unsayable = InChild(Terms(url="sqlite:////tmp/\udcff.db"))
    assert (await unsayable.ask(LIST)).status == 400
    assert unsayable.pid is None
    await unsayable.close()
    assert (await desk.ask(Asked(path="sessions/\udcff"))).status == 400
    assert (await desk.ask(LIST)).status == 200


async def test_one_that_says_what_cannot_be_read_is_begun_anew(url: str, tmp_path: Path) -> None:
    babbling = tmp_path / "python"
    babbling.write_text("#!/bin/sh\nhead -c 8 >/dev/null\nprintf '\\000\\000\\000\\002\\301\\301'\ncat >/dev/null\n")
    babbling.chmod(0o755)
    desk = InChild(Terms(url=url), str(babbling))
    assert (await desk.ask(LIST)).status == 503
    desk._python = sys.executable
    assert (await desk.ask(LIST)).status == 200
    await desk.close()


# Its end


async def test_one_that_was_killed_is_begun_anew(desk: InChild) -> None:
    await desk.ask(LIST)
    before = desk.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    await gone(before)
    assert (await desk.ask(LIST)).status == 200
    assert desk.pid not in (None, before)


async def test_one_that_is_killed_while_it_is_asked_is_asked_again(desk: InChild) -> None:
    await desk.ask(LIST)
    assert desk.pid is not None
    os.kill(desk.pid, signal.SIGSTOP)
    asking = [asyncio.ensure_future(desk.ask(LIST)) for _ in range(3)]
    await asyncio.sleep(0)
    os.kill(desk.pid, signal.SIGKILL)
    assert [(await one).status for one in asking] == [200] * 3


async def test_one_that_does_not_answer_is_ended(desk: InChild, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.ask(LIST)
    stopped = desk.pid
    assert stopped is not None
    monkeypatch.setattr(desks, "PATIENCE", 0.05)
    os.kill(stopped, signal.SIGSTOP)
    assert (await desk.ask(LIST)).status == 503
    await gone(stopped)
    monkeypatch.setattr(desks, "PATIENCE", HANG)
    assert (await desk.ask(LIST)).status == 200


async def test_one_that_cannot_be_begun_is_an_answer_too(url: str) -> None:
    for python in ("/nowhere/python", "/bin/false"):
        desk = InChild(Terms(url=url), python)
        assert (await desk.ask(LIST)).status == 503
        await desk.close()


async def test_closing_ends_it(desk: InChild) -> None:
    await desk.ask(LIST)
    pid = desk.pid
    assert pid is not None
    await desk.close()
    await gone(pid)
    assert (await desk.ask(LIST)).status == 503
    await desk.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_it_ends_with_the_proxy_however_that_ends_and_knows_no_key(tmp_path: Path) -> None:
    secret = "sk-secret-of-the-environment"
    names = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN"), secret)
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with (
        Upstream() as upstream,
        process(tmp_path, "--upstream", upstream.base, "--store", url, **names) as proxy,
    ):
        store = open_store(url, read_only=True)
        visitor = Visitor(proxy.port, token_of(store.secret))
        store.close()
        assert children(proxy.process.pid) == [], "nobody looks, so nothing runs"
        assert (await visitor.document("sessions"))["sessions"] == []
        (child,) = children(proxy.process.pid)
        assert secret.encode() in about(proxy.process.pid, "environ")
        assert secret.encode() not in about(child, "environ") + about(child, "cmdline")
        proxy.process.send_signal(signal.SIGKILL)
        await gone(child)


def test_an_environment_has_what_python_needs_and_no_more() -> None:
    ours = {"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "x", "CTXGC_UPSTREAM": "https://k:s@h", "PYTHONPATH": "p"}
    found = environment(ours)
    assert set(found) == {"PATH", "LC_ALL", "PYTHONPATH", "PYTHONIOENCODING"}
    assert found["PYTHONPATH"].endswith(f"{os.pathsep}p")


# Frames


def test_what_goes_through_a_pipe_comes_out_as_it_went_in() -> None:
    terms = Terms(url="sqlite:///x", ledger="main", pacer=Pacer(quality=5))
    asked = Asked(path="sessions", query={"turn": "1"}, live=("ab",), acts=True, gzip=True)
    answer = Answer(200, b"\x00\xff", True)
    for message in (terms, asked, answer):
        data = frame(message)
        assert int.from_bytes(data[:4], "big") == len(data) - 4
        assert unframe(data[4:], type(message)) == message


def test_json_carries_any_text() -> None:
    assert json.loads(encoded({"a": "\ud800 <b> \u2028 \x00"})) == {"a": "\ud800 <b> \u2028 \x00"}
