from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.resource_tables import normal
from ctxgc.core.resources import BUILT_IN, Access, Form, Rule, Verb, accesses, may_write
from tests.strategies import broken_texts, json_bodies, texts

READ, WRITE, EDIT, LIST, SEARCH = Verb.READ, Verb.WRITE, Verb.EDIT, Verb.LIST, Verb.SEARCH


def of(tool: str, **arguments: object) -> tuple[Access, ...]:
    return accesses(tool, json.dumps(arguments))


@pytest.mark.parametrize(
    ("tool", "arguments", "start", "end"),
    [
        ("Read", {"file_path": "/r/a.py"}, None, None),
        ("Read", {"file_path": "/r/a.py", "offset": 25, "limit": 15}, 25, 39),
        ("Read", {"file_path": "/r/a.py", "limit": 80}, None, 80),
        ("read", {"filePath": "/r/a.py", "offset": 0, "limit": 10}, None, 10),
        ("read", {"path": "/r/a.py", "offset": "7"}, 7, None),
        ("read_file", {"absolute_path": "/r/a.py", "offset": 10, "limit": 5}, 11, 15),
        ("read_file", {"target_file": "/r/a.py", "start_line_one_indexed": 3, "description": "why"}, 3, None),
        ("str_replace_editor", {"command": "view", "path": "/r/a.py", "view_range": [100, 150]}, 100, 150),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/r/a.py", "view_range": [9, -1]}, 9, None),
        ("str_replace_editor", {"command": "view", "path": "/r/a.py", "view_range": None, "old_str": None}, None, None),
        ("functions.Read_File", {"path": "/r/./x/../a.py"}, None, None),
        ("mcp__filesystem__read_text_file", {"path": "/r/a.py"}, None, None),
    ],
)
def test_reads_of_lines(tool: str, arguments: dict[str, object], start: int | None, end: int | None) -> None:
    assert of(tool, **arguments) == (Access(READ, "/r/a.py", start, end),)


def test_what_narrows_a_read_makes_it_another_view() -> None:
    plain, narrowed = of("Read", file_path="/r/a.pdf"), of("Read", file_path="/r/a.pdf", pages="3-5")
    assert plain[0].query == ""
    assert narrowed[0].query == '{"pages": "3-5"}'


@pytest.mark.parametrize("arguments", [{"offset": -20}, {"start_line": 9, "end_line": 3}])
def test_lines_that_only_the_tool_can_number_are_no_range(arguments: dict[str, object]) -> None:
    (access,) = of("read", path="a.py", **arguments)
    assert (access.start, access.end) == (None, None)
    assert access.query


def test_a_tool_that_chooses_what_it_shows_is_not_taken_for_a_full_read() -> None:
    assert of("open", path="src/a.py")[0].query
    assert of("open", path="src/a.py", line_number=7) != of("open", path="src/a.py", line_number=90)


def test_several_files_in_one_call() -> None:
    files = [{"path": "/r/a.ts", "start_line": 2, "end_line": 4}, {"path": "/r/b.ts"}]
    assert of("read_files", files=files) == (Access(READ, "/r/a.ts", 2, 4), Access(READ, "/r/b.ts"))
    assert of("read_many_files", paths=["/r/a.ts", "/r/b.ts"]) == (Access(READ, "/r/a.ts"), Access(READ, "/r/b.ts"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "a.py", "content": "x"}),
        ("write_to_file", {"path": "a.py", "content": "x"}),
        ("create", {"filename": "a.py"}),
        ("str_replace_editor", {"command": "create", "path": "./a.py", "file_text": "x"}),
    ],
)
def test_writes(tool: str, arguments: dict[str, object]) -> None:
    assert of(tool, **arguments) == (Access(WRITE, "a.py"),)


