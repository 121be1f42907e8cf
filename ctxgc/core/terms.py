"""What of a text can be referred to: its words, and terms such as identifiers, paths, ids, numbers and quoted names.

Rule: nothing but shape is looked at, and all of it in one pass that is linear in the text. Text is data: whatever it
says, it only ever becomes terms.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

from ctxgc.core._common import COMMON, COMMON_NUMBERS

LONGEST = 160
"""Characters of the longest term; longer runs (base64, minified code) are nobody's name."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# Scripts without spaces between words: each character is a word, so that shingles of words are character n-grams.
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
# The boundary in front keeps a failing search from starting again at every character of a long run.
_COMPOUND = re.compile(r"\b\w++(?:[./\\:@+~-]++\w++)++", re.ASCII)
# Begins with a digit, which is quick to search for, and takes at most three, so that long runs of digits stay linear.
_GROUPED = re.compile(r"\d{1,3}+(?:[,_'’ \u00a0\u2009\u202f]\d{3}(?!\d))++(?:\.\d++)?+")
_GROUP_MARKS = str.maketrans("", "", ",_'’ \u00a0\u2009\u202f")
_DOTTED_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_WITH_UNIT = re.compile(r"(\d{3,})[a-z]{1,3}")
_NAME = re.compile(r"[\"'`](\w{2,30}(?: \w{2,30}){1,2})[\"'`]")
_PROPER = re.compile(r"[A-Z]\w{1,29}(?: [A-Z]\w{1,29}){1,2}")
_MARKED = re.compile(r"[\"'`]([^\W\d_]{4,40})[\"'`]")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_HEX = re.compile(r"[0-9a-f]+")
_HASH_SIZES = frozenset((32, 40, 64))
_SEPARATORS = re.compile(r"[/\\]+")


def flat(text: str) -> str:
    """``text`` with the escapes ``\\n``, ``\\r`` and ``\\t`` turned into two spaces each: offsets stay what they were.

    Quoted text may be escaped on either side, once or several times over; this way all of it has the same words.
    """
    if "\\" not in text:
        return text
    return text.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ")


def decoded(text: str) -> tuple[str, array[int]]:
    """``text`` with ``\\uXXXX`` escapes read, and where in the result each of them stands (see ``original``)."""
    places: array[int] = array("Q")
    if "\\u" not in text:
        return text, places
    parts: list[str] = []
    last = size = 0
    for found in _ESCAPE.finditer(text):
        size += found.start() - last
        parts += (text[last : found.start()], chr(int(found[1], 16)))
        places.append(size)
        last, size = found.end(), size + 1
    return "".join((*parts, text[last:])), places


