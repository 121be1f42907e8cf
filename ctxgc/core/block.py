"""Blocks: what every wire format has in common, and all that the heap, the policies and the counters know of a message.

Rule: a block says nothing about JSON but the path at which its text stands, which only the codec reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ctxgc.core.spans import Path


class Kind(StrEnum):
    """What a block is, in any wire format."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TOOL_SCHEMA = "tool_schema"
    REFUSAL = "refusal"
    IMAGE = "image"
    AUDIO = "audio"
    FILE = "file"
    OTHER = "other"


class Author(StrEnum):
    """Who wrote a block. Only the system and the user are trusted to pin (with the host, in process)."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Media:
    """What can be known of an image, a sound or a file without decoding it: pixels, the detail asked for, bytes."""

    width: int | None = None
    height: int | None = None
    detail: str | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """What an application said about a message: a tag of its own, and whether it is pinned."""

    tag: str | None = None
    pin: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest part of a message that has a role of its own.

    ``text`` is what the model reads of it (a call's arguments, a result's content); ``path`` is where that string
    stands inside the message, or None where it must not be edited; ``name`` is the tool's name.
    """

    kind: Kind
    author: Author
    text: str = ""
    path: Path | None = None
    name: str = ""
    call_id: str = ""
    media: Media | None = None
    overhead: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One element of a request's history (or its tool list), decoded.

    ``digest`` is the sha256 of its canonical form, in which volatile markers (cache breakpoints) are left out: two
    messages with one digest are the same message. ``role`` is the wire's own word.
    """

    digest: bytes
    role: str
    blocks: tuple[Block, ...]
    mark: Mark = field(default_factory=Mark)

    @property
    def author(self) -> Author:
        """Who wrote the message."""
        return self.blocks[0].author
