"""The audit: clean stores say so, and damage is named."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.build import body
from tests.store.helpers import tamper

from .conftest import SECOND, TOOLS


def test_a_clean_store_is_one_line_and_exit_code_0(run, url):
    ran = run("audit", "verify", "--store", url)
    assert (ran.code, ran.err, ran.text.count("\n")) == (0, "", 1)
    assert ran.text.startswith("ok: everything agrees")
    assert "2 sessions" in ran.text


def test_the_tip_that_was_printed_can_be_held_against_the_store(run, url):
    tip = json.loads(run("audit", "verify", "--store", url, "--json").out)["tip"]
    assert run("audit", "verify", "--store", url, "--held", tip).code == 0
    number, _, digest = tip.partition(":")
    ran = run("audit", "verify", "--store", url, "--held", f"{number}:{'0' * len(digest)}")
    assert ran.code == 1
    assert "tip" in ran.text


@pytest.mark.parametrize("tip", ["", "7", "x:00", "1:zz", "1:00"])
def test_a_tip_that_is_none_is_a_usage_error(run, url, tip):
    assert run("audit", "verify", "--store", url, "--held", tip).code == 2


DAMAGE = {
    "a content": "UPDATE blob SET data = zeroblob(length(data)) WHERE id = (SELECT blob FROM node WHERE node = 1)",
    "an entry": "UPDATE entry SET body = zeroblob(length(body)) WHERE id = 2",
    "a handle": "UPDATE stub SET cell = cell + 1",
    "a lost entry": "DELETE FROM entry WHERE id = 3",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_named_and_is_exit_code_1(run, url, tmp_path, what):
    tamper(tmp_path / "audit.db", DAMAGE[what])
    ran = run("audit", "verify", "--store", url)
    assert (ran.code, ran.err) == (1, "")
    *findings, last = ran.text.splitlines()
    assert findings
    assert last.startswith(f"{len(findings)} findings")
    report = json.loads(run("audit", "verify", "--store", url, "--json").out)
    assert (report["schema"], report["ok"]) == ("ctxgc.audit.verify/1", False)
    assert len(report["findings"]) == len(findings)
    assert set(report["findings"][0]) == {"kind", "session", "seq", "ref", "detail", "ledger"}


def test_damage_of_a_message_is_also_found_by_rebuilding(run, url, tmp_path):
    tamper(tmp_path / "audit.db", DAMAGE["a content"])
    assert "\nrebuild: session aa" in run("audit", "verify", "--store", url).text


def test_show_lists_every_entry_in_plain_words(run, url):
    lines = run("audit", "show", "aa", "--store", url).text.splitlines()
    assert lines[0] == f"session {'aa' * 32}"
    kinds = [line.split()[2] for line in lines[1:]]
    call = ["allocation", "collection", "settlement", "marking"]
    assert kinds == ["open", *call, *call[:3]]
    assert "call 1: 4 new messages" in lines[2]
    assert "dedup" in lines[7]
    assert lines[4].endswith("call 1: ok, status 200; 140 tokens in (40 cached), 7 out")


def test_show_can_pick_a_call_or_an_entry(run, url):
    second = json.loads(run("audit", "show", "aa", "--call", 2, "--store", url, "--json").out)
    assert [entry["seq"] for entry in second["entries"]] == [5, 6, 7]
    full = run("audit", "show", "aa", "--seq", 0, "--store", url).text
    assert json.loads(full.partition("\n")[2])["kind"] == "open"


@pytest.mark.parametrize("option", [("--call", 3), ("--seq", 99), ("--body", "sent", 3)])
def test_what_a_session_does_not_have_is_one_line(run, url, option):
    ran = run("audit", "show", "aa", *option, "--store", url)
    assert ran.code == 4
    assert ran.err.count("\n") == 1


def test_a_body_is_printed_as_it_came_and_as_it_left(run, url):
    came = run("audit", "show", "aa", "--body", "received", 2, "--store", url).out
    left = run("audit", "show", "aa", "--body", "sent", 2, "--store", url).out
    assert came == body(SECOND, TOOLS, "gpt-5")
    assert len(left) < len(came)
    document = json.loads(run("audit", "show", "aa", "--call", 2, "--store", url, "--json").out)
    booked = document["entries"][0]["entry"]["sent"]

    assert base64.b64decode(booked) == hashlib.sha256(left).digest()


@pytest.mark.parametrize(("prefix", "said"), [("a", "2 sessions begin with"), ("f", "no session"), ("", "no session")])
def test_a_beginning_must_name_one_session(run, url, prefix, said):
    ran = run("audit", "show", prefix, "--store", url)
    assert ran.code == 4
    assert said in ran.err


def test_an_export_verifies_as_it_says(run, url, tmp_path):
    ran = run("audit", "export", tmp_path / "bundle", "--store", url)
    assert ran.code == 0
    command = ran.text.splitlines()[-1].split()
    assert command[0] == "python"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, *command[1:]], check=False, capture_output=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(Path(__file__).parents[2]) not in ran.text  # what is said holds on any machine


def test_an_export_does_not_go_into_a_folder_in_use(run, url, tmp_path):
    ran = run("audit", "export", tmp_path, "--store", url)
    assert ran.code == 4
    assert ran.err.count("\n") == 1
