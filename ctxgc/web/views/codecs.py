"""The codec that a journal names.

Rule: a format that this version cannot read is an error with one line, and never guessed at.
"""

from __future__ import annotations

from ctxgc.errors import InputError
from ctxgc.wire.codec import Codec
from ctxgc.wire.openai_chat import OpenAIChat


def codec_of(name: str) -> Codec:
    """The codec of that name. Raises ``InputError``."""
    if name != OpenAIChat.name:
        raise InputError(f"the session is of the wire format {name!r}, which this version cannot read")
    return OpenAIChat()