@pytest.mark.parametrize(
    ("tool", "arguments", "quotes"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "replace_all": False}, "x = 1"),
        ("edit", {"filePath": "a.py", "oldString": "x = 1", "newString": ""}, "x = 1"),
        ("edit", {"path": "a.py", "oldText": "x = 1", "newText": ""}, "x = 1"),
        ("editor", {"path": "a.py", "old_text": "x = 1", "new_text": ""}, "x = 1"),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "x = 1"}, "x = 1"),
        ("str_replace_editor", {"command": "insert", "path": "a.py", "insert_line": 3, "new_str": "y"}, ""),
        ("NotebookEdit", {"notebook_path": "a.py", "new_source": "y"}, ""),
    ],
)
def test_edits_say_what_they_quote(tool: str, arguments: dict[str, object], quotes: str) -> None:
    assert of(tool, **arguments) == (Access(EDIT, "a.py", quotes=quotes),)


def test_several_edits_in_one_call() -> None:
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}]
    expected = (Access(EDIT, "a.py", quotes="one"), Access(EDIT, "a.py", quotes="two"))
    assert of("MultiEdit", file_path="a.py", edits=edits) == expected


def test_blocks_to_replace_quote_what_they_search_for() -> None:
    diff = "------- SEARCH\none\ntwo\n=======\n1\n+++++++ REPLACE\n<<<<<<< SEARCH\nthree\n=======\n>>>>>>> REPLACE\n"
    found = of("replace_in_file", path="a.py", diff=diff)
    assert [access.quotes for access in found] == ["one\ntwo\n", "three\n"]


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
 one
