"""Shell command lines: which files their simple commands read and write, as far as the text alone can tell.

Rule: never a guess. A line is taken for reads only where all that it prints is accounted for, and for a write only
where the write is sure to have been tried.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ctxgc.core import resource_tables as tables
from ctxgc.core.resource_tables import UNKNOWN, Access, Effects, Verb, identity, normal

_VARIABLE = UNKNOWN * 2
_DEPTH = 3
_MOST = 4096  # tokens of a line that are looked at
_Range = tuple[int | None, int | None]
_ALL: _Range = (None, None)


@dataclass(slots=True)
class _Command:
    """A simple command: what joins it to the one before, its words without quotes, where its output goes.

    UNKNOWN stands before a word with wildcards, and twice before one with variables.
    """

    joint: str
    words: list[str] = field(default_factory=list)
    into: list[tuple[str, Verb]] = field(default_factory=list)
    hidden: bool = False


def effects(line: str, base: str = "", depth: int = 0) -> Effects:
    """What a command line does when run in the folder ``base``; ``depth`` counts the shells it is run by."""
    pipelines, understood = _Splitter(line).split()
    found: list[Effects] = []
    skipped = False
    for pipeline in pipelines:
        words, joint = pipeline[0].words, pipeline[0].joint
        if words and words[0] in tables.KEYWORDS:
            understood = False
            break
        skipped = joint == "||" or (skipped and joint == "&&")
        found.append(_pipeline(pipeline, base, depth, skipped))
        if words and words[0] in ("cd", "pushd", "popd"):
            target = words[1] if len(words) > 1 else "~"
            base = normal(target, base) if words[0] == "cd" and target != "-" and not skipped else ""
            base = base or UNKNOWN
    return _together(found, understood)


def _together(found: Sequence[Effects], understood: bool) -> Effects:
    """The effect of commands one after the other. Where something else was printed as well, nothing was read."""
    whole = understood and all(effect.whole for effect in found)
    accesses = (access for effect in found for access in effect.accesses)
    sure = tuple(access for access in accesses if whole or not _shown(access))
    return Effects(sure, whole, not understood or any(effect.writes for effect in found))


def _shown(access: Access) -> bool:
    return access.verb not in (Verb.WRITE, Verb.EDIT)


class _Splitter:
    """Splits a line into simple commands, up to the first thing that it does not understand."""

    def __init__(self, line: str) -> None:
        self.line, self.at = line, 0
        self.last = _Command("")
        self.pipelines = [[self.last]]
        self.here: list[re.Match[str]] = []
        self.expected: re.Match[str] | None = None

    def split(self) -> tuple[list[list[_Command]], bool]:
        """The commands by pipelines, and whether these are all. Of a commit, it is enough to know that it is one."""
        understood, left = True, _MOST
        while understood and self.at < len(self.line):
            found = tables.TOKEN.match(self.line, self.at)
            left -= 1
            understood = found is not None and left > 0 and self._take(found)
        if not self.last.words and not self.last.into:
            understood = understood and self.last.joint in ("", "\n", ";", "&")
        if not (understood or self.last.words[:2] == ["git", "commit"]):
            self.last.words, self.last.into = [], []
        return self.pipelines, understood

    def _take(self, found: re.Match[str]) -> bool:
        self.at, kind = found.end(), found.lastgroup
        if kind == "word":
            self._word(_unquoted(found[0]))
        elif kind in ("into", "source"):
            self.expected = found
        elif kind == "here":
            self.here.append(found)
        elif kind == "joint":
            return self._join(found[0])
        return True

    def _word(self, word: str) -> None:
        command, expected, self.expected = self.last, self.expected, None
        if expected is None:
            command.words.append(word)
        elif expected.lastgroup == "into":
            command.hidden |= expected["stream"] in ("", "1", "&")
            if not word.startswith("/dev/"):
                command.into.append((word, Verb.EDIT if expected["append"] else Verb.WRITE))

    def _join(self, joint: str) -> bool:
        if joint == "\n":
            self._skip_documents()
        if not self.last.words and not self.last.into:
            return joint == "\n"
        self.last = _Command(joint)
        if joint not in ("|", "|&"):
            self.pipelines.append([])
        self.pipelines[-1].append(self.last)
        return True

    def _skip_documents(self) -> None:
        for found in self.here:
            tag, tabs = re.escape(found["tag"].strip("'\"\\")), r"\t*" if found["tabs"] else ""
            end = re.compile(rf"^{tabs}{tag}\r?$", re.MULTILINE).search(self.line, self.at)
            self.at = end.end() if end else len(self.line)
        self.here.clear()


def _unquoted(word: str) -> str:
    parts, mark = [], ""
    for single, double, escaped, plain in tables.PIECE.findall(word):
        parts.append(single or tables.ESCAPED.sub(r"\1", double) or escaped or plain)
        if tables.EXPANDED.search(double) or tables.EXPANDED.search(plain):
            mark = _VARIABLE
        elif not mark and any(sign in plain for sign in "*?[{"):
            mark = UNKNOWN
    return mark + "".join(parts)


def _pipeline(pipeline: Sequence[_Command], base: str, depth: int, skipped: bool) -> Effects:
    """What a pipeline does; of one that is ``skipped`` unless another failed, nothing is sure."""
    effect = _command(pipeline[0].words, base, depth)
    for command in pipeline[1:]:
        effect = _filtered(effect, command.words, base)
    kept = tuple(access for access in effect.accesses if not (pipeline[-1].hidden and _shown(access)))
    into = [target for command in pipeline for target in command.into]
    writes = effect.writes or bool(into)
    if skipped:
        return Effects((), effect.whole and not any(map(_shown, kept)), writes)
    written = (Access(verb, path) for word, verb in into if (path := normal(word, base)))
    return Effects((*kept, *written), effect.whole, writes)


def _changes(paths: Sequence[str], base: str, verb: Verb = Verb.WRITE) -> tuple[Access, ...]:
    """One access for each path that is known."""
    return tuple(Access(verb, known) for path in paths if (known := normal(path, base)))


def _command(words: Sequence[str], base: str, depth: int) -> Effects:
    words = _unwrapped(words)
    if not words:
        return Effects()
    name, arguments = posixpath.basename(words[0]), words[1:]
    if name in ("bash", "sh", "zsh") and len(words) > 2 and re.fullmatch("-[a-z]*c", words[1]):
        known = depth < _DEPTH and UNKNOWN not in words[2]
        return effects(words[2], base, depth + 1) if known else Effects((), False, True)
    if name == "git":
        return _git(arguments, base)
    changed = (
        _changed(name, arguments, base) if name != "touch" else _changes(tables.WORKTREE, "")
    )  # what a file holds, it leaves
    if changed or name in tables.SILENT:
        return Effects(changed, True, bool(changed) or name not in tables.HARMLESS)
    harmless = name in tables.HARMLESS and not _risky(name, arguments)
    read = _read(name, arguments, base) if harmless and _VARIABLE not in "".join(arguments) else None
    return Effects(read or (), read is not None, not harmless)


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """The words without assignments, and without commands that run the one that follows."""
    at = 0
    while at < len(words) and (tables.ASSIGNMENT.match(words[at].lstrip(UNKNOWN)) or words[at] in tables.WRAPPERS):
        at += tables.WRAPPERS.get(words[at], 1) if at + 1 < len(words) else 1
    return words[at:]


def _risky(name: str, arguments: Sequence[str]) -> bool:
    """Whether a command that is harmless as a rule may write with these arguments."""
    risks = tables.RISKS.get(name)
    return risks is not None and any(map(risks.search, arguments))


def _operands(name: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The options, with the values of those that take one, as one text; and the other words."""
    options, operands, valued = list[str](), list[str](), False
    for word in arguments:
        option = valued or (len(word) > 1 and word.startswith("-"))
        (options if option else operands).append(word)
        valued = not valued and word in tables.VALUED.get(name, ())
    return " ".join(options), [word for word in operands if word]


