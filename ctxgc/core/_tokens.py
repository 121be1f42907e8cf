"""Tokens of a line: what stands in its columns, and of what kind each is when digits and names are taken out.

Rule: only the beginning of a line is read, and every pattern is bounded, so that a line costs what its length says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ctxgc.core import _columns
from ctxgc.core._columns import Flags

LOOKED_AT = 1000
"""Characters of a unit that are read."""

_TOKEN = re.compile(r'"[^"\n]{0,300}"|\[[^\[\]\n]{0,60}\]|\S+')
_PAIR = re.compile(r"""([A-Za-z_][\w.-]{0,40})=("[^"\n]{0,80}"|'[^'\n]{0,80}'|[^\s,;"'>]{0,80})""")
_MEMBER = re.compile(r"""(?:[-*] )?["']?([A-Za-z_][\w .-]{0,40}?)["']?\s?: (.{1,80})""")
_TIME = re.compile(
    r"[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d\S{0,40}|\d\d?:\d\d(?::\d\d)?\S{0,20}|\d\d/[A-Z][a-z]{2}/\d{4}\S{0,20})"
)
_HEX = re.compile(r"(?:0x)?[0-9a-f]{7,64}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
_PATH = re.compile(
    r"[\"']?(?:\w{1,12}://\S{1,250}|[\w.@~+-]{0,200}/\S{0,200}|[\w+@-][\w+@.-]{0,120}\.[A-Za-z]\w{0,8}[:,\"']{0,2})"
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBERED = re.compile(r"\s{0,12}(\d{1,8})\s?[\u2192|:\t]")
_MOSTLY = 0.6
_WORD = re.compile(r"\w+")
_SHAPED = 100
_DELIMITERS = "\t|,;"
_FAILURE = re.compile(
    r"\b(?:error|fatal|critical|panic|exception|traceback|fail|fails|failed|failure|warn|warning|denied|refused|timeout"
    r"|aborted|abort|crashed|crash|segfault|killed|unauthorized|forbidden|corrupt|corrupted|emerg|alert|err)\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC|FAILED|FAIL|FAILURE|Traceback|panicked|(?:[eE]rror|fatal|panic)(?=:))\b"
)


def unnumbered(lines: Sequence[str]) -> Sequence[str]:
    """The lines without their numbers, where nearly all are numbered: a file with line numbers is no table."""
    found = [_NUMBERED.match(line) for line in lines]
    numbers = [int(one[1]) for one in found if one]
    steps = sum(following - one == 1 for one, following in pairwise(numbers))
    if steps < 0.8 * len(lines):
        return lines
    return [line[one.end() :] if one else line for line, one in zip(lines, found, strict=True)]


def delimiter(lines: Sequence[str]) -> str:
    """The character that separates the fields of nearly all lines, at least two times in each; empty: whitespace."""
    for mark in _DELIMITERS:
        if mark in lines[len(lines) // 2] or mark in lines[len(lines) // 3]:
            (number, times) = Counter(line.count(mark) for line in lines).most_common(1)[0]
            if number >= 2 and times >= 0.8 * len(lines):
                return mark
    return ""


def tokens(line: str, mark: str = "") -> list[str]:
    """The columns of a line: between delimiters, else between spaces; quotes and brackets hold together."""
    if mark:
        return [field.strip() for field in line.split(mark)]
    return _TOKEN.findall(line)


def kind(token: str) -> str:
    """What a token looks like: a plain word is itself; times, hex, paths and quotes are named; digits are taken out."""
    token = token[:300]
    if token[:1] in "\"'" and token[-1:] == token[:1] and len(token) > 1:
        return "<quoted>"
    if _TIME.match(token):
        return "<time>"
    if _HEX.fullmatch(token.strip("()[]{},.:;")):
        return "<hex>"
    if token.isalpha():
        return token
    if _PATH.fullmatch(token):
        return "<path>"
    key, mark, _ = token.partition("=")
    return f"{key}=" if mark and key.isidentifier() else _DIGITS.sub("0", token)


def suffix(token: str) -> str:
    """The ending of a path's name, with the mark that listings put behind it; ``/`` for a folder."""
    name = token.rstrip("\"',:").rpartition("/")[2]
    if not name:
        return "/"
    stem, dot, ending = name.rpartition(".")
    return _DIGITS.sub("0", ending) if dot and stem else f"none{name[-1:] if not name[-1:].isalnum() else ''}"


def folder(token: str) -> str:
    """The folder that a path lies in, digits taken out."""
    return _DIGITS.sub("0", token.rpartition("/")[0])


def root(token: str) -> str:
    """Where a path begins: its first folder; of a URL, its protocol and host; of a mail address, the host."""
    protocol, mark, rest = token.rpartition("://")
    place = rest.partition("/")[0] if "/" in rest else rest.rpartition("@")[2] if "@" in rest else ""
    return protocol + mark + _DIGITS.sub("0", place)


def path_flags(rows: Sequence[int], texts: Sequence[str], looks: Sequence[str]) -> Flags:
    """What is odd about paths and addresses, where most of the texts are such: ending, folder, beginning."""
    found = [(row, text) for row, text, look in zip(rows, texts, looks, strict=True) if look == "<path>"]
    if len(found) < _MOSTLY * len(rows):
        return
    places = [row for row, _ in found]
    for part in (suffix, folder, root):
        yield from _columns.rare(places, [part(text) for _, text in found])


def pairs(line: str) -> list[tuple[str, str]]:
    """The ``key=value`` pairs of a line, or the one ``key: value`` that it is."""
    if "=" in line:
        return _PAIR.findall(line)
    found = _MEMBER.match(line.lstrip()) if ": " in line else None
    return [(f"{found[1]}:", found[2].rstrip(", "))] if found else []


def shape(line: str) -> str:
    """How a line begins with all words and numbers alike: its punctuation and spaces."""
    return _WORD.sub("w", line[:_SHAPED])


def failure(text: str) -> str:
    """The first word of a text that tells of a failure, in small letters; empty: none does."""
    found = _FAILURE.search(text)
    return found[0].lower() if found else ""


def reports(line: str) -> bool:
    """Whether a line reports an error the way that programs do: ``ERROR``, ``error:``, ``FAILED``, ``Traceback``."""
    return _REPORT.search(line) is not None