-two
+2
@@
-three
*** Add File: src/b.py
+new
*** Delete File: src/c.py
*** End Patch"""
PATCHED = (
    Access(EDIT, "src/a.py", quotes="one\ntwo"),
    Access(EDIT, "src/a.py", quotes="three"),
    Access(WRITE, "src/b.py"),
    Access(WRITE, "src/c.py"),
)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("apply_patch", json.dumps({"input": PATCH})),
        ("apply_patch", PATCH),
        ("shell", json.dumps({"command": ["apply_patch", PATCH]})),
        ("shell", json.dumps({"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]})),
    ],
)
def test_a_patch_is_one_edit_for_each_hunk(tool: str, arguments: str) -> None:
    assert accesses(tool, arguments) == PATCHED


def test_a_patch_that_is_only_shown_or_kept_in_a_file_changes_nothing_else() -> None:
    assert of("bash", command=f"cat > x.patch <<'EOF'\n{PATCH}\nEOF") == (Access(WRITE, "x.patch"),)


def test_a_patch_by_path() -> None:
    changes = {
        "/r/a.rs": {"update": {"unified_diff": "@@ -1,2 +1 @@\n one\n-two\n", "move_path": "/r/d.rs"}},
        "/r/b.rs": {"add": {"content": "x"}},
    }
    expected = (Access(EDIT, "/r/a.rs", quotes="one\ntwo"), Access(WRITE, "/r/d.rs"), Access(WRITE, "/r/b.rs"))
    assert of("apply_patch", changes=changes) == expected


def test_listings_and_searches_are_what_they_ask_for() -> None:
    (listing,) = of("LS", path="/r/src/")
    assert (listing.verb, listing.resource) == (LIST, "/r/src")
    (search,) = of("Grep", pattern="def", path="src", output_mode="content")
    assert (search.verb, search.resource) == (SEARCH, "src")
    assert search == of("grep", output_mode="content", path="src/", pattern="def")[0]
    assert search != of("Grep", pattern="def", path="src", output_mode="count")[0]
    assert of("Glob", pattern="*.go")[0].query != of("Grep", pattern="*.go")[0].query


def test_a_page_is_known_by_its_address_and_question() -> None:
    (access,) = of("WebFetch", url="https://example.org/a/", prompt="What is it?")
    assert (access.verb, access.resource) == (READ, "https://example.org/a")
    assert access != of("WebFetch", url="https://example.org/a/", prompt="Who made it?")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "cat a.py", "workdir": "/r"},
        {"cmd": "cat /r/a.py"},
        {"command": ["cat", "/r/a.py"]},
        {"command": ["bash", "-lc", "cd /r && cat a.py"]},
        {"commands": ["cat /r/a.py"]},
    ],
)
def test_a_shell_is_given_its_command_in_many_ways(arguments: dict[str, object]) -> None:
    for tool in ("Bash", "shell", "execute_bash", "execute_command", "run_commands", "exec_command"):
        assert of(tool, **arguments) == (Access(READ, "/r/a.py"),)


def test_one_command_of_several_that_prints_something_else_leaves_no_reads() -> None:
    assert of("run_commands", commands=["cat a.py", "make"]) == ()


@pytest.mark.parametrize("tool", ["get_order_details", "calculate", "mcp__github__get_file_contents", "TodoWrite"])
def test_unknown_tools_access_nothing_and_may_have_written(tool: str) -> None:
    assert of(tool, path="src/a.py") == ()
    assert may_write(tool, '{"path": "src/a.py"}')


@pytest.mark.parametrize(
    "arguments", ["", "null", "7", "[]", "{", '{"file_path": 3}', '{"file_path": ""}', "[" * 99_999]
)
def test_malformed_arguments_access_nothing(arguments: str) -> None:
    for tool in ("Read", "Write", "Edit", "apply_patch", "bash"):
        assert accesses(tool, arguments) == ()


def test_an_application_brings_rules_of_its_own() -> None:
    own = Rule(("wiki_*",), resource=("title",), quotes=())
    assert accesses("Wiki_Page", '{"title": "Bach"}', (own, *BUILT_IN)) == (Access(READ, "Bach"),)
    assert accesses("Wiki_Page", '{"title": "Bach"}') == ()
    ssh = Rule(("remote",), form=Form.SHELL, resource=("line",))
    assert accesses("remote", '{"line": "cat /r/a"}', (ssh,)) == (Access(READ, "/r/a"),)


def test_the_first_rule_that_fits_counts() -> None:
    quiet = Rule(("read",), resource=("nothing",))
    assert accesses("read", '{"path": "a.py"}', (quiet, *BUILT_IN)) == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Read", {"file_path": "a"}, False),
        ("Write", {"file_path": "a"}, True),
        ("Grep", {"pattern": "a"}, False),
        ("bash", {"command": "git diff | head"}, False),
        ("bash", {"command": "python x.py"}, True),
        ("bash", {}, True),
    ],
)
def test_what_may_have_written(tool: str, arguments: dict[str, object], expected: bool) -> None:
    assert may_write(tool, json.dumps(arguments)) is expected


@pytest.mark.parametrize(
    ("path", "base", "expected"),
    [
        ("./a/../b/", "", "b"),
        ("//r//a.py", "", "/r/a.py"),
        ("a.py", "/r/x", "/r/x/a.py"),
        ("../a.py", "/r/x", "/r/a.py"),
        ("/a.py", "/r", "/a.py"),
        ("C:\\r\\a.py", "/x", "C:/r/a.py"),
        ("https://example.org/a//b/", "", "https://example.org/a//b"),
        ("", "/r", ""),
        ("a\nb", "", ""),
        ("x" * 5000, "", ""),
    ],
)
def test_paths_have_one_form(path: str, base: str, expected: str) -> None:
    assert normal(path, base) == expected


@given(st.sampled_from(("Read", "Edit", "Grep", "bash", "apply_patch", "replace_in_file")), json_bodies())
def test_any_json_is_read_without_failing(tool: str, arguments: bytes) -> None:
    assert all(access.resource for access in accesses(tool, arguments.decode()))
    assert may_write(tool, arguments.decode()) in (True, False)


@given(st.one_of(texts(), broken_texts()))
def test_any_text_is_a_value(text: str) -> None:
    arguments = json.dumps({"path": text, "old_string": text, "diff": text, "command": text, "pattern": text})
    for tool in ("read", "edit", "replace_in_file", "bash", "grep", text):
        assert all(access.resource for access in accesses(tool, arguments))


def test_long_queries_stay_short_and_still_differ_at_their_end() -> None:
    one, other = (of("grep", pattern="x" * 100_000 + end)[0].query for end in "ab")
    assert len(one) < 1000
    assert one != other
