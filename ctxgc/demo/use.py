"""Short ways to write down the steps of a script: one function a tool.

Rule: these only make values; what the file tools answer is worked out when the script is played.
"""

from __future__ import annotations

from ctxgc.demo.script import Output, Use


def bash(command: str, output: Output) -> Use:
    """A command, and what it prints."""
    return Use("bash", {"command": command}, output)


def http_get(url: str, output: Output) -> Use:
    """A URL, and what the server answers."""
    return Use("http_get", {"url": f"http://localhost:8080{url}"}, output)


def read_file(path: str) -> Use:
    """A file to read."""
    return Use("read_file", {"path": path})


def list_files(path: str | None = None) -> Use:
    """A folder to list, or everything."""
    return Use("list_files", {} if path is None else {"path": path})


def grep(pattern: str, path: str | None = None) -> Use:
    """A pattern to look for."""
    return Use("grep", {"pattern": pattern} if path is None else {"pattern": pattern, "path": path})


def edit_file(path: str, old: str, new: str) -> Use:
    """A piece of text to replace, or with an empty ``old`` a file to create."""
    return Use("edit_file", {"path": path, "old_text": old, "new_text": new})
