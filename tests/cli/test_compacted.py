"""A session that was compacted, as the commands print it."""

from __future__ import annotations

import json
import re

import pytest

from ctxgc.core.compaction import Summary
from ctxgc.core.journal import encode, kind
from ctxgc.store import Record, open_store
from tests.lab.compacted import compacting, log, story
from tests.session.scripts import KEY

ID = KEY.hex()[:12]
LINE = re.compile(
    r"\[turn \d+ \S+Z\] compacted \((quality|milestone)\) turns 1-\d+, \d+ cells [\d,]+->[\d,]+,"
    r" context [\d,]+->[\d,]+, record [a-z2-7]{16}"
)
CONFIG = """
quality_budget = 3000
policies = [
    {name = "dedup", min_tokens = 16},
    {name = "compact", tail = 600, record = 800, saving = 500},
]
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A store with the story in it, and two answers of a model."""
    path = tmp_path_factory.mktemp("store") / "compacted.db"
    store = open_store(f"sqlite:///{path}")
    entries = log(story(compacting(store)))
    for number, outcome in enumerate(("taken", "refused: no JSON")):
        said = Summary(at=1.0, after=1, upto=9, model="gpt-5", outcome=outcome, input=1000, output=10)
        store.append([Record(KEY, kind(said), encode(said), bytes([number]) * 16)]).result()
    store.close()
    return f"sqlite:///{path}", [entry for entry in entries if kind(entry) == "compaction"]


@pytest.fixture
def url(told, tmp_path):
    """The store, and the configuration that the session was made with."""
    (tmp_path / "ctxgc.toml").write_text(CONFIG)
    return told[0]


@pytest.fixture
def compactions(told):
    return told[1]


def document(run, *argv):
    return json.loads(run(*argv, "--json").out)


def test_a_compaction_is_one_line_and_what_it_cost_stands_behind_it(run, url, compactions):
    ran = run("gc-log", ID, "--store", url)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.text.splitlines()
    found = [line for line in lines if "compacted" in line]
    assert len(found) == len(compactions)
    assert all(map(LINE.fullmatch, found)), found
    assert [line.rsplit(" ", 1)[1] for line in found] == [entry.handle for entry in compactions]
    assert all(lines[lines.index(line) + 1].startswith("    rewrote ") for line in found)
    assert max(map(len, lines)) <= 160


def test_milestones_and_refused_summaries_are_short_lines_in_their_places(run, url):
    lines = run("gc-log", ID, "--store", url).text.splitlines()
    (milestone,) = [line for line in lines if "milestone: " in line]
    assert milestone.endswith("] milestone: part four written")
    turns = [int(found[1]) for line in lines if (found := re.match(r"\[turn (\d+) ", line))]
    assert turns == sorted(turns)
    assert lines[-3].endswith("] summary refused: no JSON (gpt-5)")
    assert lines[-2] == "summaries: 1 taken, 1 refused; 2,000 tokens in, 20 out"


def test_the_log_as_json_has_spans_notes_and_summaries(run, url, compactions):
    (session,) = document(run, "gc-log", ID, "--store", url)["sessions"]
    spans = [one["span"] for one in session["collections"] if one["span"]]
    assert [one["handle"] for one in spans] == [entry.handle for entry in compactions]
    assert set(spans[0]) == {"first", "last", "handle", "by"}
    assert [one["kind"] for one in session["notes"]] == ["milestone", "summary"]
    assert session["summaries"] == {"taken": 1, "refused": 1, "input": 2000, "output": 20}


def test_explain_says_of_what_is_left_out_where_it_stands(run, url, compactions):
    (session,) = document(run, "gc-log", ID, "--store", url)["sessions"]
    turn, entry = session["collections"][-1]["turn"], compactions[-1]
    ran = run("explain", ID, turn, "--store", url)
    assert (ran.code, ran.err) == (0, "")
    assert f"left out  stands in record {entry.handle} since turn {turn}" in ran.text
    assert f"compacted (quality): {entry.before:,} tokens were left out, for them stand {entry.tokens:,}" in ran.text
    found = document(run, "explain", ID, turn, "--store", url)
    assert found["agrees"] is True
    assert {cell["sent"] for cell in found["cells"] if cell["verdict"] == "left out"} == {0}


@pytest.mark.parametrize(("role", "verdict"), [("assistant", "left out"), ("summary", "kept"), ("recall", "left out")])
def test_one_cell_in_full_of_each_kind(run, url, role, verdict):
    cells = document(run, "explain", ID, "--store", url)["cells"]
    cell = [one for one in cells if (one["role"], one["verdict"]) == (role, verdict)][-1]
    one = document(run, "explain", ID, "--cell", cell["cell"], "--store", url)
    assert one["text"]
    assert one["sent"] == ("" if verdict == "left out" else one["text"])
    text = run("explain", ID, "--cell", cell["cell"], "--store", url).text
    assert ("as it came:" if cell["tokens"] else "as it was made:") in text
    assert "as it was sent:" not in text


def test_diff_shows_what_is_gone_and_the_record_that_stands_for_it(run, url, compactions):
    ran = run("diff", ID, "--store", url)
    assert (ran.code, ran.err) == (0, "")
    lines, handle = ran.text.splitlines(), compactions[-1].handle
    assert re.search(r": 0 of 156 messages changed, 11\d left out, [\d,]+ tokens came and [\d,]+ were sent$", lines[0])
    (record,) = [at for at, line in enumerate(lines) if line.startswith(f"@@ behind message 2: record {handle}")]
    assert lines[record + 1].startswith(f"+[ctxgc:{handle} record of turns 1-")
    assert any(re.match(rf"@@ messages 3 to \d+: .* left out; stands in record {handle} since", line) for line in lines)
    assert any(line.startswith("-message 3 assistant: thing number 0") for line in lines)
    assert len(lines) < 60


def test_in_full_every_line_of_it_is_shown(run, url):
    text = run("diff", ID, "--full", "--store", url).text
    assert all(f"-row {number} says value_{number * 31}\n" in text for number in range(30))
    assert "-row 30 says" not in run("diff", ID, 10, "--full", "--store", url).text  # the control: nothing went yet


def test_the_difference_as_json(run, url, compactions):
    found = document(run, "diff", ID, "--store", url)
    assert found["left_out"] == len({one["message"] for one in found["changes"] if one["record"] and not one["sent"]})
    assert {one["record"] for one in found["changes"]} == {compactions[-1].handle}


def test_a_profile_falls_and_lists_no_handle(run, url, compactions):
    ran = run("profile", "--session", ID, "--store", url)
    assert (ran.code, ran.err) == (0, "")
    assert " were taken out\n" in ran.text
    assert not any(entry.handle[:8] in ran.text for entry in compactions)
    (profile,) = document(run, "profile", "--session", ID, "--store", url)["profiles"]
    assert profile["total"]["sent_turns"] < profile["total"]["token_turns"]
    assert [one["name"] for one in profile["schemas"] if one["ours"]] == ["ctxgc_recall"]
    assert sum(row["sent_turns"] for row in profile["sites"]) == profile["total"]["sent_turns"]
