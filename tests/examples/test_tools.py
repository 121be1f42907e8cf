"""The agent's tools, on real files and with real child processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxgc.examples import tools
from ctxgc.examples.tools import LIMIT, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_what_is_written_is_read(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("a.txt", b"\xff one\n")
    assert workspace.read("a.txt") == (tmp_path / "a.txt").read_bytes() == b"\xff one\n"


def test_tests_run_and_are_counted(workspace: Workspace) -> None:
    workspace.write("test_a.py", b"def test_one():\n    assert 1\n\n\ndef test_two():\n    pass\n")
    assert workspace.run("test_a.py") == tools.Outcome(0, b"PASS test_one\nPASS test_two\n2 passed, 0 failed\n")


def test_a_test_that_fails_a_file_that_breaks_and_one_without_tests_do_not_pass(workspace: Workspace) -> None:
    workspace.write("test_a.py", b"def test_one():\n    assert 0, 'no'\n")
    assert workspace.run("test_a.py").status == 1
    assert b"FAIL test_one: AssertionError: no" in workspace.run("test_a.py").output
    for text in (b"import nowhere\n", b"VALUE = 1\n", b"def test(:\n"):
        workspace.write("test_b.py", text)
        assert workspace.run("test_b.py").status == 1


def test_a_file_that_is_rewritten_within_a_second_is_run_as_it_is(workspace: Workspace) -> None:
    workspace.write("test_a.py", b"import part\n\ndef test():\n    assert part.A == 1\n")
    for value, status in ((1, 0), (2, 1), (1, 0)):
        workspace.write("part.py", b"A = %d\n" % value)
        assert workspace.run("test_a.py").status == status


def test_the_child_gets_nothing_of_our_environment(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret-4711")
    workspace.write("test_a.py", b"import os\n\ndef test():\n    print(dict(os.environ))\n")
    assert b"secret-4711" not in workspace.run("test_a.py").output


def test_what_comes_to_no_end_is_stopped(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "TIMEOUT", 0.2)
    workspace.write("test_a.py", b"def test():\n    while True:\n        pass\n")
    assert workspace.run("test_a.py").status not in (0, 1)


@pytest.mark.parametrize(
    "name",
    ["../a.py", "/etc/passwd.txt", "a", "", "a/b.py", ".a.py", "a.sh", "a.py\n", "a\0.py", "ä.py", "x" * 80 + ".py"],
)
def test_nothing_outside_of_the_folder_is_touched(workspace: Workspace, name: str) -> None:
    for touch in (workspace.read, workspace.run, lambda given: workspace.write(given, b"")):
        with pytest.raises(ValueError):  # noqa: PT011 - which of the refusals it is does not matter
            touch(name)


def test_a_link_that_leads_out_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.txt"
    (tmp_path / "a.txt").symlink_to(outside)
    with pytest.raises(ValueError, match="leads somewhere else"):
        workspace.write("a.txt", b"")
    assert not outside.exists()


def test_sizes_are_bounded(workspace: Workspace) -> None:
    with pytest.raises(ValueError, match="100,000 bytes"):
        workspace.write("a.txt", b"x" * (LIMIT + 1))
    workspace.write("test_a.py", b"def test():\n    print('x' * 1_000_000)\n")
    assert len(workspace.run("test_a.py").output) == LIMIT
