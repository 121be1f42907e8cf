"""``ctxgc demo``, on the short script."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner, Result

from ctxgc.cli import cli
from ctxgc.cli._demo_text import POLICIES, TRIGGERS
from ctxgc.core.pacer import Trigger
from ctxgc.policies import DEFAULT, presets
from tests.demo.scripts import idle_session, short_session


@pytest.fixture(autouse=True)
def _short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.demo.scenario.coding_session", short_session)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of which something is collected that had been sent before."""
    monkeypatch.setattr("ctxgc.demo.scenario.coding_session", idle_session)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["demo", *arguments], catch_exceptions=False)


def test_it_prints_tags_bill_and_where_to_look_next(tmp_path: Path) -> None:
    result = run()
    assert result.exit_code == 0
    for words in ("tool_result:read_file", "(request framing)", "USD", "no findings", "5 of 5 bodies", "ctxgc proxy"):
        assert words in result.stdout
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_it_says_what_was_collected_and_what_was_checked() -> None:
    lines = run().stdout.splitlines()
    assert ["dedup", "dedup", "no", "2"] in [line.split()[:4] for line in lines]
    (prefix,) = (line for line in lines if line.startswith("Cached prefix: "))
    assert "of 4 requests" in prefix
    assert "CHANGED MORE" not in prefix
    assert "Recall: 3 of 3 collected results were read back, byte for byte." in lines


@pytest.mark.usefixtures("idle")
def test_a_collection_of_what_had_been_sent_has_a_line() -> None:
    document, lines = json.loads(run("--json").stdout), run().stdout.splitlines()
    (made,) = document["collections"]
    title = lines.index("Requests in which what had been sent before was collected")
    assert lines[title + 2].split()[:3] == [str(made["turn"]), made["generation"], str(made["cells"])]
    assert lines[title + 3] == ""
    assert any("1 changed only what was collected." in line for line in lines)


@pytest.mark.usefixtures("idle")
def test_a_prefix_that_changed_otherwise_is_said_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxgc.demo.report.may_change", lambda *_: {})
    assert "1 CHANGED MORE" in run().stdout


def test_every_policy_and_trigger_is_explained() -> None:
    assert set(presets()["generational"]) - {"reasoning"} <= POLICIES.keys()  # the script has none
    assert set(get_args(Trigger)) - {""} == TRIGGERS.keys()


@pytest.mark.usefixtures("idle")
def test_the_json_has_these_keys() -> None:
    document = json.loads(run("--json").stdout)
    assert list(document) == [
        *("schema", "model", "policy", "exact", "tags", "billed", "edits", "collections", "prefixes", "store", "next"),
    ]
    assert document["schema"] == "ctxgc.demo/1"
    assert list(document["tags"][0]) == ["tag", "without", "with"]
    assert list(document["billed"]) == ["without", "with"]
    assert list(document["billed"]["with"]) == ["requests", "input", "uncached", "cached", "output", "usd"]
    assert list(document["edits"][0]) == ["resident", "policy", "action", "results", "before", "after"]
    assert list(document["collections"][0]) == [
        *("turn", "generation", "trigger", "cells", "before", "after", "context_before", "context_after"),
        *("rewritten", "rent", "price", "usd"),
    ]
    assert list(document["prefixes"]) == ["followed", "whole", "collected", "broken"]
    assert list(document["store"]) == [
        *("url", "kept", "session", "entries", "findings", "rebuilt", "bypassed", "edited", "recalled", "handle"),
    ]


def test_the_json_adds_up() -> None:
    document = json.loads(run("--json").stdout)
    for side in ("without", "with"):
        billed = document["billed"][side]
        assert sum(row[side] for row in document["tags"]) == billed["input"] == billed["uncached"] + billed["cached"]


def test_with_keep_the_commands_it_names_work(tmp_path: Path) -> None:
    lines = run("--keep").stdout.partition("Where to look next:\n")[2].splitlines()
    commands = [shlex.split(line)[1:] for line in lines]
    assert [words[0] for words in commands] == ["page", "profile", "gc-log", "audit", "recall"]
    for words in commands[1:]:  # the page is served until it is stopped
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
    assert document["policy"] == DEFAULT
    assert document["edits"]
    assert list(tmp_path.iterdir()) == []
