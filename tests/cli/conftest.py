"""The command line in process, away from the configuration of whoever runs the tests, and a store to look into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxgc.assemble import make_kit
from ctxgc.cli import main
from ctxgc.core.journal import Settlement, Usage
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import open_store
from tests.lab.build import agent, body, call, result, system, tool, user


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


Run = Callable[..., Ran]
LONG = "".join(f"line {number} of a long file\r\n" for number in range(1, 4001)) + "äöü \u2028 \x0c end\n"
TOOLS = [tool("read"), tool("never")]
FIRST = [system(), user("read it"), call("read", "1", path="a"), result("1", LONG)]
SECOND = [*FIRST, call("read", "2", path="a"), result("2", LONG)]


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    for folder in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(folder, str(tmp_path / folder))
    for name in ("CTXGC_STORE", "CTXGC_PORT", "TESTS_NODE_MODULES", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch, capfdbinary) -> Run:
    def go(*argv: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["ctxgc", *map(str, argv)])
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        said = capfdbinary.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err.decode())

    return go


def child(code: str, *argv: str) -> subprocess.Popen[bytes]:
    """A process of its own that runs some code with the package on its path."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command, pipe = [sys.executable, "-c", code, *argv], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env)


@pytest.fixture(scope="session")
def filled(tmp_path_factory) -> Path:
    """A store with two sessions: one in which a long result was cut and pointed to, and a short one."""
    path = tmp_path_factory.mktemp("store") / "audit.db"
    store = open_store(f"sqlite:///{path}")
    kit = make_kit(store, preset("eden"))
    usage = Usage(uncached=100, cached=40, output=7)
    short = [[user("hi")], [user("hi"), agent("a"), user("b")]]
    for key, bodies in ((b"\xaa" * 32, [FIRST, SECOND]), (b"\xab" * 32, short)):
        session = Session(key, b"s" * 32, "prefix", kit)
        for messages in bodies:
            prepared = session.prepare(body(messages, TOOLS, "gpt-5"))
            session.settle(Settlement(at=1.7e9, call=prepared.call, outcome="ok", status=200, usage=usage)).result()
    store.close()
    return path


@pytest.fixture
def url(tmp_path, filled) -> str:
    """A copy of that store."""
    shutil.copy(filled, tmp_path / "audit.db")
    return f"sqlite:///{tmp_path / 'audit.db'}"


@pytest.fixture
def handles(url) -> list[str]:
    """The handles in the stubs of the store's first session."""
    store = open_store(url, read_only=True)
    from ctxgc.core.journal import decode
    from ctxgc.core.state import fold

    state = fold(decode(entry.body) for entry in store.entries(b"\xaa" * 32))
    store.close()
    return list(state.by_handle)
