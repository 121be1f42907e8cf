"""Which items of a model the host may post as facts on the strength of their quotes alone, and why not the others.

Rule: a fact may only say what the voucher shows, and text from tools can never become a permission, an instruction, a
preference, an identity or a decision of somebody. Structure is looked at first, words second; what is doubtful stays a
claim.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from ctxgc.core import stub
from ctxgc.core._authority_said import adds, denied
from ctxgc.core._authority_speech import leave, people, speech
from ctxgc.core._texts import occurrences
from ctxgc.core.block import Author, Kind
from ctxgc.core.compaction import Item
from ctxgc.core.record import Original

SHORTEST, LONGEST, LINES = 8, 400, 3
"""Characters of a quote, from and to, and the most lines it may be on. A statement is as long at most."""

_BESIDE, _NEAR, _TRIED = 120, 48, 50
_IDEOGRAPHS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL"})
_SCRIPTS = _IDEOGRAPHS | {"LATIN", "CYRILLIC", "ARABIC", "DEVANAGARI"}
_SYMBOLS = frozenset("✓✔✗✘×•·–—…→←↑↓°±§€£¥©®▲▼●○■□★☆⚠")
_DISTINCT = re.compile(r"\d|[\w.-]*[/\\]\w|\w_\w|[a-z][A-Z]|\w\.[a-zA-Z]\w")
_WORDS = re.compile(r"[^\W\d_]+")
_SOURCES = {
    "facts": (Author.TOOL, Kind.TOOL_RESULT),
    "decisions_made": (Author.AGENT, Kind.TEXT),
}


def postable(item: Item, original: Original) -> str:
    """Empty if the host may post the item as a fact because its quote stands in ``original``; else why not.

    Of what tools gave, neither statement nor quote may speak of people and their will, nor may the quote's line and
    those next to it, and nothing around them may allow anything. What the agent said may not speak in others' names.
    """
    return structural(item, original) or _spoken(item, original)


def structural(item: Item, original: Original) -> str:
    """The first half of ``postable``: all that can be told without knowing what words mean."""
    if not _may_come_from(item, original):
        return f"{item.field} cannot rest on this kind of text"
    if not SHORTEST <= len(item.quote) <= LONGEST or item.quote.count("\n") >= LINES:
        return "the quote is too short or too long"
    if not 0 < len(item.text) <= LONGEST or "\n" in item.text:
        return "the statement is empty, too long or not on one line"
    if (odd := _odd(item.text) or _odd(item.quote)) != "":
        return odd
    if _DISTINCT.search(item.quote) is None:
        return "the quote holds no number, path or identifier"
    return _standing(item, original) or adds(item.text, item.quote)


def _may_come_from(item: Item, original: Original) -> bool:
    if item.cell != original.cell:
        return False
    if item.field == "constraints_learned":
        return original.author in (Author.USER, Author.SYSTEM) and original.kind is Kind.TEXT
    return _SOURCES.get(item.field) == (original.author, original.kind)


def _odd(text: str) -> str:
    """Why a text is not plain: forms that are not what they look like, what is not seen, mixed alphabets, stubs."""
    if text.isascii():
        plain = all(letter.isprintable() or letter in "\n\t" for letter in text)
        return ("" if plain else "control characters") or _stubbed(text)
    if unicodedata.normalize("NFKC", text) != text:
        return "characters that stand for others"
    if not all(map(_usual, text)):
        return "unusual or invisible characters"
    if any(len(set(map(_script, word)) - _IDEOGRAPHS) > 1 for word in _WORDS.findall(text)):
        return "a word of more than one alphabet"
    return _stubbed(text)


def _stubbed(text: str) -> str:
    return "" if stub.defuse(text) == text else "it looks like a stub"


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0]


def _usual(letter: str) -> bool:
    if letter.isascii():
        return letter.isprintable() or letter in "\n\t"
    category, script = unicodedata.category(letter), _script(letter)
    if category[0] == "L":
        late = script == "LATIN" and letter > "\u017f"  # letters of phonetics and the like, which pass for others
        return script in _SCRIPTS and (not late or "\u0218" <= letter <= "\u021b" or "\u1e00" <= letter <= "\u1eff")
    if category[0] == "M":
        return script in ("ARABIC", "DEVANAGARI")
    return (
        letter in _SYMBOLS or category in ("Pd", "Po", "Ps", "Pe", "Pi", "Pf", "Nd") or "\u2500" <= letter <= "\u257f"
    )


def _standing(item: Item, original: Original) -> str:
    """Why the quote does not stand in the text as it is quoted: nowhere, in parts of words, or in what is denied."""
    places = list(islice(occurrences(original.text, item.quote), _TRIED))
    if not places:
        return "the quote does not stand in the text"
    whole = [at for at in places if _whole(original.text, at, at + len(item.quote))]
    if not whole:
        return "the quote begins or ends within a word or number"
    # Wherever it stands: one place where it is denied is enough to leave it to a reader.
    beside = (_line_beside(original.text, at, at + len(item.quote)) for at in whole)
    return "what stands beside the quote may deny it" if any(denied(*sides) for sides in beside) else ""


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    first, last = text[start], text[end - 1]
    if before and _joined(before[-1]) and _joined(first):
        return False
    if after and _joined(last) and _joined(after[0]):
        return False
    if first.isdigit() and before and before[-1] in "-+.,:/":
        return False
    return not (last.isdigit() and len(after) == 2 and after[0] in ".,:" and after[1].isdigit())


def _joined(letter: str) -> bool:
    return letter == "_" or (letter.isalnum() and _script(letter) not in _IDEOGRAPHS)


def _line_beside(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - _NEAR) : start].rpartition("\n")[2], text[end : end + _NEAR].partition("\n")[0]


def _spoken(item: Item, original: Original) -> str:
    if original.author is Author.AGENT:
        word = people(item.text) or people(item.quote)
    elif original.author is Author.TOOL:
        word = speech(item.text) or speech(item.quote) or next(_beside(item, original), "")
    else:
        word = ""
    return f"it speaks of people and what they want: {word[:40]!r}" if word else ""


def _beside(item: Item, original: Original) -> Iterator[str]:
    """What the lines beside the quote say of people, and that those around them allow something."""
    for at in islice(occurrences(original.text, item.quote), _TRIED):
        end = at + len(item.quote)
        before, after = original.text[max(0, at - _BESIDE) : at], original.text[end : end + _BESIDE]
        lines = "\n".join(before.split("\n")[-2:]) + item.quote + "\n".join(after.split("\n")[:2])
        yield from filter(None, (speech(lines), leave(before + item.quote + after)))
