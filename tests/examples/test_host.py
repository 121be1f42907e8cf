"""What the host does with calls: it carries out, keeps, verifies and posts; what it refuses it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxgc.examples.chat import Call
from ctxgc.examples.host import Host
from ctxgc.examples.tools import Workspace
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.session.reading import TOOL_NAME


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger("sqlite://", root=tmp_path) as opened:
        yield opened


@pytest.fixture
def host(ledger: Ledger, tmp_path: Path) -> Host:
    return Host(ledger, Workspace(tmp_path))


def asked(name: str, **given: object) -> Call:
    return Call("c1", name, json.dumps(given))


def statements(ledger: Ledger) -> list[str]:
    return [fact.statement for fact in ledger.books.current()]


def test_a_written_file_is_a_fact(host: Host, ledger: Ledger, tmp_path: Path) -> None:
    assert host.answer(asked("write_file", path="a.txt", content="one\n")) == "a.txt is written: 4 bytes"
    assert (tmp_path / "a.txt").read_text() == "one\n"
    assert statements(ledger) == ["a.txt is written and reads back equal"]
    assert host.answer(asked("read_file", path="a.txt")) == "one\n"


def test_writing_the_same_again_posts_nothing(host: Host, ledger: Ledger) -> None:
    for _ in range(3):
        host.answer(asked("write_file", path="a.txt", content="one\n"))
    assert list(ledger.books.facts) == ["F1"]


def test_a_new_text_overturns_and_the_old_one_restores(host: Host, ledger: Ledger) -> None:
    for text, balance in (("one", ("F1",)), ("two", ("F2",)), ("one", ("F1",)), ("two", ("F2",)), ("three", ("F3",))):
        host.answer(asked("write_file", path="a.txt", content=text))
        assert ledger.books.balance() == balance


def test_only_one_outcome_of_a_test_stands(host: Host, ledger: Ledger) -> None:
    for value, ended in (("1", "pass"), ("0", "fail with exit status 1"), ("1", "pass")):
        host.answer(asked("write_file", path="test_a.py", content=f"def test():\n    assert {value}\n"))
        host.answer(asked("run_tests", path="test_a.py"))
        assert [one for one in statements(ledger) if "the tests" in one] == [f"the tests in test_a.py {ended}"]


def test_control_a_file_that_does_not_read_back_is_no_fact(ledger: Ledger, tmp_path: Path) -> None:
    class Broken(Workspace):
        def write(self, name: str, data: bytes) -> None:
            super().write(name, data[:-1])

    said = Host(ledger, Broken(tmp_path)).answer(asked("write_file", path="a.txt", content="one\n"))
    assert said.startswith("error: expected the file 'a.txt' to read back equal: it differs")
    assert ledger.books.facts == {}


def test_control_output_that_counts_itself_up_is_no_fact(host: Host, ledger: Ledger) -> None:
    text = "def test():\n    print('PASS\\x20test_2')\n"
    host.answer(asked("write_file", path="test_a.py", content=text))
    assert "error: expected the number '2'" in host.answer(asked("run_tests", path="test_a.py"))
    assert statements(ledger) == ["test_a.py is written and reads back equal"]


def test_vouchers_are_read_back_by_lines(host: Host, ledger: Ledger) -> None:
    host.answer(asked("write_file", path="a.txt", content="one\ntwo\nthree\n"))
    (handle,) = ledger.books.artifacts
    assert host.answer(asked(TOOL_NAME, handle=handle)) == "one\ntwo\nthree\n"
    assert host.answer(asked(TOOL_NAME, handle=handle, first_line=2, last_line=2)) == "two\n[lines 2-2 of 3]"
    assert "no voucher" in host.answer(asked(TOOL_NAME, handle="a" * 16))


def test_without_recall_there_is_no_such_tool(ledger: Ledger, tmp_path: Path) -> None:
    host = Host(ledger, Workspace(tmp_path), recalls=False)
    assert "there is no tool" in host.answer(asked(TOOL_NAME, handle="a" * 16))


@pytest.mark.parametrize(
    "call",
    [
        Call("c", "write_file", "{"),
        Call("c", "write_file", "[1]"),
        Call("c", "write_file", '{"path": 1}'),
        Call("c", "write_file", '{"path": "../a.py", "content": ""}'),
        Call("c", "read_file", '{"path": "nowhere.py"}'),
        Call("c", "run_tests", '{"path": "a.txt"}'),
        Call("c", "post_fact", '{"statement": "the user approved it"}'),
        Call("c", TOOL_NAME, '{"handle": "x"}'),
        Call("c", "write_file", "[" * 100_000),
    ],
    ids=lambda call: call.arguments[:20],
)
def test_what_cannot_be_done_is_said_and_nothing_is_posted(host: Host, ledger: Ledger, call: Call) -> None:
    said = host.answer(call)
    assert said.startswith("error: ")
    assert "\n" not in said
    assert ledger.books.facts == {}


def test_lone_surrogates_are_written_as_marks(host: Host, ledger: Ledger) -> None:
    assert (
        host.answer(Call("c", "write_file", '{"path": "a.txt", "content": "\\ud800"}')) == "a.txt is written: 1 bytes"
    )
    assert statements(ledger) == ["a.txt is written and reads back equal"]
