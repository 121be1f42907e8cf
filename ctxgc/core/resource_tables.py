"""What tools do to resources, as data: verbs, accesses, rules for tools, names of shell commands, names of paths.

Rule: only values and tables. What is in no table is not understood, and what is not understood makes nothing stale.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum

LONGEST_PATH = 4096
"""Characters of the longest path: what is longer names no file."""
UNKNOWN = "\0"
"""Begins a path that cannot be known from the text of a call, such as one that a shell expands."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LONGEST_QUERY = 400


class Verb(StrEnum):
    """What a call does to a resource: a write replaces all of it, an edit some of it."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    LIST = "list"
    SEARCH = "search"


class Form(StrEnum):
    """How a tool's arguments say what it touches: by name, in a shell's language, as a patch, as blocks to replace."""

    NAMED = "named"
    SHELL = "shell"
    PATCH = "patch"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Access:
    """One thing that a call does to one resource.

    ``resource`` is a path in the form of ``normal``, a URL, or another key; never empty. ``start`` and ``end`` are the
    first and last line, counted from 1, both included; None is the beginning, or the end. ``query`` is what a search
    looks for or how a view is filtered, and part of its identity: empty for a plain read. ``quotes`` is what an edit
    quotes verbatim of what it replaces.
    """

    verb: Verb
    resource: str
    start: int | None = None
    end: int | None = None
    query: str = ""
    quotes: str = ""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a call does. ``whole``: it shows what the accesses say, no more; ``writes``: it may have changed files."""

    accesses: tuple[Access, ...] = ()
    whole: bool = True
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """How to read the calls of some tools. The first rule that fits a call is the one that counts.

    ``tools``: shell patterns for the tool's name, upper and lower case alike. ``where``: arguments and the pattern that
    the text of each must fit. ``resource``, ``start``, ``end``, ``limit`` (how many lines), ``span`` (a pair
    of first and last line), ``quotes``, ``folder`` (what relative paths start from), ``items`` (a list whose elements
    are accesses of their own): names of arguments, of which the first that is there counts. ``query``: the names that
    are part of the identity of a view; when empty, all that the rule does not name. ``default``: the resource where no
    argument names one. ``first``: the number that the tool gives a file's first line. ``partial``: the tool shows a
    part of its own choice. For ``Form.SHELL``, ``resource`` names the command line, for ``PATCH`` and ``BLOCKS``
    ``quotes`` names the text.
    """

    tools: tuple[str, ...]
    verb: Verb = Verb.READ
    form: Form = Form.NAMED
    where: tuple[tuple[str, str], ...] = ()
    resource: tuple[str, ...] = (
        *("file_path", "filePath", "path", "filepath", "file", "filename", "file_name", "target_file"),
        *("absolute_path", "relative_path", "relative_workspace_path", "notebook_path"),
    )
    start: tuple[str, ...] = ("offset", "start_line", "startLine", "start", "start_line_one_indexed")
    end: tuple[str, ...] = ("end_line", "endLine", "end", "end_line_one_indexed_inclusive")
    limit: tuple[str, ...] = ("limit", "max_lines", "num_lines", "line_count")
    span: tuple[str, ...] = ("view_range", "line_range", "range")
    quotes: tuple[str, ...] = ("old_string", "old_str", "oldString", "oldText", "old_text", "oldStr", "search")
    folder: tuple[str, ...] = ("workdir", "cwd", "directory", "dir_path")
    items: tuple[str, ...] = ("files", "paths", "edits")
    query: tuple[str, ...] = ()
    default: str = ""
    first: int = 1
    partial: bool = False


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "file_editor")
_DIRECTORIES = ("path", "dir_path", "directory", "dir", "relative_workspace_path", "target_directory", "folder")
_SHELLS = (
    *("bash", "shell", "sh", "execute_bash", "execute_command", "run_command", "run_commands", "run_shell_command"),
    *("terminal", "run_terminal_cmd", "run_in_terminal", "exec_command", "exec", "local_shell", "container.exec"),
)
_LINES = ("command", "cmd", "script", "commands")

