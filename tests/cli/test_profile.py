"""``ctxgc profile``, as people and as programs read it."""

import csv
import io
import json
import re

import pytest

from tests.lab.build import agent, call, result, system, tool, user

from .conftest import SECOND, child

HISTORY = [system(), user("do it"), call("read", "1", path="a"), result("1", "text " * 300), agent("done")]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.json"
    tools = [tool("read"), tool("never")]
    path.write_text(json.dumps({"id": "my-run", "model": "gpt-5", "tools": tools, "messages": HISTORY}))
    return path


def document(run, *argv):
    ran = run("profile", *argv, "--json")
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_a_profile_says_what_where_and_how_much(run, path):
    ran = run("profile", path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.text.startswith("my-run: gpt-5, policy observe\n2 requests sent")
    assert "tool_result:read" in ran.text
    assert 'read({"path":"a"})' in ran.text
    assert "never" in ran.text
    assert "\x1b" not in ran.text


def test_json_keys_are_the_documented_ones(run, path):
    found = document(run, path)
    assert found["schema"] == "ctxgc.profile/1"
    (one,) = found["profiles"]
    assert list(one) == [
        "id",
        "source",
        "policy",
        "models",
        "model_assumed",
        "exact",
        "total",
        "tags",
        "sites",
        "turns",
        "schemas",
        "suspects",
        "cost",
        "reported",
        "bypassed",
    ]
    assert list(one["total"]) == [
        "name",
        "cells",
        "tokens",
        "resent",
        "token_turns",
        "sent",
        "sent_turns",
        "resident",
        "retained",
        "pointers",
    ]
    assert one["exact"] is True
    assert one["total"]["token_turns"] == sum(turn["received_total"] for turn in one["turns"])
    assert one["total"]["token_turns"] == sum(row["token_turns"] for row in one["sites"])
    assert set(one["cost"]) == {"received_cached", "received_uncached", "sent_cached", "sent_uncached", "unpriced"}


def test_every_json_key_is_in_the_documentation(run, path):
    from ctxgc.cli import _profile_json

    (one,) = document(run, path)["profiles"]
    keys = {*one, *one["total"], *one["turns"][0], *one["schemas"][0], *one["cost"], "figure", "share", "sentence"}
    documented = _profile_json.__doc__.replace("[]", "")
    assert not [key for key in keys if f"``{key}``" not in documented]


def test_a_policy_shows_what_would_have_been_sent(run, tmp_path):
    path = tmp_path / "again.json"
    path.write_text(json.dumps(SECOND))
    observed = document(run, path)["profiles"][0]["total"]
    collected = document(run, path, "--policy", "eden")["profiles"][0]["total"]
    assert observed["sent"] == observed["tokens"] == collected["tokens"]
    assert collected["sent"] < observed["sent"] / 2
    assert "were taken out" in run("profile", path, "--policy", "eden").text


def test_an_unknown_policy_is_exit_code_3(run, path):
    ran = run("profile", path, "--policy", "edn")
    assert ran.code == 3
    assert ran.err.count("\n") == 1


def test_the_model_is_the_one_given_or_the_one_named_or_said_to_be_assumed(run, path, tmp_path):
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(HISTORY))
    assumed = document(run, bare)["profiles"][0]
    assert (assumed["models"], assumed["model_assumed"]) == (["gpt-5"], True)
    assert "assumed" in run("profile", bare).text
    given = document(run, bare, "--model", "claude-opus-4-5")["profiles"][0]
    assert (given["models"], given["model_assumed"], given["exact"]) == (["claude-opus-4-5"], False, False)
    assert document(run, path)["profiles"][0]["model_assumed"] is False


def test_a_model_without_a_price_says_so(run, path):
    assert document(run, path, "--model", "nobodys-model")["profiles"][0]["cost"] is None
    assert "no price is known" in run("profile", path, "--model", "nobodys-model").text


@pytest.mark.parametrize(("by", "column", "rows"), [("tag", "name", 6), ("site", "name", 5), ("turn", "request", 2)])
def test_csv_is_one_table_with_a_header(run, path, by, column, rows):
    found = list(csv.DictReader(io.StringIO(run("profile", path, "--csv", "--by", by).text)))
    assert len(found) == rows
    assert {row["id"] for row in found} == {"my-run"}
    assert column in found[0]


def test_several_transcripts_are_one_document(run, path):
    assert [one["source"] for one in document(run, path, path)["profiles"]] == [str(path)] * 2


