"""Who reads and writes what: from a tool's name and the arguments of one call to accesses of resources.

Rule: reads the call's own words and nothing else. A call that no rule fits, or that is malformed, accesses nothing.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ctxgc.core import shell
from ctxgc.core.resource_tables import BUILT_IN, UNNAMED, Access, Effects, Form, Rule, Verb, identity, normal

__all__ = ["BUILT_IN", "Access", "Form", "Rule", "Verb", "accesses", "may_write"]

_PATCH = "*** Begin Patch"
_HEADINGS = {
    "*** Add File: ": Verb.WRITE,
    "*** Delete File: ": Verb.WRITE,
    "*** Update File: ": Verb.EDIT,
    "*** Move to: ": Verb.WRITE,
}
_BLOCK_NOTES = (":start_line:", ":end_line:", "-------\n")

Arguments = Mapping[str, object]


def accesses(tool: str, arguments: str, tables: Sequence[Rule] = BUILT_IN) -> tuple[Access, ...]:
    """What a call of ``tool`` with ``arguments`` (JSON, or the text of a free-form call) does, in order.

    The first of ``tables`` that fits is followed. Nothing is known of a call that none fits, of one whose arguments
    are not what the rule expects, and of a shell command that is not understood. Never raises.
    """
    return _effects(tool, arguments, tables).accesses


def may_write(tool: str, arguments: str, tables: Sequence[Rule] = BUILT_IN) -> bool:
    """Whether the call may have changed a file, known or not. True of all that is not known only to read."""
    return _effects(tool, arguments, tables).writes


def _effects(tool: str, arguments: str, tables: Sequence[Rule]) -> Effects:
    name = tool.casefold().removeprefix("functions.")
    given = _parsed(arguments)
    rule = next((rule for rule in tables if _fits(rule, name, given)), None)
    if rule is None:
        return Effects((), False, True)
    if rule.form is Form.SHELL:
        return _shell(rule, given)
    try:
        found = tuple(dict.fromkeys(_found(rule, name, given, arguments)))
    except RecursionError:  # nested nearly too deep to be read
        found = ()
    return Effects(found, True, rule.verb in (Verb.WRITE, Verb.EDIT))


def _parsed(arguments: str) -> Arguments:
    """The arguments by name; a list or a text that stands alone is called ``command``."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    if isinstance(given, dict):
        return given
    return {"command": given} if isinstance(given, str | list) else {}


def _fits(rule: Rule, name: str, given: Arguments) -> bool:
    if not any(fnmatchcase(name, pattern.casefold()) for pattern in rule.tools):
        return False
    return all(isinstance(text := given.get(key), str) and fnmatchcase(text, value) for key, value in rule.where)


def _found(rule: Rule, name: str, given: Arguments, arguments: str) -> Iterator[Access]:
    base = _text(given, rule.folder)
    if rule.form is Form.PATCH:
        changes = _first(given, rule.quotes)
        if isinstance(changes, dict):
            yield from _changes(changes, base)
        else:
            yield from _patched(changes if isinstance(changes, str) else arguments, base)
        return
    outer = _text(given, rule.resource)
    items = _first(given, rule.items)
    many = isinstance(items, list) and rule.verb not in (Verb.LIST, Verb.SEARCH)
    for item in items if isinstance(items, list) and many else [given]:
        own = item if isinstance(item, dict) else {rule.resource[0]: item}
        resource = normal(_text(own, rule.resource) or outer or rule.default, base)
        if resource:
            yield from _named(rule, name, own, resource)


def _named(rule: Rule, name: str, given: Arguments, resource: str) -> Iterator[Access]:
    match rule.verb:
        case Verb.WRITE:
            yield Access(rule.verb, resource)
        case Verb.EDIT:
            quotes = _text(given, rule.quotes)
            blocks = _blocks(quotes) if rule.form is Form.BLOCKS else [quotes]
            yield from (Access(rule.verb, resource, quotes=quote) for quote in blocks)
        case Verb.READ:
            start, end = _range(rule, given)
            shown = _query(rule, given, (*rule.resource, *rule.start, *rule.end, *rule.limit, *rule.span))
            backward = (start or 1) < 1 or (end is not None and end < (start or 1))
            if rule.partial or backward:  # which lines these are, only the tool knows
                shown, start, end = identity(f"{name} {shown} {start}-{end}"), None, None
            yield Access(rule.verb, resource, start, end, shown)
        case Verb.LIST | Verb.SEARCH:
            yield Access(rule.verb, resource, query=f"{name} {_query(rule, given, rule.resource)}")


