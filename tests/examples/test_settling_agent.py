"""The example as it is run: its JSON, its exit code, and a real model's way through litellm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxgc.examples import settling_agent
from ctxgc.examples.chat import Message
from ctxgc.examples.scripted import UNKNOWN, reply
from ctxgc.examples.settling_agent import main
from ctxgc.ledger import open_ledger
from tests.chat_server import ChatServer, chat_server

ROOT = Path(__file__).parents[2]
SMALL = ("--tasks", "3", "--picks", "50", "--tampers", "5")
CHECKS = ["bounded", "resumable", "auditable", "tampering", "superseding"]


class Scripted(list[Any]):
    """What a server is told to reply: whatever the scripted model says to the request that came last."""

    def __init__(self, server: ChatServer) -> None:
        super().__init__([None])
        self.server = server

    def pop(self, at: Any = 0) -> Message:
        body = self.server.bodies[-1]
        return reply(body["messages"], body.get("tools", ()))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ctxgc.examples.settling_agent", *arguments]
    named = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=named, capture_output=True, text=True, timeout=300, check=False)


def test_it_runs_and_its_json_has_these_keys(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    ended = run(*SMALL, "--json", "--store", url)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    assert list(found) == ["schema", "model", "seed", "tasks", "budget", "store", "ledger", "ok", "checks"]
    assert (found["schema"], found["tasks"], found["ok"]) == ("ctxgc.settling/1", [3, 30, 300], True)
    checks = found["checks"]
    assert list(checks) == CHECKS
    assert all(check["ok"] for check in checks.values())
    keys = ["tasks", "budget", "largest", "beginning", "full", "slope", "carried"]
    assert [list(one) for one in checks["bounded"]["runs"]] == [keys] * 3
    assert list(checks["resumable"]["runs"][0]) == ["asked", "right", "unaided", "tokens"]
    assert list(checks["auditable"]) == ["ok", "picks", "disagreeing"]
    assert list(checks["tampering"]) == ["ok", "tampers", "void", "named", "untouched", "missed"]
    assert list(checks["superseding"]["runs"][0]) == ["overturned", "kept", "restored", "wrong", "tried", "returned"]
    with open_ledger(url, found["ledger"]) as ledger:
        assert len(ledger.books.periods) == 3


def test_a_model_is_asked_through_litellm(server: ChatServer, tmp_path: Path) -> None:
    server.replies = Scripted(server)
    environment = {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "sk-hidden-4711", "HOME": str(tmp_path)}
    ended = run(*SMALL, "--model", "openai/x", "--json", **environment)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["model"], found["tasks"], found["ok"]) == ("openai/x", [3], True)
    assert {body["model"] for body in server.bodies} == {"x"}
    assert max(len(body.get("tools", ())) for body in server.bodies) == 4


def test_a_model_that_cannot_be_asked_is_one_line(server: ChatServer, tmp_path: Path) -> None:
    server.replies = [(401, {"message": "wrong key sk-hidden-4711", "type": "auth", "code": "invalid_api_key"})] * 9
    environment = {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "sk-hidden-4711", "HOME": str(tmp_path)}
    ended = run(*SMALL, "--model", "openai/x", "--json", **environment)
    assert (ended.returncode, ended.stdout) == (1, "")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("settling_agent: the model gave no answer: AuthenticationError")
    assert "sk-hidden-4711" not in ended.stderr


def test_for_people_each_check_is_a_line_with_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling_agent, "TIMES", (1, 5))
    result = CliRunner().invoke(main, SMALL)
    assert result.exit_code == 0
    numbered = [line.split() for line in result.stdout.splitlines() if line[:1].isdigit()]
    assert [(words[1], words[2]) for words in numbered] == [(name.capitalize(), "holds") for name in CHECKS]


def test_control_a_check_that_does_not_hold_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def shy(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        """Does its work, and answers no question."""
        asked = next(message["content"] for message in messages if message["role"] == "user")
        return reply(messages, tools) if asked.startswith("Write") else {"role": "assistant", "content": UNKNOWN}

    monkeypatch.setattr(settling_agent, "reply", shy)
    monkeypatch.setattr(settling_agent, "TIMES", (1,))
    result = CliRunner().invoke(main, [*SMALL, "--json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["ok"]
    assert [name for name in CHECKS if not found["checks"][name]["ok"]] == ["resumable"]


def test_control_a_sub_task_that_is_not_done_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling_agent, "reply", lambda messages, tools: {"role": "assistant", "content": "Done."})
    result = CliRunner().invoke(main, SMALL)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "settling_agent: settings 0 written: the host has no fact about settings.json\n"


@pytest.mark.parametrize("wrong", [("--tasks", "2"), ("--budget", "100"), ("--tampers", "0"), ("--picks", "0")])
def test_what_would_show_nothing_is_refused(wrong: tuple[str, str]) -> None:
    assert CliRunner().invoke(main, wrong).exit_code == 2
