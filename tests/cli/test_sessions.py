"""Listing sessions."""

import json

import pytest

COMMANDS = [
    ("sessions",),
    ("recall", "a" * 16),
    ("audit", "verify"),
    ("audit", "show", "aa"),
    ("audit", "export", "bundle"),
    ("profile", "--session", "a"),
]


def test_each_session_is_a_line_with_its_tokens_now(run, url):
    ran = run("sessions", "--store", url)
    assert ran.code == 0
    lines = ran.text.splitlines()
    assert lines[2].split()[0] == "aa" * 6
    assert lines[3].split()[0] == "ab" * 6
    assert "gpt-5" in lines[2]
    assert "\x1b" not in ran.text


def test_json_has_what_the_table_has(run, url):
    document = json.loads(run("sessions", "--store", url, "--json").out)
    assert document["schema"] == "ctxgc.sessions/1"
    first, second = document["sessions"]
    assert (first["id"], first["calls"], second["calls"]) == ("aa" * 32, 2, 2)
    assert first["sent"] < first["received"] / 2
    assert second["sent"] == second["received"]
    assert first["first"].endswith("Z")


def test_the_store_is_taken_from_the_configuration(run, url, monkeypatch):
    monkeypatch.setenv("CTXGC_STORE", url)
    assert "gpt-5" in run("sessions").text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_that_is_not_there_is_one_line_and_is_not_made(run, tmp_path, command):
    ran = run(*command, "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert (ran.code, ran.out) == (4, b"")
    assert ran.err.startswith("ctxgc: there is no store at")
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("url", ["audit.db", "postgres://user:secret@host/db", "sqlite://"])
def test_a_url_that_names_no_store_is_one_line_without_secrets(run, url):
    ran = run("sessions", "--store", url)
    assert ran.code == 4
    assert ran.err.count("\n") == 1
    assert "secret" not in ran.err


def test_a_file_that_is_no_store_is_one_line(run, tmp_path):
    (tmp_path / "x.db").write_text("hello")
    ran = run("sessions", "--store", "sqlite:///x.db")
    assert ran.code == 4
    assert "not a ctxgc store" in ran.err


def test_a_bad_configuration_is_exit_code_3(run, tmp_path):
    (tmp_path / "ctxgc.toml").write_text("stor = 'x'\n")
    ran = run("sessions")
    assert ran.code == 3
    assert "did you mean store" in ran.err