def _changed(name: str, arguments: Sequence[str], base: str) -> tuple[Access, ...]:
    options, paths = _operands(name, arguments)
    if name == "sed" and tables.IN_PLACE.match(options):
        scripted = " -e" in options or " -f" in options
        return _changes(paths if scripted else paths[1:], base, Verb.EDIT)
    if name in ("rm", "tee"):
        return _changes(paths, base, Verb.EDIT if name == "tee" and "-a" in options else Verb.WRITE)
    if name not in ("mv", "cp") or len(paths) < 2 or options.startswith("-t"):
        return ()
    *sources, target = paths
    inside = len(sources) > 1 or target.endswith(("/", "."))
    targets = [f"{target}/{posixpath.basename(source)}" for source in sources] if inside else [target]
    return _changes([*(sources if name == "mv" else ()), *targets], base)


def _read(name: str, arguments: Sequence[str], base: str) -> tuple[Access, ...] | None:
    """What a command shows, or None where that cannot be told."""
    text = identity(" ".join((name, *arguments)))
    options, operands = _operands("grep" if name in tables.SEARCHES else name, arguments)
    if name in tables.SEARCHES or name in tables.LISTINGS:
        places = operands[1:] if name in tables.SEARCHES and " -e" not in f" {options}" else operands
        place = normal(places[0], base) if len(places) == 1 else base
        verb = Verb.SEARCH if name in tables.SEARCHES else Verb.LIST
        return (Access(verb, place or base or ".", query=text),) if UNKNOWN not in base else None
    if name not in tables.VIEWS:
        return None
    script = operands.pop(0) if name == "sed" and operands and "-e" not in options else ""
    paths = [normal(path, base) if path != "-" else "" for path in operands]
    lines = _range(name, options, script) if name != "sed" or len(paths) == 1 else None
    if not all(paths):
        return None
    query = "" if lines else identity(f"{name} {options} {script}".strip())
    return tuple(Access(Verb.READ, path, *(lines or _ALL), query=query) for path in paths)


