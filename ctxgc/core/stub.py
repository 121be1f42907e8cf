"""Stubs: the forwarding pointers left where content was collected, and what keeps others from forging them.

Rule: a stub describes and never commands, is made from its inputs alone (so that it caches), and its handle is a MAC:
text from outside can neither guess one nor pass for one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import unicodedata

SIGIL = "[ctxgc:"
TOKENS = 48
"""Upper bound of the tokens of one gap stub: what a policy reserves for it."""

_SITE_LENGTH = 100
_OPENING = r"\[\uff3b\u3014\u3010\u3016\u3018\u301a\u27e6\u2045\u2772\ufe47"
_COLON = r":\uff1a\u2236\ufe55\ufe13\ua789\u02d0"
# Between bracket and colon: the letters, and anything that is not plain visible ASCII (what it is, ``_folded`` tells).
_CANDIDATE = re.compile(rf"[{_OPENING}](?:(?![{_OPENING}{_COLON}])[cCtTxXgG\x00-\x20\x7f-\U0010ffff]){{5,}}+[{_COLON}]")
_LOOKALIKES = str.maketrans("сСтТхХԍϲχτɡցᴄᴛɢ", "ccttxxgcxtggctg")
_HANDLE = re.compile(r"\[ctxgc:([a-z2-7]{16}) ")


def mint(secret: bytes, session: bytes, content: bytes) -> str:
    """The handle of a content in a session: 80 bits of HMAC-SHA256 as 16 characters of base32, always the same."""
    mac = hmac.digest(secret, b"ctxgc handle\0" + session + content, hashlib.sha256)
    return base64.b32encode(mac[:10]).decode().lower()


def gap(handle: str, unit: str, first: int, last: int, total: int) -> str:
    """The stub for units ``first`` to ``last`` (counted from 1) of ``total`` in the middle of a text."""
    return f"{SIGIL}{handle} {unit} {first}-{last} of {total} not shown]"


def note(handle: str, what: str) -> str:
    """The stub at the end of a text that stands in another form: ``what`` was done to it."""
    return f"{SIGIL}{handle} {what}]"


def pointer(handle: str, site: str) -> str:
    """The stub for a result that is already in context, where the call ``site`` gave it first."""
    shown = site if len(site) <= _SITE_LENGTH else f"{site[: _SITE_LENGTH - 20]}…{site[-16:]}"
    return f"{SIGIL}{handle} unchanged: same output as the earlier {defuse(shown)}]"


def evacuated(handle: str, what: str, why: str, *, offered: bool) -> str:
    """The stub at the head of what is left of a cell: how much that is, why, and how to see the rest.

    Where the recall tool is ``offered`` its description says what a handle is for; else the call can be made again.
    """
    return f"{SIGIL}{handle} {what}: {why}]" if offered else f"{SIGIL}{handle} {what}: {why}; call again for all]"


def defuse(text: str) -> str:
    """``text`` with everything that could pass for a stub made visibly not one; most texts come back as they are."""
    if text.isascii() and "[" not in text:  # the bracket is the one part of a disguise that ASCII has no other form of
        return text
    return _CANDIDATE.sub(_quoted, text)


def _quoted(found: re.Match[str]) -> str:
    plain = found[0] == SIGIL or _folded(found[0][1:-1]) == "ctxgc"
    return "[quoted ctxgc:" if plain else found[0]


def handles(text: str) -> tuple[str, ...]:
    """The handles that stand in a text written by us, in order."""
    return tuple(_HANDLE.findall(text))


def _folded(text: str) -> str:
    """The letters that a reader sees in ``text``: one alphabet, one case, no spaces, marks or invisible characters."""
    # Before and after: decomposing makes another letter of some of them, and one of them of others.
    folded = unicodedata.normalize("NFKD", text.translate(_LOOKALIKES)).translate(_LOOKALIKES).casefold()
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] not in "CMZ")