def _range(rule: Rule, given: Arguments) -> tuple[int | None, int | None]:
    """The first and last line that a read asks for, as numbers from 1; None for the beginning and the end."""
    span = _first(given, rule.span)
    if isinstance(span, str):
        span = span.replace(":", "-").split("-")
    first, last = span if isinstance(span, list) and len(span) == 2 else (None, None)
    start, end = _number(first), _number(last)
    start = start if start is not None else _number(_first(given, rule.start))
    end = end if end is not None else _number(_first(given, rule.end))
    limit = _number(_first(given, rule.limit))
    start = None if start is None else start + 1 - rule.first
    if end is None and limit:
        end = (start or 1) + limit - 1
    return start or None, None if end == -1 else end


def _query(rule: Rule, given: Arguments, named: Sequence[str]) -> str:
    """The arguments that make another view of a resource, in one form; "" for none."""
    known = {*named, *rule.folder, *UNNAMED, *(name for name, _ in rule.where)}
    names = rule.query or [name for name in given if name not in known]
    rest = {name: given[name] for name in names if given.get(name) not in (None, "", [], {}, False)}
    return identity(json.dumps(rest, sort_keys=True, ensure_ascii=False)) if rest else ""


def _first(given: Arguments, names: Sequence[str]) -> object:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _text(given: Arguments, names: Sequence[str]) -> str:
    return next((text for name in names if isinstance(text := given.get(name), str) and text), "")


def _number(value: object) -> int | None:
    """A line number, however an agent has written it."""
    if isinstance(value, str) and len(value) < 10:
        value = int(value) if value.strip().removeprefix("-").isdecimal() else None
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _shell(rule: Rule, given: Arguments) -> Effects:
    command, base = _first(given, rule.resource), normal(_text(given, rule.folder))
    if isinstance(command, list) and "commands" not in given:
        words = [word for word in command if isinstance(word, str)]
        lines = words[2:3] if len(words) > 2 and words[1] in ("-c", "-lc") else [shlex.join(words)]
    else:
        lines = [line for line in (command if isinstance(command, list) else [command]) if isinstance(line, str)]
    found = [_line(line, base) for line in lines]
    whole = bool(found) and all(effect.whole for effect in found)
    together = tuple(access for effect in found for access in effect.accesses)
    shown = (Verb.READ, Verb.LIST, Verb.SEARCH)
    sure = tuple(access for access in together if whole or access.verb not in shown)
    return Effects(sure, whole, not found or any(effect.writes for effect in found))


def _line(line: str, base: str) -> Effects:
    before, _, patch = line.partition(_PATCH)
    if patch and "apply_patch" in before:
        return Effects(tuple(_patched(patch, base)), False, True)
    return shell.effects(line, base)


def _patched(patch: str, base: str) -> Iterator[Access]:
    """The accesses of a patch with headings: one edit for each hunk, which quotes the lines that it expects."""
    path, hunk = "", list[str]()
    for line in patch.split("\n"):
        heading = next((heading for heading in _HEADINGS if line.startswith(heading)), None)
        if heading or line.startswith(("@@", "*** End")):
            yield from _hunk(path, hunk)
            hunk = []
        if heading:
            named = normal(line.removeprefix(heading), base)
            path = named if _HEADINGS[heading] is Verb.EDIT else ""
            if named and not path:
                yield Access(_HEADINGS[heading], named)
        elif line.startswith((" ", "-", "+")):
            hunk.append(line)
    yield from _hunk(path, hunk)


def _hunk(path: str, lines: Sequence[str]) -> Iterator[Access]:
    if path and lines:
        yield Access(Verb.EDIT, path, quotes="\n".join(line[1:] for line in lines if not line.startswith("+")))


def _changes(changes: Mapping[str, object], base: str) -> Iterator[Access]:
    """The accesses of a patch by path: each is added, deleted, or updated by a unified diff."""
    for name, change in changes.items():
        path = normal(name, base)
        update = change.get("update", change) if isinstance(change, dict) else None
        diff = update.get("unified_diff") if isinstance(update, dict) else None
        if path and isinstance(update, dict) and isinstance(diff, str):
            yield from _patched(f"*** Update File: {path}\n{diff}", "")
            path = normal(_text(update, ("move_path",)), base)
        if path:
            yield Access(Verb.WRITE, path)


def _blocks(text: str) -> list[str]:
    """What each block of a SEARCH/REPLACE text searches for; one empty quote where there is no block."""
    quotes, open_block = list[list[str]](), False
    for line in text.splitlines(keepends=True):
        if line.rstrip().endswith(" SEARCH") and line.startswith(("-------", "<<<<<<<")):
            quotes.append([])
            open_block = True
        elif line.startswith("======="):
            open_block = False
        elif open_block and not line.startswith(_BLOCK_NOTES):
            quotes[-1].append(line)
    return ["".join(quote) for quote in quotes] or [""]
