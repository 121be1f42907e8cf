"""``ctxgc top``: the page's figures in a terminal, in a pipe and as JSON."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys

import pytest
from rich.cells import cell_len

from ctxgc.cli import top
from ctxgc.core.journal import decode
from ctxgc.core.state import fold
from ctxgc.store import open_store
from ctxgc.tui.detail import detail
from ctxgc.tui.text import plain
from ctxgc.tui.watching import Watcher
from ctxgc.web.frames import Terms
from tests.lab.collected import bodies, collecting_kit
from tests.lab.collected import run as run_session

from .terminals import argv_of, environment

PATIENCE = 120.0
"""Seconds after which a terminal in which nothing happens is given up."""
KEY, OTHER = b"\xcc" * 32, b"\xdd" * 32


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store of two sessions, and its URL."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'top.db'}"
    store = open_store(url)
    run_session(collecting_kit(store, clock=lambda: 1.69e9), bodies(2), OTHER)
    run_session(collecting_kit(store), bodies(16), KEY)
    store.close()
    return url


def test_the_figures_are_those_of_the_journal(run, made):
    ran = run("top", "--json", "--store", made)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert (found["schema"], found["wrong"]) == ("ctxgc.top/1", None)
    assert [one["id"] for one in found["sessions"]] == [KEY.hex(), OTHER.hex()]
    assert {one["live"] for one in (*found["sessions"], found["session"])} == {None}  # only the proxy knows
    store = open_store(made, read_only=True)
    state = fold(decode(stored.body) for stored in store.entries(KEY))
    store.close()
    head = max(state.heads)
    toolset = state.heads[head].toolset
    first = found["sessions"][0]
    assert (
        first["received"] == state.tokens(head, toolset, sent=False) == found["session"]["turns"]["received_total"][-1]
    )
    assert first["sent"] == state.tokens(head, toolset, sent=True) == found["session"]["turns"]["sent_total"][-1]
    assert found["session"]["id"] == KEY.hex()


def test_once_prints_what_a_pipe_gets(run, made):
    ran = run("top", "--store", made)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == run("top", "--once", "--store", made).out
    assert ran.text.startswith("Sessions, by last\n")
    assert f"> {'cc' * 6}" in ran.text
    assert f"> {'dd' * 6}" in run("top", "--once", "--session", "dd", "--store", made).text


@pytest.mark.parametrize(("argv", "code"), [(("--session", "ff"), 4), (("--sort", "x"), 2), (("--nope",), 2)])
def test_what_cannot_be_is_one_line(run, made, argv, code):
    ran = run("top", *argv, "--store", made)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, b"", 1)


def test_a_store_without_sessions_says_so(run, tmp_path):
    open_store(f"sqlite:///{tmp_path / 'empty.db'}").close()
    assert run("top", "--store", f"sqlite:///{tmp_path / 'empty.db'}").text == "no sessions yet\n"


def test_without_the_extra_one_line_names_it(run, made, monkeypatch):
    monkeypatch.setattr(top, "_terminal", lambda: True)
    monkeypatch.delitem(sys.modules, "ctxgc.tui.app", raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)
    ran = run("top", "--store", made)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, b"", 1)
    assert "pip install 'ctxgc[tui]'" in ran.err
    assert run("top", "--once", "--store", made).code == 0


def test_a_watcher_reads_only_what_is_new_and_says_what_is_wrong(tmp_path):
    url = f"sqlite:///{tmp_path / 'grows.db'}"
    store = open_store(url)
    kit, texts = collecting_kit(store), bodies(6)
    run_session(kit, texts[:3], KEY)
    watcher = Watcher(store, Terms(url=url))
    first = watcher.look()
    assert watcher.look().session is first.session  # nothing is drawn up anew where nothing came
    run_session(kit, texts[:2], OTHER)
    second = watcher.look(KEY.hex())
    assert (len(second.sessions), second.session) == (2, first.session)
    store.close()
    broken = watcher.look()
    assert broken.error
    assert len(broken.sessions) == 2


def needs_tmux() -> str:
    found = shutil.which("tmux")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no tmux: apt-get install tmux")
        pytest.skip("no tmux: apt-get install tmux")
    return found


class Tmux:
    """A terminal of tmux's own that runs one command. A pipe tells when something was written to it."""

    def __init__(self, folder, columns: int, *argv: str) -> None:
        self._base = [needs_tmux(), "-S", str(folder / "tmux"), "-f", "/dev/null"]
        os.mkfifo(folder / "written")
        self._written = os.open(folder / "written", os.O_RDONLY | os.O_NONBLOCK)
        env = [f"{name}={value}" for name, value in environment().items()]
        self._do("new-session", "-d", "-x", str(columns), "-y", "40", "env", *env, *argv_of(argv))
        self._do("pipe-pane", "-O", f"exec cat > {folder / 'written'}")

    def _do(self, *argv: str) -> str:
        return subprocess.run(
            [*self._base, *argv], capture_output=True, text=True, check=False, timeout=PATIENCE
        ).stdout

    def _wait(self) -> bool:
        """Until something was written, or the terminal has gone: whether it has not."""
        ready, _, _ = select.select([self._written], [], [], PATIENCE)
        assert ready, f"nothing more came: {self._do('capture-pane', '-p')}"
        return bool(os.read(self._written, 1 << 16))

    def screen_with(self, *texts: str) -> str:
        """The screen, as soon as all of this stands in it."""
        while True:
            screen = self._do("capture-pane", "-p")
            if all(text in screen for text in texts):
                return screen
            assert self._wait(), f"it ended without {texts}: {screen}"

    def press(self, key: str) -> None:
        self._do("send-keys", key)

    def ended(self) -> None:
        """Wait until the command has."""
        while self._wait():
            pass

    def close(self) -> None:
        self._do("kill-server")
        os.close(self._written)


@pytest.mark.parametrize("columns", [80, 160])
def test_in_a_real_terminal_it_shows_what_a_snapshot_says_and_quits(made, tmp_path, columns, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns - 2))
    once = run("top", "--once", "--store", made).text.splitlines()
    tmux = Tmux(tmp_path, columns, "top", "--store", made)
    try:
        screen = tmux.screen_with("Session cccccccccccc", "cc" * 6, "dd" * 6, "Quit")
        assert max(map(cell_len, screen.splitlines())) <= columns
        lines = [line.strip() for line in screen.splitlines()]
        begin = next(at for at, line in enumerate(once) if line.startswith("Session "))
        assert once[begin] in lines
        assert once[begin + 1].strip() in lines
        tmux.press("Down")
        tmux.screen_with("Session dddddddddddd")
        tmux.press("?")
        tmux.screen_with("another session")
        tmux.press("q")
        tmux.ended()
    finally:
        tmux.close()


def test_the_page_and_top_need_no_textual_to_be_imported():
    code = "import ctxgc.cli.top, ctxgc.tui.snapshot, ctxgc.tui.watching, sys; print('textual' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout == "False\n"


def test_detail_takes_a_real_session(made):
    store = open_store(made, read_only=True)
    look = Watcher(store, Terms(url=made)).snapshot()
    store.close()
    lines = [plain(one) for one in detail(look.session, 160)]
    assert any("major (rent), 8 cells" in line for line in lines)


@pytest.mark.parametrize("command", ["top", "statusline", "profile", "gc-log", "diff", "recall", "explain"])
def test_help_teaches_with_examples_and_says_the_exit_codes(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert "Examples:" in ran.text
    assert "Exit codes: 0" in ran.text
