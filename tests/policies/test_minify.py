from __future__ import annotations

import json

import pytest
from hypothesis import given

from ctxgc.policies.minify import Minify
from tests.heaps import arrival, collect, heap
from tests.strategies import json_bodies, texts

RECORDS = [{"id": number, "name": f"a  name {number}", "tags": ["x", "y"]} for number in range(30)]
PRETTY = json.dumps(RECORDS, indent=4)
EAGER = Minify(except_tools=(), min_saving=1)


def minified(text: str, policy: Minify = EAGER, tool: str = "search") -> str | None:
    found = list(policy.propose(heap(arrival(text, tool))))
    return found[0].text if found else None


def literal(text: str) -> object:
    """JSON with everything as it is written: numbers as literals, members as pairs in order."""
    return json.loads(text, parse_float=lambda x: ("n", x), parse_int=lambda x: ("n", x), object_pairs_hook=list)


def reserialised(text: str) -> str:
    """What minifying must not be."""
    return json.dumps(json.loads(text), separators=(",", ":"))


def test_whitespace_between_the_parts_goes() -> None:
    assert minified(PRETTY, Minify()) == json.dumps(RECORDS, separators=(",", ":"))


def test_the_note_says_what_was_done() -> None:
    (edit,) = collect(heap(arrival(PRETTY)), Minify())
    assert edit.text.endswith(f"]\n[ctxgc:{edit.handle} whitespace removed]")
    assert edit.after < edit.before


def test_numbers_escapes_order_and_duplicates_keep_their_bytes() -> None:
    text = '{ "b" : 1.0, "a" : 1e3, "a" : 123456789012345678901234567890, "\\u00e9" : "\\/ \\" \\\\" , "s":"  x  " }'
    expected = '{"b":1.0,"a":1e3,"a":123456789012345678901234567890,"\\u00e9":"\\/ \\" \\\\","s":"  x  "}'
    assert minified(text) == expected


def same_but_shorter(text: str, result: str | None) -> bool:
    return result is None or (literal(result) == literal(text) and len(result) < len(text))


@given(json_bodies())
def test_nothing_is_lost(body: bytes) -> None:
    assert same_but_shorter(body.decode(), minified(body.decode()))


@pytest.mark.parametrize("text", ['{"n": 1e3}', '{"n": 1, "n": 1}', "[1.0, 1.00]"])
def test_re_serialising_would_lose_something(text: str) -> None:
    assert not same_but_shorter(text, reserialised(text))


@given(json_bodies())
def test_once_is_enough(body: bytes) -> None:
    once = minified(body.decode())
    assert once is None or minified(once) is None


@given(texts(200))
def test_what_is_no_json_stays(text: str) -> None:
    assert minified(f"[{text}") is None


@pytest.mark.parametrize(
    "text",
    [
        '"a  b"', "1   ", '{"a": 1}\n{"a": 2}', "[1, 2,   ]", "{'a':   1}", "[NaN,   1]",
        "[" * 99_999 + "  " + "]" * 99_999,
    ],
)  # fmt: skip
def test_only_one_whole_object_or_array_is_minified(text: str) -> None:
    assert minified(text) is None


@pytest.mark.parametrize(
    "tool",
    [
        "Read", "read", "read_file", "ReadFile", "READ_FILE", "cat", "view", "str_replace_editor", "open_file", "open",
        "NotebookRead", "NotebookEdit", "fetch_file", "Edit", "MultiEdit", "edit_file", "str_replace_based_edit_tool",
        "mcp__filesystem__read_text_file", "get_file_contents", "Bash", "bash", "shell", "local_shell", "execute_bash",
        "execute_command", "run_terminal_cmd", "exec_command", "container.exec", "execute_ipython_cell", "Grep",
        "grep_search", "search_files", "search_file_content", "apply_patch", "replace_in_file", "developer__shell", "",
    ],
)  # fmt: skip
def test_tools_whose_output_may_be_quoted_back_are_spared(tool: str) -> None:
    assert minified(PRETTY, Minify(), tool) is None


@pytest.mark.parametrize("tool", ["search", "get_weather", "list_issues", "query_database", "WebSearch", "get_user"])
def test_other_tools_are_not(tool: str) -> None:
    assert minified(PRETTY, Minify(), tool) is not None


def test_exceptions_are_patterns_in_any_case() -> None:
    assert minified(PRETTY, Minify(except_tools=("My_*",)), "my_Tool") is None
    assert minified(PRETTY, Minify(except_tools=("My_*",)), "read_file") is not None


def test_a_small_saving_is_not_worth_it() -> None:
    text = "[" + " " * 20 + "1]"
    assert minified(text, Minify(except_tools=(), min_saving=20)) == "[1]"
    assert minified(text, Minify(except_tools=(), min_saving=21)) is None
