"""``ctxgc replay``, as people and as programs read it."""

import json
import re

import pytest

from ctxgc.cli._replay_keys import KEYS
from tests.lab.build import agent, call, result, user
from tests.lab.recordings import HISTORY, write

from .conftest import child

ROWS = "\n".join(f"row {number} of a large table is kept in lib/part_{number}.py" for number in range(8000))
ODD = ROWS.replace("row 4000 of a large table is kept", "warning: nothing is kept")
TABLE = json.dumps([{"id": number, "name": "a"} for number in range(200)], indent=4)
BIG = [*HISTORY[:3], result("1", ROWS), agent("I open lib/part_4000.py")]
"""A session that needs a row of a long result which is like all the others: no cut can tell."""


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "run.json")


def document(run, *argv):
    ran = run("replay", *argv, "--json")
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_a_table_for_each_price_class_with_a_row_for_each_policy(run, path):
    ran = run("replay", path, "--compare", "observe,dedup+minify", "--prices", "9,none")
    assert (ran.code, ran.err) == (0, "")
    assert ran.text.startswith("1 segment\n")
    titles = re.findall(r"Price class (\S+)", ran.text)
    assert titles == ["9", "none"]
    assert [line.split()[0] for line in ran.text.splitlines() if line.startswith("  ")] == [
        *["policy", "generational", "observe", "dedup,minify"] * 2
    ]


def test_a_policy_that_cuts_costs_less_and_loses_what_can_be_recalled(run, tmp_path):
    path = write(tmp_path / "big.json", BIG)
    found = document(run, path, "--compare", "observe", "--prices", "9")
    cut, observe = found["totals"]
    assert (observe["cost_ratio"], observe["survival"], observe["sent_ratio"]) == (1, 1, 1)
    assert cut["cost_ratio"] < 0.6
    assert (cut["needed"], cut["visible"], cut["recallable"]) == (1, 0, 1)
    assert cut["by_tag"]["tool_result:search"]["survival"] == 0


def test_a_line_unlike_the_others_survives_the_same_cut(run, tmp_path):
    path = write(tmp_path / "odd.json", [*HISTORY[:3], result("1", ODD), *BIG[4:]])
    (cut,) = document(run, path, "--prices", "9")["totals"]
    assert cut["cost_ratio"] < 0.6
    assert (cut["needed"], cut["visible"], cut["recallable"]) == (1, 1, 0)


def test_every_json_key_is_in_the_help(run, path):
    found = document(run, path)
    (session,) = found["sessions"]
    one, total = session["runs"][0], found["totals"][0]
    keys = {*found, *session, *one, *total, *total["cost_ratios"], *next(iter(one["by_tag"].values()))} - {"schema"}
    documented = set(re.findall(r"\w+", KEYS))
    assert keys <= documented
    assert not keys <= documented - {"survival"}
    shown = run("replay", "--help").text
    assert all(line.strip() in shown for line in KEYS.splitlines() if line != "\b")


def test_totals_are_those_of_the_sessions(run, path, tmp_path):
    found = document(run, path, write(tmp_path / "big.json", BIG))
    assert [one["id"] for one in found["sessions"]] == ["run", "big"]
    total = next(one for one in found["totals"] if one["class"] == "3")
    runs = [one for session in found["sessions"] for one in session["runs"] if one["class"] == "3"]
    assert total["needed"] == sum(one["needed"] for one in runs) == 2
    sent, received = sum(one["sent"] for one in runs), sum(one["received"] for one in found["sessions"])
    assert total["sent_ratio"] == pytest.approx(sent / received, abs=1e-4)
    assert total["cost_ratios"]["worst"] == pytest.approx(max(one["cost_ratio"] for one in runs), abs=1e-5)


@pytest.mark.parametrize(("by", "words"), [("tool", "tool_result:search"), ("use", "arguments"), ("session", "run")])
def test_one_more_table(run, path, by, words):
    assert words in run("replay", path, "--by", by).text.split("By session" if by == "session" else "Survival by")[1]


def test_the_pareto_curve_marks_what_is_dominated(run, tmp_path):
    path = write(tmp_path / "small.json", [user("go"), call("read", "1"), result("1", TABLE), agent("ok")] * 9)
    ran = run("replay", path, "--compare", "observe", "--policy", "dedup", "--prices", "9", "--pareto")
    lines = ran.text.split("cost and survival")[1].splitlines()
    assert [line.split()[0] for line in lines if "dominated" in line] == ["observe"]


def test_segments_that_are_too_small_are_left_out_and_said(run, path):
    ran = run("replay", path, "--min-tokens", 40_000)
    assert ran.code == 0
    assert "0 segments above 40,000 tokens (calibrated), 1 smaller ones left out" in ran.text
    assert document(run, path, "--min-tokens", 40_000)["totals"] == []


def test_a_model_is_a_price_class(run, path):
    (one,) = document(run, path, "--prices", "gpt-5")["classes"]
    assert one == {"name": "model:gpt-5", "read": pytest.approx(0.1), "write": 1}


@pytest.mark.parametrize(
    "argv", [("--prices", "nobodys-model"), ("--policy", "edn"), ("--compare", "observe,edn"), ("--compare", "a+b")]
)
def test_what_does_not_exist_is_one_line_and_exit_code_3(run, path, argv):
    ran = run("replay", path, *argv)
    assert ran.code == 3
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "argv", [(), ("x.json", "--by", "turn"), ("x.json", "--prices", ","), ("x.json", "--jobs", "0")]
)
def test_wrong_usage_is_exit_code_2(run, argv):
    assert run("replay", *argv).code == 2


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\x01\x02", b"[1]", b'{"a": 1}', b"\x1f\x8b\x08"])
def test_malformed_input_is_one_line_and_exit_code_4(run, tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    ran = run("replay", path)
    assert ran.code == 4
    assert ran.err.startswith(f"ctxgc: {path}")
    assert ran.err.count("\n") == 1


def test_bad_input_can_be_left_out(run, path, tmp_path):
    ran = run("replay", path, tmp_path / "absent.json", "--keep-going", "--jobs", 1)
    assert ran.code == 0
    assert "not read: " in ran.text
    assert len(document(run, path, tmp_path / "absent.json", "--keep-going", "--jobs", 1)["errors"]) == 1


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_missing_files_and_empty_folders_are_one_line(run, name):
    ran = run("replay", name)
    assert ran.code == 4
    assert ran.err.count("\n") == 1


def test_text_from_transcripts_is_never_a_control_sequence(run, tmp_path):
    name = "\x1b]0;owned\x07[red]\u202e"
    messages = [user("go"), call(name, "1"), result("1", "lib/parse_rule.py"), agent("lib/parse_rule.py")]
    ran = run("replay", write(tmp_path / "evil.json", messages, id=name), "--by", "tool")
    assert ran.code == 0
    assert not set("\x1b\x07\u202e") & set(ran.text)
    assert "[red]" in ran.text


def test_lone_surrogates_are_replayed_like_any_text(run, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text('[{"role":"user","content":"\\ud800 lone"},{"role":"assistant","content":"ok \\udfff"}]')
    assert document(run, path)["sessions"]


def test_several_files_are_replayed_by_several_processes(path, tmp_path):
    write(tmp_path / "again.json")
    with child("from ctxgc.cli import main; main()", "replay", str(tmp_path), "--json", "--jobs", "2") as process:
        out, err = process.communicate()
    assert err == b""
    assert [one["id"] for one in json.loads(out)["sessions"]] == ["again", "run"]