def _range(name: str, options: str, script: str) -> _Range | None:
    """The lines that a command shows of what it is given, or None where it shows something else."""
    if name == "cat":
        return _ALL if re.fullmatch("(?:-[nbu]++ ?)*+", options) else None
    if name in ("head", "tail"):
        found = tables.COUNT.fullmatch(options or "-10")
        if found is None or (name == "head") == bool(found[1]):
            return None
        return (None, int(found[2])) if name == "head" else (int(found[2]), None)
    if name == "sed":
        found = tables.LINES.fullmatch(script)
        if found is None or options not in ("-n", "-En", "-nE"):
            return None
        return int(found[1]), int(found[1]) if found[2] is None else None if found[2] == "$" else int(found[2])
    return _ALL if name in ("nl", "less", "more") or (name == "bat" and not options) else None


def _filtered(effect: Effects, words: Sequence[str], base: str) -> Effects:
    """The effect of a pipeline that goes on to the command of ``words``."""
    words = _unwrapped(words)
    name, arguments = (posixpath.basename(words[0]), words[1:]) if words else ("", ())
    if name == "tee":
        return Effects((*effect.accesses, *_changed(name, arguments, base)), effect.whole, True)
    if name not in tables.FILTERS or _risky(name, arguments) or _VARIABLE in "".join(words):
        return Effects(effect.accesses, False, True)
    options, operands = _operands(name, arguments)
    alone = sum(map(_shown, effect.accesses)) == 1
    lines = _range(name, options, operands[0] if operands else "") if alone else None
    text = identity(" ".join(words))
    accesses = (_narrowed(access, lines, text) if _shown(access) else access for access in effect.accesses)
    return replace(effect, accesses=tuple(accesses))


def _narrowed(access: Access, lines: _Range | None, text: str) -> Access:
    if lines is None or access.verb is not Verb.READ or access.query:
        return replace(access, query=identity(f"{access.query} | {text}".strip()))
    (first, last), before = lines, (access.start or 1) - 1
    start = before + (first or 1) if first or access.start else None
    ends = [end for end in (access.end, last and before + last) if end]
    return replace(access, start=start, end=min(ends, default=None))


def _git(arguments: Sequence[str], base: str) -> Effects:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in tables.VALUED["git"] else 1
    act, words = "".join(arguments[at : at + 1]), arguments[at + 1 :]
    text = f"{base}: git {' '.join(arguments)}"
    if act in tables.GIT_HARMLESS or words[:1] in (["list"], ["show"]):
        known = act in tables.GIT_VIEWS and _VARIABLE not in text and not base.startswith(UNKNOWN)
        risky = _risky("git", words)
        shown = (Access(Verb.READ, f"git:{act}", query=identity(text)),) if known and not risky else ()
        return Effects(shown, bool(shown), risky)
    if act not in tables.GIT_STALE or not tables.GIT_DRY.isdisjoint(words):
        return Effects((), False, True)
    stale = _changes(tables.GIT_STALE[act], "")
    files = words[words.index("--") + 1 :] if act in ("checkout", "restore") and "--" in words[:-1] else ()
    stale += _changes(files if at == 0 else (), base)
    return Effects(stale, act in tables.GIT_STAGES, True)
