"""What the agent sent against what the model got, as it is printed."""

import json

import pytest

from .conftest import LONG


def test_a_changed_message_says_what_was_done_to_it_and_shows_the_stub_in_its_place(run, url, handles):
    ran = run("diff", "aa", 1, "--store", url)
    assert (ran.code, ran.err) == (0, "")
    first, _, head, *lines = ran.text.splitlines()
    assert first.startswith(f"session {'aa' * 6}, turn 1 of 2: 1 of 4 messages changed, ")
    assert head.startswith('@@ message 4 tool, read({"path":"a"}), cell ')
    assert "truncate" in head
    assert any(line.startswith(f"+[ctxgc:{handles[0]} lines ") for line in lines)
    assert any(line.endswith(" more lines (--full shows them)") for line in lines)
    assert {line[0] for line in lines} == {" ", "-", "+"}
    assert len(lines) < 60


def test_in_full_every_line_that_came_is_there(run, url):
    lines = run("diff", "aa", 1, "--full", "--store", url).text.splitlines()[3:]
    came = [line[1:].rstrip() for line in lines if line[0] != "+"]
    assert came[:4000] == [line.rstrip() for line in LONG.split("\n")[:4000]]


def test_json_has_stable_keys_and_every_line(run, url):
    document = json.loads(run("diff", "aa", -1, "--store", url, "--json").out)
    assert document["schema"] == "ctxgc.diff/1"
    assert (document["turn"], document["requests"], document["messages"], document["left_out"]) == (2, 2, 6, 0)
    cut, pointed = document["changes"]
    assert (cut["message"], pointed["message"], pointed["action"]) == (4, 6, "dedup")
    for change in (cut, pointed):
        assert "\n".join(text for sign, text in change["lines"] if sign != "+") == LONG
        assert set(change) == {
            "message", "role", "tag", "site", "cell", "tokens", "sent", "handle", "policy", "action", "reason",
            "record", "since", "lines",
        }  # fmt: skip


def test_a_request_that_was_not_changed_says_so(run, url):
    ran = run("diff", "ab", "--store", url)
    assert ran.text.count("\n") == 1
    assert "0 of 3 messages changed" in ran.text


@pytest.mark.parametrize("turn", ["0", "3", "-3"])
def test_a_turn_that_is_not_there_is_one_line(run, url, turn):
    ran = run("diff", "aa", turn, "--store", url)
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, b"", 1)
