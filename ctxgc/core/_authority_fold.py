"""What a reader might see in a text, however it is disguised: folded words, and readings of what is encoded in it.

Rule: only ever used to refuse, so a reading too many does no harm. Meant for short texts.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote_plus

_TWINS = str.maketrans(
    "аеорсухіјѕԁһкмтвнгпԛԝӏαεορυνικτχβηρωıłøđß",
    "aeopcyxijsdhkmtbhrnqwlaeopuviktxbnpwilods",
)
"""Letters that pass for Latin ones."""
_LEET = tuple(str.maketrans("013456789@$!|+€", f"o{one}easgtbgas{one}{one}te") for one in "il")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+")
_LEETED = re.compile(r"[\w@$!|+€]+")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W_][\W_]{1,3}){3,}[^\W_](?![^\W_])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x|%|\b)?[0-9a-fA-F]{2}[ :,]?){4,}")
_ESCAPED = re.compile(r"\\u\{?([0-9a-fA-F]{2,6})\}?|\\x([0-9a-fA-F]{2})")
_CODES = re.compile(r"\b\d{2,3}(?:[ ,;]{1,2}\d{2,3}){3,}\b")
_LOWER = string.ascii_lowercase


def fold(text: str) -> str:
    """One case, no accents or marks, nothing invisible, compatible forms as one: ``É`` is ``e``."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if letter == "\n" or unicodedata.category(letter)[0] not in "CM")


def readings(text: str) -> Iterator[str]:
    """The text folded, as its words can be read: with look-alikes, digits and spaced-out letters put right."""
    parted = _HUMP.sub(" ", text)
    folded = fold(parted)
    latin = fold(folded.translate(_TWINS))
    yield " ".join(_WORD.findall(folded.replace("'", "").replace("’", "")))
    yield " ".join(_WORD.findall(latin.replace("'", "").replace("’", "")))
    for table in _LEET:
        mixed = (found[0] for found in _LEETED.finditer(fold(text).translate(_TWINS)))
        yield " ".join(_WORD.findall(" ".join(word.translate(table) for word in mixed if not word.isalpha())))


def turned(text: str) -> Iterator[str]:
    """The words of the text as they read backwards, and in the most usual cipher."""
    latin = fold(fold(_HUMP.sub(" ", text)).translate(_TWINS))
    yield " ".join(_WORD.findall(latin[::-1]))
    yield " ".join(_WORD.findall(latin.translate(str.maketrans(_LOWER, _LOWER[13:] + _LOWER[:13]))))


def joined(text: str) -> Iterator[str]:
    """Runs of single letters with something between them, without what is between them."""
    for found in _SPACED.finditer(fold(text).translate(_TWINS)):
        run = "".join(letter for letter in found[0] if letter.isalnum())
        yield from (run, *(run.translate(table) for table in _LEET))


def squeezed(text: str) -> Iterator[str]:
    """All letters of the text and nothing between them: as they are, turned round, and moved along the alphabet."""
    letters = "".join(letter for letter in fold(fold(text).translate(_TWINS)) if letter.isalpha())
    yield letters
    yield letters[::-1]
    for by in range(1, 26):
        yield letters.translate(str.maketrans(_LOWER, _LOWER[by:] + _LOWER[:by]))


def decoded(text: str, depth: int = 2) -> Iterator[str]:
    """What is encoded in the text: base64, hexadecimal, escapes of URLs, HTML and JSON, character codes."""
    for found in dict.fromkeys(_decoded(text)):
        if found != text:
            yield found
            if depth > 1:
                yield from decoded(found, depth - 1)


def _decoded(text: str) -> Iterator[str]:
    yield unquote_plus(text, errors="ignore")
    yield html.unescape(text)
    yield _ESCAPED.sub(lambda found: _character(int(found[1] or found[2], 16)), text)
    for found in _CODES.findall(text):
        yield "".join(_character(int(code)) for code in re.findall(r"\d+", found))
    for found in _HEX.findall(text):
        pairs = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", found)
        yield from _text(bytes.fromhex(pairs[: len(pairs) // 2 * 2]))
    for found in _BASE64.findall(text):
        yield from _base64(found)


def _character(code: int) -> str:
    return chr(code) if 9 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


def _base64(found: str) -> Iterator[str]:
    bare = found.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        yield from _text(base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True))
    except (binascii.Error, ValueError):
        return


def _text(data: bytes) -> Iterator[str]:
    """The bytes as text, if that is what they are."""
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if sum(letter.isalpha() or letter.isspace() for letter in found) * 2 > len(found):
        yield found