def test_top_limits_the_rows_of_tables(run, path):
    assert "By tag (2 of 6)" in run("profile", path, "--by", "tag", "--top", 2).text


def test_text_from_tools_is_never_a_control_sequence(run, tmp_path):
    path = tmp_path / "evil.json"
    name = "\x1b]0;owned\x07[red]\u202e"
    path.write_text(json.dumps([user("go"), call(name, "1"), result("1", "text"), agent("ok")]))
    ran = run("profile", path)
    assert ran.code == 0
    assert not set("\x1b\x07\u202e") & set(ran.text)
    assert "[red]" in ran.text


def test_a_recorded_session_is_profiled_as_it_was_sent(run, url):
    (one,) = document(run, "--session", "aa", "--store", url)["profiles"]
    assert (one["id"], one["policy"], one["source"]) == ("aa" * 32, None, "store")
    assert one["total"]["sent"] < one["total"]["tokens"]
    assert one["reported"]["calls"] == 2
    assert next(row for row in one["sites"] if row["name"].startswith("read("))["pointers"] == 1


@pytest.mark.parametrize(
    "argv", [(), ("x.json", "--session", "aa"), ("--session", "aa", "--policy", "eden"), ("x.json", "--json", "--csv")]
)
def test_options_that_do_not_go_together_are_usage_errors(run, argv):
    ran = run("profile", *argv)
    assert ran.code == 2
    assert ran.err.startswith("ctxgc: ")
    assert ran.err.endswith("; see ctxgc profile --help\n")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\x01\x02", b"[1]", b'{"a": 1}', b"\x1f\x8b\x08"])
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_malformed_input_is_one_line_and_exit_code_4(run, tmp_path, content, form):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    ran = run("profile", path, *form)
    assert ran.code == 4
    assert ran.err.startswith(f"ctxgc: {path}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_missing_files_and_folders_are_one_line(run, name):
    ran = run("profile", name)
    assert ran.code == 4
    assert ran.err.count("\n") == 1


def test_a_transcript_can_come_from_stdin(path):
    with child("from ctxgc.cli import main; main()", "profile", "-", "--json") as process:
        out, err = process.communicate(path.read_bytes())
    assert err == b""
    assert json.loads(out)["profiles"][0]["source"] == "-"


def test_lone_surrogates_are_profiled_like_any_text(run, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text('[{"role":"user","content":"\\ud800 lone"},{"role":"assistant","content":"ok"}]')
    assert document(run, path)["profiles"][0]["turns"]


DOCUMENTS = re.compile(r'id="documents">(.*?)</script>', re.DOTALL)


def documents(path):
    """The documents in a report."""
    return json.loads(DOCUMENTS.search(path.read_text())[1])


def test_html_is_one_file_with_the_sessions_of_all_transcripts(run, path, tmp_path):
    ran = run("profile", path, path, "--html", tmp_path / "out.html")
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    rows = documents(tmp_path / "out.html")["sessions"]["sessions"]
    total = document(run, path)["profiles"][0]["turns"][-1]
    assert [(row["model"], row["requests"], row["sent"]) for row in rows] == [("gpt-5", 2, total["sent_total"])] * 2


def test_html_of_a_session_has_its_content_only_if_it_is_asked_for(run, url, tmp_path):
    for flags, there in (((), False), (("--include-content",), True)):
        assert run("profile", "--session", "aa", "--store", url, "--html", tmp_path / "out.html", *flags).code == 0
        assert ("of a long file" in (tmp_path / "out.html").read_text()) is there
        found = documents(tmp_path / "out.html")
        assert [row["id"] for row in found["sessions"]["sessions"]] == ["aa" * 32]
        sent = document(run, "--session", "aa", "--store", url)["profiles"][0]["total"]["sent_turns"]
        assert sum(found[f"sessions/{'aa' * 32}"]["turns"]["sent_total"]) == sent


def test_html_goes_to_stdout_where_it_is_asked_to(run, url, tmp_path):
    ran = run("profile", "--session", "aa", "--store", url, "--html", "-")
    assert (ran.code, ran.err) == (0, "")
    assert ran.text.lower().startswith("<!doctype html>")
    refused = run("profile", "--session", "aa", "--store", url, "--html", tmp_path / "none" / "out.html")
    assert (refused.code, refused.err.count("\n")) == (4, 1)
    assert run("profile", "--session", "aa", "--store", url, "--html", "-", "--model", "gpt-5").code == 2
