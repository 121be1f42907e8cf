"""The stacks of a profile: session, tag family, tool or source, site; each with its tokens.

Rule: a frame's name holds nothing that does not print, and what was escaped can be told from what was not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.lab.profile import Profile


@dataclass(frozen=True, slots=True)
class Weight:
    """A figure that stacks are weighed by: its short name, and what it is in words. All are tokens."""

    name: str
    text: str


WEIGHTS = (
    Weight("sent", "tokens sent, in all requests"),
    Weight("received", "tokens received, in all requests"),
    Weight("resident", "tokens in the newest request"),
)
"""What the values of a stack are, in order."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Frames, the root first, and a value for each of ``WEIGHTS``."""

    frames: tuple[str, ...]
    values: tuple[int, int, int]


def stacks(profile: Profile) -> Iterator[Stack]:
    """The stacks of a session that weigh anything, the largest first."""
    root = escaped(profile.name) or "session"
    for tag, row in profile.stacks:
        values = (row.sent_turns, row.token_turns, row.resident)
        if any(values):
            yield Stack((root, *_frames(tag, row.name)), values)


def escaped(text: str, also: str = "") -> str:
    """``text`` with each character that does not print, each ``%`` and each of ``also`` as the percent signs and hex
    digits of its UTF-8 bytes, as in URLs: it can be undone, and lone surrogates are no exception."""
    if text.isprintable() and not any(char in text for char in "%" + also):
        return text
    return "".join(_byte(char) if char in "%" + also or not char.isprintable() else char for char in text)


def _byte(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _frames(tag: str, site: str) -> tuple[str, ...]:
    """The frames of a tag and a site; the site is left out where it says what the tag has said."""
    family, _, source = tag.partition(":")
    named = (family, source) if source else (family,)
    return tuple(escaped(name) or "unnamed" for name in (named if site == source else (*named, site)))
