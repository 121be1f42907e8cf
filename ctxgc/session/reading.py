"""Reading back: what a recall may ask of an original text, and the part of it that is given.

Rule: a part is never longer than its limit, never splits a grapheme, and its last line says what it is a part of and
how to ask for the next one. The command line, the MCP server and the model's own tool all read in this way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxgc.core.cuts import around
from ctxgc.core.stub import SIGIL
from ctxgc.session.positions import begins, byte, character, count, offset
from ctxgc.session.searching import WIDTH, find, rows

TOOL_NAME: Final = "ctxgc_recall"
DESCRIPTION: Final = (
    "Read back text that was taken out of this conversation. A line in square brackets with 'ctxgc:' and 16 characters "
    "stands where it was; the 16 characters are the handle. Long texts come in parts, and each says how to ask for the "
    "next; give lines, bytes or a term to search for to read only what is needed."
)
SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "The 16 characters after 'ctxgc:'."},
        "first_line": {"type": "integer", "minimum": 1, "description": "First line to read, counted from 1."},
        "last_line": {"type": "integer", "minimum": 1, "description": "Last line to read; to the end without it."},
        "first_byte": {"type": "integer", "minimum": 1, "description": "First byte (UTF-8) to read, counted from 1."},
        "last_byte": {"type": "integer", "minimum": 1, "description": "Last byte to read; to the end without it."},
        "search": {"type": "string", "description": "Only lines that hold this, in any case, and two lines around."},
    },
    "required": ["handle"],
    "additionalProperties": False,
}

END: Final = 1 << 53
"""The last line or byte where none is named: to the end of the text."""

MATCHES: Final = 20
"""Matches that one search shows at most."""

LONGEST_TERM: Final = 200
SMALLEST: Final = 1_000
"""The smallest limit: it has room for the last line and, whatever the text, for one grapheme."""

_NOTE = 200
_HANDLE = re.compile(r"[a-z2-7]{16}\Z")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recall asks for: ``lines`` or ``bytes`` (UTF-8), from 1, both ends included; ``search`` looks in these."""

    handle: str
    lines: tuple[int, int] | None = None
    bytes: tuple[int, int] | None = None
    search: str = ""


def bare(handle: str) -> str:
    """The handle itself, of a stub, of a pointer (``[handle lines 1-4]``), or of what is left of one when copied."""
    begun = handle[:256].strip().lower().removeprefix(SIGIL[:1])
    return begun.removeprefix(SIGIL[1:]).partition(" ")[0].rstrip("]")


