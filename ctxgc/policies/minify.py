"""Minify: the whitespace of machine-made JSON goes; what it says, and how it is written, stays.

Rule: nothing is re-serialised, and nothing that an agent may have to quote back to an edit tool is touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict

_STRING_OR_SPACE = re.compile(r'("(?:[^"\\]++|\\.)*+")|[ \t\r\n]++', re.DOTALL)

# What an edit tool replaces must be quoted to the byte, so a file's own whitespace is part of what it says. Claude
# Code, Codex, OpenHands, SWE-agent, opencode, Cline, Cursor, Gemini CLI and the MCP file servers name them like this.
_FILES = (
    "*read*",
    "*view*",
    "*edit*",
    "*write*",
    "*patch*",
    "*replace*",
    "*file",
    "*file_*",
    "*files",
    "*_file*",
    "cat",
    "*_cat",
    "open",
    "open_*",
    "goto",
    "scroll*",
    "create",
    "*diff*",
    "*notebook*",
    "*git*",
    "*content*",
    "*document*",
    "*object*",
    "*config*",
    "*show*",
    "*print*",
    "*download*",
    "fs.*",
    "head",
    "tail",
    "sed",
    "jq",
)
# A search shows lines of files as they stand; of a file that is one line of JSON, the whole.
_SEARCHES = ("*grep*", "*search_dir*", "rg", "*ripgrep*", "*search_code*")
# A shell or an interpreter may print a file, and then its output is quoted back like a reader's.
_SHELLS = (
    "*bash*",
    "*shell*",
    "*terminal*",
    "*command*",
    "*exec*",
    "*stdin*",
    "*console*",
    "*ipython*",
    "python*",
    "*_python",
    "*interpreter*",
    "run",
    "run_*",
    "sh",
    "zsh",
    "*powershell*",
)


@dataclass(frozen=True, slots=True)
class Minify:
    """Remove insignificant whitespace from results that are one JSON object or array as a whole.

    ``except_tools``: tools left alone, as shell patterns, upper and lower case alike; by default those that read,
    edit or search files, and shells and interpreters, which may print one. A tool without a name is left alone too.
    ``min_saving``: characters that must go for it to be done; the note about it takes some itself.
    ``max_size``: characters of the longest text that is looked at; a longer one is for truncation.
    """

    except_tools: tuple[str, ...] = _FILES + _SEARCHES + _SHELLS
    min_saving: int = 200
    max_size: int = 1_000_000

    @property
    def name(self) -> str:
        """``minify``."""
        return "minify"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """A verdict for each arrival that is JSON with enough whitespace between its parts."""
        for arrival in heap.eden:
            if (
                len(arrival.text) > self.max_size
                or not _looks_like_json(arrival.text)
                or self._spared(arrival.block.name)
            ):
                continue
            text = _STRING_OR_SPACE.sub(r"\1", arrival.text)
            if len(arrival.text) - len(text) >= self.min_saving and _is_json(arrival.text):
                yield Verdict(arrival.id, self.name, "minify", "whitespace removed", text=text)

    def _spared(self, tool: str) -> bool:
        name = tool.lower()
        return not name or any(fnmatchcase(name, pattern.lower()) for pattern in self.except_tools)


def _looks_like_json(text: str) -> bool:
    ends = text[:64].lstrip(" \t\r\n")[:1] + text[-64:].rstrip(" \t\r\n")[-1:]
    return ends in ("{}", "[]")


def _is_json(text: str) -> bool:
    """Whether the text is JSON to a strict reader; one that is almost JSON may mean its whitespace."""
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True
