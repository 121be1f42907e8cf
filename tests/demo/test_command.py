"""``ctxgc demo``, on the short script."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxgc.cli import cli
from tests.demo.scripts import short_session


@pytest.fixture(autouse=True)
def _short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.demo.scenario.coding_session", short_session)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["demo", *arguments], catch_exceptions=False)


def test_it_prints_tags_bill_and_where_to_look_next(tmp_path: Path) -> None:
    result = run()
    assert result.exit_code == 0
    for words in ("tool_result:read_file", "(request framing)", "USD", "no findings", "5 of 5 bodies", "ctxgc proxy"):
        assert words in result.stdout
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_json_has_these_keys() -> None:
    document = json.loads(run("--json").stdout)
    assert list(document) == ["schema", "model", "policy", "exact", "tags", "billed", "edits", "store", "next"]
    assert document["schema"] == "ctxgc.demo/1"
    assert list(document["tags"][0]) == ["tag", "without", "with"]
    assert list(document["billed"]) == ["without", "with"]
    assert list(document["billed"]["with"]) == ["requests", "input", "uncached", "cached", "output", "usd"]
    assert list(document["edits"][0]) == ["action", "results", "before", "after"]
    assert list(document["store"]) == ["url", "kept", "session", "entries", "findings", "rebuilt", "bypassed"]


def test_the_json_adds_up() -> None:
    document = json.loads(run("--json").stdout)
    for side in ("without", "with"):
        billed = document["billed"][side]
        assert sum(row[side] for row in document["tags"]) == billed["input"] == billed["uncached"] + billed["cached"]


def test_with_keep_the_commands_it_names_work(tmp_path: Path) -> None:
    lines = run("--keep").stdout.partition("Where to look next:\n")[2].splitlines()
    commands = [shlex.split(line)[1:] for line in lines]
    assert [words[0] for words in commands] == ["profile", "audit", "recall"]
    for words in commands:
        result = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert result.exit_code == 0
        assert result.stdout
    assert [found.name[:11] for found in tmp_path.iterdir()] == ["ctxgc-demo-"]


def test_a_model_without_a_price_says_so() -> None:
    result = run("--model", "nobodys-model")
    assert "No price is known for nobodys-model" in result.stdout
    assert "token counts are estimates" in result.stdout
    assert "USD  " not in result.stdout


def test_the_settings_of_the_user_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXGC_STORE", f"sqlite:///{tmp_path / 'mine.db'}")
    monkeypatch.setenv("CTXGC_POLICY", "observe")
    document = json.loads(run("--json").stdout)
    assert document["policy"] == "eden"
    assert list(tmp_path.iterdir()) == []