def parse(arguments: str) -> Asked:
    """What the tool's JSON arguments ask for; null, "" and 0 count as not given. Raises ``ValueError``, one line."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        raise ValueError("the arguments are not JSON") from None
    if not isinstance(given, dict):
        raise ValueError("the arguments must be a JSON object with a handle")
    return decoded(given)


def decoded(given: Mapping[str, object]) -> Asked:
    """What decoded arguments ask for. Raises ``ValueError``."""
    written, term = given.get("handle"), search_term(given.get("search"))
    handle = bare(written) if isinstance(written, str) else ""
    if not _HANDLE.match(handle):
        raise ValueError("handle must be the 16 characters after 'ctxgc:' in a stub")
    lines, octets = _range(given, "line"), _range(given, "byte")
    if lines and octets:
        raise ValueError("give lines or bytes, not both")
    return Asked(handle, lines, octets, term)


def search_term(given: object) -> str:
    """The term to search for; empty where none is given. Raises ``ValueError``."""
    term = given or ""
    if not isinstance(term, str) or len(term) > LONGEST_TERM or "\n" in term:
        raise ValueError(f"the term to search for must be one line of at most {LONGEST_TERM} characters")
    return term


def excerpt(text: str, asked: Asked, limit: int = 20_000) -> str:
    """What is given back of a text: the part that was asked for, as much of it as ``limit`` characters hold.

    A text that is given whole comes as it is; a part is followed by a line like ``[lines 1-200 of 950; ask for
    first_line=201]``. Where a line alone is too long, the part is counted in bytes. A search gives numbered lines: of
    one longer than ``WIDTH``, what is around the match. Raises ``ValueError`` for a limit below ``SMALLEST``.
    """
    if limit < SMALLEST:
        raise ValueError(f"the limit must be at least {SMALLEST} characters")
    start, end = _selected(text, asked)
    if asked.search:
        return _matches(text, asked, start, end, limit - _NOTE)
    if (start, end) == (0, len(text)) and end <= limit:
        return text
    return _part(text, asked, start, end, limit - _NOTE)


def _range(given: Mapping[str, object], unit: str) -> tuple[int, int] | None:
    first, last = (_number(f"{end}_{unit}", given.get(f"{end}_{unit}")) for end in ("first", "last"))
    if not (first or last):
        return None
    if last and last < first:
        raise ValueError(f"last_{unit} is before first_{unit}")
    return first or 1, last or END


def _number(name: str, value: object) -> int:
    """A number as models write them: 7, 7.0 or "7"; 0 where none is given."""
    if isinstance(value, str):
        value = value.strip()
        value = int(value) if len(value) < 20 and re.fullmatch("[0-9]+", value) else value or None
    if value is None or isinstance(value, bool):
        value = 0 if value is None else -1
    if not isinstance(value, int | float) or value < 0 or value != value or (value < END and value != int(value)):
        raise ValueError(f"{name} must be a whole number, counted from 1")
    return int(min(value, END))


def _selected(text: str, asked: Asked) -> tuple[int, int]:
    """The characters that the lines or bytes asked for are; bytes are widened to whole graphemes."""
    if asked.lines is not None:
        start = offset(text, 0, asked.lines[0] - 1)
        return start, offset(text, start, asked.lines[1] - asked.lines[0] + 1)
    if asked.bytes is not None:
        start, end = character(text, asked.bytes[0] - 1, up=False), character(text, asked.bytes[1], up=True)
        return around(text, start)[0], around(text, end)[1]
    return 0, len(text)


def _part(text: str, asked: Asked, start: int, end: int, room: int) -> str:
    if start == end:
        return f"[nothing there: the text has {_some(count(text), 'line')}, {_some(byte(text, len(text)), 'byte')}]"
    stop = end
    if end - start > room:  # at a line end, or else inside the line
        stop = text.rfind("\n", start, start + room) + 1 or around(text, start + room)[0]
    lines = asked.bytes is None and begins(text, start) and (begins(text, stop) or stop == len(text))
    note = _lines(text, start, stop) if lines else _bytes(text, start, stop)
    note += f"; ask for {_next(text, stop, end, lines=lines)}" if stop < end else ""
    return f"{text[start:stop]}{'' if begins(text, stop) else chr(10)}[{note}]"


def _lines(text: str, start: int, stop: int) -> str:
    first = text.count("\n", 0, start) + 1
    return f"lines {first}-{first + count(text[start:stop]) - 1} of {count(text)}"


def _bytes(text: str, start: int, stop: int) -> str:
    return f"bytes {byte(text, start) + 1}-{byte(text, stop)} of {byte(text, len(text))}"


def _next(text: str, at: int, end: int, *, lines: bool) -> str:
    """The arguments that ask for what lies between two offsets."""
    unit = "line" if lines else "byte"
    first = text.count("\n", 0, at) if lines else byte(text, at)
    last = count(text[:end]) if lines else byte(text, end)
    return f"first_{unit}={first + 1}" + (f", last_{unit}={last}" if end < len(text) else "")


def _matches(text: str, asked: Asked, start: int, end: int, room: int) -> str:
    width = min(WIDTH, room // 8)
    found = find(text, asked.search, start, end, width)
    hits = list(islice(found, MATCHES + 1))
    total = len(hits) + sum(1 for _ in found)
    shown, number = rows(text, hits[:MATCHES], (start, end), width, room)
    note = f"{_some(total, 'match')} in {_some(count(text), 'line')}"
    if number < total:
        following = hits[number]
        lines = asked.bytes is None and following.end - following.start <= width
        at = following.start if lines else around(text, following.at)[0]
        note = f"{number} of {note}; for more search again with {_next(text, at, end, lines=lines)}"
    return "".join(f"{row}\n" for row in shown) + f"[{note}]"


def _some(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 'es' if word.endswith('h') else 's'}"
