"""Texts on their way into a ledger's log and into its error lines.

Rule: what is recorded can be recorded as UTF-8; what is shown is one line of bounded length.
"""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Decimal

_LONE = re.compile("[\ud800-\udfff]")
_SHOWN = 80
_ASKED = 2_000


def clean(text: str) -> str:
    """``text`` with lone surrogates, which no log can hold, as U+FFFD."""
    return _LONE.sub("\ufffd", text)


def to_bytes(content: str | bytes) -> bytes:
    """Content as it is kept: bytes as they are, text in UTF-8 (lone surrogates in the three bytes they would have)."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")


def to_text(content: bytes) -> str:
    """Kept content for reading; bytes that are no UTF-8 become U+FFFD."""
    return content.decode("utf-8", "replace")


def shown(text: str) -> str:
    """``text`` for an error line: quoted, on one line, at most about 80 characters."""
    cut = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}…{text[-16:]}"
    return "'" + "".join(letter if letter.isprintable() else " " for letter in cut) + "'"


def asked(**questions: object) -> str:
    """What a verifier was asked, as canonical JSON; of what is long, size and hash."""
    whole = _canonical(questions)
    if len(whole) <= _ASKED:
        return whole
    return asked(sha256=hashlib.sha256(whole.encode()).hexdigest(), size=len(whole))


def value(given: object) -> str:
    """A JSON value for an error line."""
    return str(given) if isinstance(given, Decimal) else _canonical(given)


def _canonical(given: object) -> str:
    return json.dumps(given, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)
