"""Whether a text speaks of people and their will: who allows, wants, says or commands what.

Rule: on doubt it does. What is refused here is not lost, it only stays a claim.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ctxgc.core import _authority_words as words
from ctxgc.core import constraints
from ctxgc.core._authority_fold import decoded, fold, joined, readings, squeezed, turned

_CUE = (
    r"(?:^|[.;:!?,>\]})(|\"'`#*/\n•][ \t]*|[ \t][-–—=][>]?[ \t]*|^[-–—][ \t]*"
    r"|\b(?:and|then|now|next|first|please|also|or|just|(?<!failed )(?<!unable )to|step \d+)[ \t]+)"
)
_COMMAND = re.compile(rf"{_CUE}({'|'.join(sorted(words.COMMANDS.split()))})(?=[ \t]+[^\s=:|])", re.MULTILINE)
_PHRASES = re.compile(words.PHRASES)
_ALONE = re.compile(r"(?<![\w.@/-])[^\W\d_]+(?![\w@/-])")
_PRONOUNS = frozenset(words.PRONOUNS.split())
_LONG = 7
"""Letters from which a stem is looked for across words."""
_MIDDLING = 5
"""The same in words that were turned round or spaced out."""


@dataclass(frozen=True, slots=True)
class _Stems:
    """The words of some groups: ``exact`` ones, beginnings of words, and what counts wherever it stands."""

    exact: frozenset[str]
    starts: frozenset[str]
    within: tuple[str, ...]
    middling: tuple[str, ...]
    long: tuple[str, ...]


def leave(text: str) -> str:
    """The word in ``text`` by which somebody allows something, or has the right to; empty where there is none."""
    return next(_found(text, _stems(words.LEAVE)), "")


def people(text: str) -> str:
    """The word in ``text`` that names somebody in whose name things are said, or allows; empty where there is none."""
    return next(_found(text, _stems(words.LEAVE + words.PEOPLE)), "")


def speech(text: str) -> str:
    """The word in ``text`` that speaks of people and their will, or commands; empty where nothing does."""
    return next(_spoken(text), "")


def _spoken(text: str) -> Iterator[str]:
    yield from _found(text, _stems(words.LEAVE + words.PEOPLE + words.WILL))
    for view in (text, *decoded(text)):
        folded = fold(view)
        yield from (found[1] for found in _COMMAND.finditer(folded))
        yield from (found[0] for found in _ALONE.finditer(folded.replace("'", "")) if found[0] in _PRONOUNS)
        yield from (view[start:end] for start, end in constraints.binding(view))


def _found(text: str, stems: _Stems) -> Iterator[str]:
    for view in (text, *decoded(text)):
        for reading in readings(view):
            yield from _hits(reading, stems)
        for reading in turned(view):
            yield from (word for word in _hits(reading, stems) if len(word) >= _MIDDLING)
        for run in joined(view):
            yield from (stem for stem in stems.middling if stem in run)
        for run in squeezed(view):
            yield from (stem for stem in stems.long if stem in run)


def _hits(reading: str, stems: _Stems) -> Iterator[str]:
    for word in reading.split():
        if word in stems.exact or any(word[:size] in stems.starts for size in range(3, len(word) + 1)):
            yield word
    if not reading.isascii():
        yield from (stem for stem in stems.within if stem in reading)
    yield from (found[0] for found in _PHRASES.finditer(reading))


@cache
def _stems(table: str) -> _Stems:
    exact, starts, within = set(), set(), set()
    for entry in table.split():
        stem = fold(entry.rstrip("."))
        if not _spaced(stem):
            within.add(stem)
        elif entry.endswith("."):
            exact.add(stem)
        else:
            starts.add(stem)
    allowing = {fold(entry) for entry in words.LEAVE.split() if not entry.endswith(".")}
    long = (stem for stem in starts & allowing if stem == "approv" or (stem.isascii() and len(stem) >= _LONG))
    middling = (stem for stem in starts | exact if stem.isascii() and len(stem) >= _MIDDLING)
    sets = (tuple(sorted(found)) for found in (within, middling, long))
    return _Stems(frozenset(exact), frozenset(starts), *sets)


def _spaced(stem: str) -> bool:
    """Whether the script of a stem parts words by spaces and adds nothing in front of them."""
    return all(unicodedata.name(letter, "").split(" ")[0] in ("LATIN", "CYRILLIC") for letter in stem)