def words(text: str) -> list[str]:
    """The words of ``text``, in order and as they are written; in Chinese, Japanese and Korean each character."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def word_spans(text: str, start: int) -> Iterator[re.Match[str]]:
    """The words of ``text`` from the offset ``start``, which must not lie within a word."""
    return (_ASCII_WORD if text.isascii() else _WORD).finditer(text, start)


def introduced(text: str, lowered: Iterable[str]) -> set[str]:
    """The terms that ``text``, whose words in small letters are ``lowered``, introduces, as keys.

    A key is the term in small letters without punctuation around it, numbers without separators and trailing zeros
    behind the point: ``1,234,567.0`` and ``1234567`` are one. Weak terms (plain words) are among them.
    """
    plain = set(lowered).difference(COMMON)
    keys = {word for word in plain if 3 < len(word) <= LONGEST or (len(word) == 3 and word.isdigit())}
    keys.update(*map(_inner, [word for word in keys if len(word) > 31 or (word[0].isdigit() and not word.isdigit())]))
    keys.update(*map(_compound_keys, set(_COMPOUND.findall(text))))
    keys.update(map(number, _GROUPED.findall(text)))
    keys.update(map(str.lower, filter(_telling, set(_NAME.findall(text)))))
    keys.difference_update(COMMON)
    return keys


def mentioned(text: str) -> dict[str, str]:
    """The strong terms of ``text``: key to how it is written.

    Strong is what points at something by itself if hardly any text has it: identifiers, paths, ids, numbers, names
    and words in quotes or backticks.
    """
    grouped: dict[str, str] = {}
    compounds: dict[str, str] = {}
    rest = _GROUPED.sub(lambda match: grouped.setdefault(match[0], " "), text)
    rest = _COMPOUND.sub(lambda match: compounds.setdefault(match[0], " "), rest)
    found = {number(one): one for one in grouped}
    for compound in compounds:
        found.update((key, key if key in compound else compound) for key in _compound_keys(compound))
    for surface in dict.fromkeys(chain(words(rest), _parts(compounds))):
        if not (surface.isalpha() and surface.islower()):
            found.update(dict.fromkeys(_strong_word(surface), surface))
    for marked in chain(_MARKED.findall(text), _proper(text)):
        found.setdefault(marked.lower(), marked)
    return {key: surface for key, surface in found.items() if key not in COMMON and significant(key)}


def number(text: str) -> str:
    """A number without separators, leading zeros, and zeros that end its decimals."""
    digits = text.translate(_GROUP_MARKS)
    if _DOTTED_GROUPS.fullmatch(digits):
        digits = digits.replace(".", "")
    whole, point, rest = digits.partition(".")
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + rest if rest else "")


def significant(key: str) -> bool:
    """Whether a key is more than a round or well-known number or a year. Keys that are no numbers are."""
    digits = key.replace(".", "", 1)
    if not (digits.isdigit() and digits.isascii()):
        return True
    if key in COMMON_NUMBERS or (len(key) == 4 and key[:2] in ("19", "20")):
        return False
    return len(digits.strip("0")) > 2


def _strong_word(surface: str) -> tuple[str, ...]:
    """The keys of one written word, or nothing for a plain one."""
    if not 3 < len(surface) <= LONGEST:
        return (surface,) if len(surface) == 3 and surface.isdigit() and surface.isascii() else ()
    if surface.isalpha():
        inner = surface[1:]
        return (surface.lower(),) if inner != inner.lower() and not surface.isupper() else ()
    low = surface.lower()
    return (low, *_inner(low)) if low.strip("_") else ()


def _parts(compounds: Iterable[str]) -> Iterator[str]:
    """The words in compounds that may be names themselves; digits there are dates, times and pieces of ids."""
    return (word for compound in compounds for word in words(compound) if len(word) > 4 and not word[0].isdigit())


def _inner(word: str) -> tuple[str, ...]:
    """Other names of a word with digits: a number without its unit or underscores, a hash cut short."""
    unit = _WITH_UNIT.fullmatch(word)
    if unit:
        return (number(unit[1]),)
    if len(word) in _HASH_SIZES and _HEX.fullmatch(word):
        return word[:7], word[:8], word[:12]
    plain = word.replace("_", "")
    return (number(plain),) if plain.isdigit() and plain != word else ()


def _compound_keys(compound: str) -> tuple[str, ...]:
    """The keys of words held together by punctuation: the whole; of a path also its end."""
    if compound[0].isdigit() and compound.replace(".", "").isdigit():
        return (number(compound),)
    if not 4 < len(compound) <= LONGEST:
        return ()
    if not (compound[0].isalpha() or "/" in compound):
        return (compound.lower(),)  # a date, a time, an id
    low = compound.lower()
    body = low[2:].lstrip("/\\") if low[1] == ":" else low  # a drive
    body = body.partition(":")[0] if "//" not in low else body  # a line number
    parts = _SEPARATORS.split(body)
    return (low, body, *("/".join(parts[at:]) for at in (-1, -2) if len(parts) > -at)) if _naming(low) else ()


def _naming(low: str) -> bool:
    """Whether punctuation makes a name of the words: ``a-b`` of ordinary words is only English."""
    if "-" in low and low.replace("-", "").isalpha():
        return len(low) > 9 and any(part not in COMMON for part in low.split("-"))
    return True


def _telling(name: str) -> bool:
    return all(len(part) > 2 and part.lower() not in COMMON for part in name.split(" "))


def _proper(text: str) -> Iterator[str]:
    """Two and three capitalised words in a row, which somewhere else may be a name in quotes."""
    for name in _PROPER.findall(text):
        parts = name.split(" ")
        yield from filter(_telling, (" ".join(some) for some in (parts, parts[:2], parts[1:]) if len(some) > 1))
