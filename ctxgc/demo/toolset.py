"""What the scripted agent starts from: its system prompt and its tools.

Rule: the tools are the usual ones of a coding agent, and two of them are never called, as happens.
"""

from __future__ import annotations

from collections.abc import Mapping

SYSTEM = """You are a coding agent. You work in the repository of a Python web service, through the tools you are given.

How to work
- Look before you change: read the code that is involved and the tests that cover it.
- Reproduce a fault before you fix it, and run the tests after every change.
- Make the smallest change that solves the problem. Keep to the style of the code around it.
- Never weaken, skip or delete a test to make it pass.
- Do not touch files outside the repository, and do not install packages.
- Amounts of money are Decimal, never float, and are rounded half up to cents.
- SQL is always parametrised.
- Ask when a requirement can be read in two ways and the difference matters to a customer.

How to use the tools
- Prefer read_file, grep and list_files to shell commands that do the same.
- edit_file replaces one exact piece of text: quote it as it stands in the file, without the line numbers. With an
  empty old_text it creates the file.
- Calls that do not depend on each other may be made at once.
- The development server runs at http://localhost:8080 on a copy of the staging data and reloads when code changes.

How to report
- Say what was wrong, what you changed, and how you checked it. Keep it short.
- Mention what you noticed and did not change.
"""


def tools() -> tuple[Mapping[str, object], ...]:
    """The tools as a chat-completions request offers them."""
    path = _string("Path relative to the repository, such as parcelhub/app.py.")
    folder = _string("File or folder to look in; the whole repository if left out.")
    return (
        _tool(
            "bash",
            "Run a command in the repository and return its output. Times out after two minutes.",
            {"command": _string("The command line, for /bin/bash.")},
        ),
        _tool("read_file", "Read a text file. Lines come with their numbers.", {"path": path}),
        _tool(
            "edit_file",
            "Replace one exact piece of text in a file, which must be there once. An empty old_text creates the file.",
            {"path": path, "old_text": _string("The text to replace."), "new_text": _string("What to put there.")},
        ),
        _tool(
            "grep",
            "Search files for a regular expression. Returns path:line:text for every line that matches.",
            {"pattern": _string("A Python regular expression."), "path": folder},
            optional=("path",),
        ),
        _tool("list_files", "List files with their sizes in bytes.", {"path": folder}, optional=("path",)),
        _tool(
            "http_get",
            "Fetch a URL of the development server. JSON comes back indented.",
            {"url": _string("The URL, with its query.")},
        ),
        _tool(
            "web_search",
            "Search the web. Returns titles, addresses and excerpts of the best matches.",
            {
                "query": _string("What to search for."),
                "count": {"type": "integer", "description": "How many matches.", "minimum": 1, "maximum": 20},
                "newer_than": _string("Only pages changed since this date (YYYY-MM-DD)."),
            },
            optional=("count", "newer_than"),
        ),
        _tool(
            "run_sql",
            "Run a read-only query on the development database. Returns at most 200 rows as JSON.",
            {
                "query": _string("One SELECT statement; use :name for parameters."),
                "parameters": {"type": "object", "description": "Values of the parameters by name."},
            },
            optional=("parameters",),
        ),
    )


def _string(description: str) -> Mapping[str, object]:
    return {"type": "string", "description": description}


def _tool(
    name: str, description: str, properties: Mapping[str, object], optional: tuple[str, ...] = ()
) -> Mapping[str, object]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
