"""The examples in the documentation do what is said of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ctxgc import open_session

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "ctxgc" / "README.md").read_text()
README = (ROOT / "README.md").read_text()
CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}


def blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_example_policy_shortens_what_it_says() -> None:
    made: dict[str, object] = {"__name__": "plain"}
    (example,) = blocks(ARCHITECTURE)
    exec(compile(example, "plain.py", "exec", dont_inherit=True), made)
    coloured = "".join(f"\x1b[31mFAILED\x1b[0m test_{number}\n" for number in range(50))
    messages = [
        {"role": "user", "content": "test it"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": coloured},
    ]
    with open_session(policies=(made["Plain"](),)) as session:  # type: ignore[operator]
        sent = session.prepare(messages)
    assert sent[:2] == messages[:2]
    assert "\x1b" not in sent[2]["content"]
    assert sent[2]["content"].startswith("FAILED test_0\nFAILED test_1\n")


def test_the_books_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "# Report\nall rows are there\n"
    (tmp_path / "report.md").write_text(text)
    made: dict[str, object] = {
        "text": text, "output": "12 passed in 0.3s\n", "next_task": "now the tests", "system": {"role": "system"}
    }  # fmt: skip
    exec(compile(blocks(README)[-1], "books.py", "exec", dont_inherit=True), made)
    said = made["messages"][1]["content"]  # type: ignore[index]
    assert "report.md is written" in said
    assert "12 tests pass" in said
    assert said.endswith("now the tests")