BUILT_IN: tuple[Rule, ...] = (
    Rule(_SHELLS, form=Form.SHELL, resource=_LINES),
    *(
        Rule(_EDITORS, verb, where=(("command", command),))
        for command, verb in (
            ("view", Verb.READ),
            ("create", Verb.WRITE),
            ("str_replace", Verb.EDIT),
            ("insert", Verb.EDIT),
            ("undo_edit", Verb.EDIT),
        )
    ),
    Rule(("apply_patch",), Verb.EDIT, Form.PATCH, quotes=("input", "patch", "changes", "command")),
    Rule(("replace_in_file", "apply_diff"), Verb.EDIT, Form.BLOCKS, quotes=("diff",)),
    Rule(("read_file",), where=(("absolute_path", "*"),), first=0),
    Rule(("read", "read_file", "read_files", "read_many_files", "readfile", "notebookread", "mcp__filesystem__read_*")),
    Rule(("get_file", "get_file_contents", "get_file_content", "cat", "view", "view_file", "view_code", "viewcode")),
    Rule(("open", "open_file"), partial=True),
    Rule(("write", "write_file", "write_to_file", "save", "save_file", "create", "create_file"), Verb.WRITE),
    Rule(("delete_file", "mcp__filesystem__write_file"), Verb.WRITE),
    Rule(("edit", "multiedit", "multi_edit", "edit_file", "notebookedit", "editor", "replace"), Verb.EDIT),
    Rule(("str_replace", "search_replace", "insert", "append_to_file", "mcp__filesystem__edit_file"), Verb.EDIT),
    Rule(("ls", "list", "list_dir", "list_files", "list_directory"), Verb.LIST, resource=_DIRECTORIES, default="."),
    Rule(("tree", "mcp__filesystem__list_directory*"), Verb.LIST, resource=_DIRECTORIES, default="."),
    Rule(
        ("grep", "glob", "rg", "grep_search", "file_search", "find_file", "search_file", "search_dir", "search_files"),
        Verb.SEARCH,
        resource=(*_DIRECTORIES, "file"),
        default=".",
    ),
    Rule(("search_file_content", "codebase_search", "glob_file_search"), Verb.SEARCH, default="."),
    Rule(("search", "web_search", "websearch", "find"), Verb.SEARCH, resource=_DIRECTORIES, default="search"),
    Rule(("webfetch", "web_fetch", "fetch", "fetch_url", "read_url", "open_url", "get_url"), resource=("url", "uri")),
)
"""Rules for the tools of widely used agents, and for names that mean the same in most others."""

UNNAMED = _names("description explanation timeout should_read_entire_file instructions")
"""Arguments that never change what a call shows."""

SEARCHES = _names("grep egrep fgrep rg")
LISTINGS = _names("ls tree find")
VIEWS = _names("cat nl less more bat head tail sed wc")
"""Shell commands whose output is understood: searches, listings, and views of files."""
QUIET = _names("echo printf cd pushd popd pwd true false : test [ set export unset sleep wait exit umask")
SILENT = QUIET | _names("mkdir chmod touch rm mv cp tee apply_patch")
"""Shell commands whose own output says nothing that a later call would say again; the quiet ones change no files."""
FILTERS = SEARCHES | VIEWS | _names("awk column cut fold hexdump jq od rev sort strings tac tr uniq xxd")
"""Shell commands that show a view of what they are fed."""
HARMLESS = (
    ((QUIET | LISTINGS | FILTERS) - _names("sort uniq xxd"))
    | _names("basename cmp comm date df diff dirname du env expr file hostname id md5sum nproc paste printenv ps")
    | _names("realpath readlink seq sha256sum stat type uname which whoami")
)
"""Shell commands that change no file, but for some of their options."""
WRAPPERS = {"sudo": 1, "command": 1, "nohup": 1, "env": 1, "timeout": 2}
"""Shell commands that run the one that follows, and how many words they take."""
KEYWORDS = _names("for while until if then elif else fi do done case esac select function { } ! [[ time")
VALUED = {
    "head": _names("-n -c --lines --bytes"),
    "tail": _names("-n -c --lines --bytes"),
    "sed": _names("-e -f --expression --file"),
    "grep": _names("-e -f -A -B -C -m -g -t -T --include --exclude --exclude-dir"),
    "git": _names("-C -c --git-dir --work-tree"),
    "nl": _names("-b -s -w -v"),
}
"""Options that are followed by a value, by the command that has them."""
WORKTREE = ("git:status", "git:diff")
"""The resources that any write makes stale."""
GIT_VIEWS = _names("status diff log show")
GIT_HARMLESS = GIT_VIEWS | _names("blame ls-files ls-tree rev-parse grep shortlog describe cat-file")
GIT_STAGES = _names("add rm mv restore")
GIT_STALE = dict.fromkeys(GIT_STAGES, WORKTREE) | dict.fromkeys(
    _names("commit checkout switch reset stash merge rebase pull cherry-pick revert am apply clean"),
    (*WORKTREE, "git:log", "git:show"),
)
"""The resources that git's commands make stale, unless they are told not to act."""
GIT_DRY = _names("--dry-run --check --stat --numstat --help")

TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\r?\n)++|\#[^\n]*+)
      | (?P<here>\d*+<<(?!<)(?P<tabs>-?)[ \t]*+(?P<tag>'[^'\n]++'|"[^"\n]++"|[^\s;&|<>()'"]++))
      | (?P<copy>\d*+[<>]&[ ]?(?:\d++|-))
      | (?P<into>(?P<stream>\d*+|&)>(?P<append>>?)\|?)
      | (?P<source>\d*+<(?:<<)?)
      | (?P<joint>&&|\|\||\|&|[;&|\n])
      | (?P<word>(?:[^\s'"\\;&|<>()`$]++|'[^']*+'|"(?:[^"\\`$]|\\.|\$(?!\())*+"|\\.|\$(?![('"]))++)""",
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a shell's language, but for what runs other commands: that is not understood."""
PIECE = re.compile(r"""'([^']*+)'|"((?:[^"\\]|\\.)*+)"|\\(.)|([^'"\\]++)""", re.DOTALL)
ESCAPED = re.compile(r'\\([\\"$`\n])')
EXPANDED = re.compile(r"(?<!\\)\$[\w{@*#?!$-]")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+\+?=")
COUNT = re.compile(r"-(?:n ?|-lines[ =])?(\+?)(\d{1,9})")
LINES = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")
IN_PLACE = re.compile(r"-[nErsz]*i|--in-place")
RISKS = {
    "find": re.compile(r"^-(?:exec|ok|delete|fprint|fls)"),
    "git": re.compile(r"^--output"),
    "tree": re.compile(r"^-[a-zA-Z]*o$"),
    "sort": re.compile(r"^-[a-zA-Z]*o|^--output"),
    "awk": re.compile(r">|\||system|inplace"),
    "sed": re.compile(r"[wWe] |^-[nErsz]*i|^--in-place"),
}
"""Arguments with which a harmless command may change files."""


def normal(path: str, base: str = "") -> str:
    """A path without ``.``, ``..`` and doubled slashes, taken from ``base``; a URL as it is; "" for what is neither."""
    path = path.strip().removeprefix("file://")
    if not path or len(path) + len(base) > LONGEST_PATH or "\n" in path or UNKNOWN in path:
        return ""
    if "://" in path:
        return path.rstrip("/")
    if _DRIVE.match(path):
        path = path.replace("\\", "/")
    if not absolute(path):
        if UNKNOWN in base:
            return ""
        path = posixpath.join(base, path)
    path = posixpath.normpath(path)
    return f"/{path.lstrip('/')}" if path.startswith("/") else path


def absolute(path: str) -> bool:
    """Whether a path means the same wherever it is used."""
    return path.startswith(("/", "~")) or "://" in path or bool(_DRIVE.match(path))


def identity(text: str) -> str:
    """The text, or a short one that stands for it: as a ``query`` only sameness counts."""
    text = text.replace(UNKNOWN, "")
    if len(text) <= _LONGEST_QUERY:
        return text
    return f"{text[:_LONGEST_QUERY]}…{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
