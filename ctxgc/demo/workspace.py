"""The scripted agent's file tools, working on files in memory.

Rule: pure; a tool gives new files and what it prints, and an edit whose old text is not there exactly once is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Files = Mapping[str, str]


def perform(files: Files, tool: str, arguments: Mapping[str, object]) -> tuple[Files, str]:
    """What one of the file tools does to the files and prints. Raises ``ValueError`` for a script that is wrong."""
    given = {key: str(value) for key, value in arguments.items()}
    match tool:
        case "read_file":
            return files, numbered(files[given["path"]])
        case "list_files":
            return files, _list(files, given.get("path", "."))
        case "grep":
            return files, _grep(files, given["pattern"], given.get("path", "."))
        case "edit_file":
            return _edit(files, given["path"], given["old_text"], given["new_text"])
    raise ValueError(f"no file tool {tool!r}")


def numbered(text: str) -> str:
    """The text as a reader shows it: every line with its number."""
    return "".join(f"{number:>5}\t{line}\n" for number, line in enumerate(text.splitlines(), 1))


def _under(files: Files, path: str) -> list[str]:
    folder = "" if path == "." else path.rstrip("/") + "/"
    return sorted(name for name in files if name.startswith(folder) or name == path)


def _list(files: Files, path: str) -> str:
    return "".join(f"{len(files[name].encode()):>8}  {name}\n" for name in _under(files, path))


def _grep(files: Files, pattern: str, path: str) -> str:
    wanted = re.compile(pattern)
    found = (
        f"{name}:{number}:{line}\n"
        for name in _under(files, path)
        for number, line in enumerate(files[name].splitlines(), 1)
        if wanted.search(line)
    )
    return "".join(found) or "No matches.\n"


def _edit(files: Files, path: str, old: str, new: str) -> tuple[Files, str]:
    if not old:
        if path in files:
            raise ValueError(f"{path} exists")
        return {**files, path: new}, f"Created {path} ({len(new.splitlines())} lines)."
    text = files[path]
    if text.count(old) != 1:
        raise ValueError(f"{path}: the old text is there {text.count(old)} times")
    line = text[: text.index(old)].count("\n") + 1
    return {**files, path: text.replace(old, new)}, f"Edited {path}: 1 replacement at line {line}."
