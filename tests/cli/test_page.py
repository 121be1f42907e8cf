"""``ctxgc page`` and ``ctxgc demo --page``: processes that serve until they are stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctxgc.cli import _serving
from tests.proxy.process import ROOT, environment
from tests.proxy.upstream import HANG
from tests.web.pages import Visitor

ADDRESS = re.compile(r"page http://127\.0\.0\.1:(\d+)/ctxgc/#token=([\w-]{24})(?:&/session/([0-9a-f]{64})(/\w+)?)?$")


class Serving:
    """A command that serves the page: where, with which token, and on which session it opens."""

    def __init__(self, process: asyncio.subprocess.Process, found: re.Match[str]) -> None:
        self.process = process
        self.port, self.token, self.session, self.view = int(found[1]), found[2], found[3], found[4]

    @property
    def visitor(self) -> Visitor:
        return Visitor(self.port, self.token)

    async def stop(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(by)
        out, _ = await asyncio.wait_for(self.process.communicate(), HANG)
        assert self.process.returncode is not None
        return self.process.returncode, out.decode()


@contextlib.asynccontextmanager
async def serving(folder: Path, *arguments: str) -> AsyncIterator[Serving]:
    import sys

    pipe = asyncio.subprocess.PIPE
    code = "from ctxgc.cli import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, *arguments), cwd=folder, env=environment(folder, {}), stdout=pipe, stderr=pipe
    )
    assert process.stderr
    try:
        while True:
            line = (await asyncio.wait_for(process.stderr.readline(), HANG)).decode()
            assert line, "it ended"
            if found := ADDRESS.match(line.strip()):
                break
        yield Serving(process, found)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


def stores(folder: Path) -> list[Path]:
    """The folders of demos' stores."""
    return list(folder.glob("ctxgc-demo-*"))


@pytest.fixture
def stored(tmp_path: Path, filled: Path) -> str:
    shutil.copy(filled, tmp_path / "audit.db")
    return f"sqlite:///{tmp_path / 'audit.db'}"


async def test_it_serves_a_store_and_only_reads(tmp_path: Path, stored: str) -> None:
    before = (tmp_path / "audit.db").read_bytes()
    async with serving(tmp_path, "page", "--store", stored) as page:
        lines = (await page.visitor.document("sessions"))["sessions"]
        assert {line["id"] for line in lines} == {"aa" * 32, "ab" * 32}
        summary = await page.visitor.document(f"sessions/{'aa' * 32}")
        assert (summary["live"], set(summary["actions"].values())) == (False, {False})
        answer = await page.visitor.act(f"sessions/{'aa' * 32}/pin", {"cell": 1, "pinned": True})
        assert (answer.status, answer.error["message"].split(":")[0]) == (409, "this page only reads")
        assert (await Visitor(page.port, "").get("api/sessions")).status == 401
        assert (await page.visitor.get("", host="evil.example")).status == 421
        assert await page.stop() == (130, "")
    assert (tmp_path / "audit.db").read_bytes() == before


async def test_it_opens_on_a_session(tmp_path: Path, stored: str) -> None:
    async with serving(tmp_path, "page", "aaaa", "--store", stored) as page:
        assert page.session == "aa" * 32
        assert (await page.stop(signal.SIGTERM))[0] == 0


@pytest.mark.parametrize("allowed", [True, False])
async def test_it_may_be_called_by_the_names_that_are_allowed(tmp_path: Path, stored: str, allowed: bool) -> None:
    (tmp_path / "ctxgc.toml").write_text('allowed_hosts = ["box.example"]\n' if allowed else "")
    async with serving(tmp_path, "page", "--store", stored) as page:
        assert (await page.visitor.get("", host="box.example")).status == (200 if allowed else 421)
        assert (await page.visitor.get("", host="evil.example")).status == 421


def test_a_session_that_is_not_there_is_named(run, url) -> None:
    assert run("page", "ffff", "--store", url).code == 4


def test_without_a_store_it_says_so(run, tmp_path) -> None:
    ended = run("page", "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert (ended.code, ended.out) == (4, b"")
    assert "there is no store" in ended.err


def test_it_is_opened_in_the_browser_where_that_is_asked_for(monkeypatch, capsys) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    _serving.say_page("http://x/#token=t")
    assert opened == []
    _serving.say_page("http://x/#token=t", opens=True)
    assert opened == ["http://x/#token=t"]
    assert capsys.readouterr().err == "page http://x/#token=t\n" * 2


async def test_the_demo_leads_to_what_leaks_in_its_session(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with serving(tmp_path, "demo", "--page") as page:
        assert stores(tmp_path)
        assert page.view == "/suspects"
        lines = (await page.visitor.document("sessions"))["sessions"]
        assert page.session in {line["id"] for line in lines}
        assert len(lines) == 2, "the one without ctxgc, and the same through it"
        code, printed = await page.stop()
    assert code == 130
    assert "--page" not in printed
    assert not stores(tmp_path), "its store has gone with it"


def test_the_demo_says_how_to_get_there(run) -> None:
    hints = json.loads(run("demo", "--json").text)["next"]
    assert hints[0].startswith("ctxgc demo --page")


def test_a_page_and_json_do_not_go_together(run) -> None:
    assert run("demo", "--page", "--json").code == 2


def test_it_says_where_it_is(run) -> None:
    said = run("page", "--help").text
    assert "--open" in said
    assert "token" in said
    assert ROOT.exists()
