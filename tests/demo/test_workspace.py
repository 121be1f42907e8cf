from __future__ import annotations

import pytest

from ctxgc.demo.workspace import perform

FILES = {"a.py": "one\ntwo\n", "b/c.py": "two\n"}


def test_reading_numbers_the_lines() -> None:
    assert perform(FILES, "read_file", {"path": "a.py"}) == (FILES, "    1\tone\n    2\ttwo\n")


def test_grep_names_file_and_line() -> None:
    assert perform(FILES, "grep", {"pattern": "^tw"})[1] == "a.py:2:two\nb/c.py:1:two\n"
    assert perform(FILES, "grep", {"pattern": "^tw", "path": "b"})[1] == "b/c.py:1:two\n"
    assert perform(FILES, "grep", {"pattern": "three"})[1] == "No matches.\n"


def test_listing_has_sizes() -> None:
    assert perform(FILES, "list_files", {"path": "b"})[1] == "       4  b/c.py\n"


def test_an_edit_makes_new_files() -> None:
    files, printed = perform(FILES, "edit_file", {"path": "a.py", "old_text": "two", "new_text": "2"})
    assert (files["a.py"], FILES["a.py"]) == ("one\n2\n", "one\ntwo\n")
    assert printed == "Edited a.py: 1 replacement at line 2."


def test_an_edit_without_old_text_makes_a_file() -> None:
    assert perform(FILES, "edit_file", {"path": "d.py", "old_text": "", "new_text": "x\n"})[0]["d.py"] == "x\n"


@pytest.mark.parametrize(
    ("path", "old"), [("a.py", "three"), ("a.py", "o"), ("a.py", "")], ids=["absent", "twice", "exists"]
)
def test_an_edit_that_does_not_fit_is_an_error_of_the_script(path: str, old: str) -> None:
    with pytest.raises(ValueError, match=r"a\.py"):
        perform(FILES, "edit_file", {"path": path, "old_text": old, "new_text": "x"})


def test_an_unknown_tool_is_an_error_of_the_script() -> None:
    with pytest.raises(ValueError, match="no file tool"):
        perform(FILES, "bash", {})
