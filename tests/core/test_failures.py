"""Which results say that their call failed, and which failures a later success has overcome."""

from __future__ import annotations

import pytest

from ctxgc.core.failures import LONGEST, Failures, failed

READ, OTHER = ("file:a.py",), ("file:b.py",)


@pytest.mark.parametrize(
    "text",
    [
        "Error: no such column",
        "\n\nTraceback (most recent call last):\n  File ...",
        "fatal: not a git repository",
        "bash: frobnicate: command not found",
        "cat: notes.txt: No such file or directory",
        "exit code: 2\nsomething",
        "<tool_use_error>File has not been read</tool_use_error>",
        "Permission denied (publickey).",
    ],
)
def test_a_result_that_begins_with_its_failure_is_one(text: str) -> None:
    assert failed(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "exit code: 0",
        "3 files changed, no errors",
        "errors.py\nfailures.py",
        "The error was fixed in 1.2",
        "def fail():\n    raise Error",
        "1\tTraceback (most recent call last):",
    ],
)
def test_one_that_only_speaks_of_failures_is_none(text: str) -> None:
    assert not failed(text)


def test_a_long_result_holds_more_than_its_failure() -> None:
    assert failed("Error: " + "x" * (LONGEST - 7))
    assert not failed("Error: " + "x" * (LONGEST - 6))


def test_a_success_overcomes_the_failures_of_its_kind_before_it() -> None:
    found = Failures()
    assert found.take(1, "read", READ, failure=True) == ()
    assert found.take(2, "read", READ, failure=True) == ()
    assert found.take(3, "read", READ, failure=False) == (1, 2)
    assert found.take(4, "read", READ, failure=False) == ()


@pytest.mark.parametrize(("tool", "about"), [("read", OTHER), ("write", READ), ("read", ())])
def test_a_success_of_something_else_overcomes_nothing(tool: str, about: tuple[str, ...]) -> None:
    found = Failures()
    found.take(1, "read", READ, failure=True)
    assert found.take(2, tool, about, failure=False) == ()
    assert found.take(3, "read", READ, failure=False) == (1,)


def test_a_failure_overcomes_nothing() -> None:
    found = Failures()
    found.take(1, "read", READ, failure=True)
    assert found.take(2, "read", READ, failure=True) == ()


def test_a_failure_about_two_things_is_overcome_by_a_success_with_either_and_said_once() -> None:
    found = Failures()
    found.take(1, "read", READ + OTHER, failure=True)
    assert found.take(2, "read", READ + OTHER, failure=False) == (1,)


@pytest.mark.parametrize("piece", [" ", "\n", "a: ", "exit code", "x"])
def test_a_huge_text_is_done_with(piece: str) -> None:
    assert not failed(piece * (LONGEST // len(piece)))
    assert not failed(piece * 10**6)
