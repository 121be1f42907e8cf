"""What a block adds to a request, in tokens of one model: its text, its framing, or an estimate of its media.

Rule: measuring never raises: where a tokenizer fails, four bytes are taken for one token and the count is not exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.block import Block, Kind, Media
from ctxgc.tokens.counter import TextCounter, counter_for
from ctxgc.tokens.framing import count_tool_schema
from ctxgc.tokens.images import image_tokens

_AUDIO_BYTES = 4_800
"""Bytes of 24 kHz 16-bit sound per token, at the 10 tokens a second that OpenAI bills for audio input."""
_FILE_BYTES = 4


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts for one model."""

    model: str
    counter: TextCounter

    @property
    def exact(self) -> bool:
        """False where the model's own tokenizer is not known, so that counts are estimates until calibrated."""
        return self.counter.exact

    def count(self, text: str) -> int:
        """Tokens of a text."""
        try:
            return self.counter.count(text)
        except Exception:  # a tokenizer is foreign code, and no count is worth a request
            return (len(text.encode("utf-8", "replace")) + 3) // 4

    def warming(self, text: str) -> Iterator[int]:
        """Count a long text in steps of one tokenizer call each, so that counting it afterwards is a look-up."""
        try:
            yield from self.counter.steps(text)
        except Exception:  # see count
            return

    def measure(self, block: Block) -> int:
        """Tokens of a block with its framing."""
        return block.overhead + self._content(block)

    def _content(self, block: Block) -> int:
        if block.kind is Kind.TOOL_SCHEMA:
            return count_tool_schema(block.text, self.counter)
        if block.kind is Kind.TOOL_CALL:
            return self.count(block.name) + self.count(block.text)
        if block.kind is Kind.IMAGE:
            media = block.media or Media()
            return image_tokens(self.model, media.width, media.height, media.detail)
        if block.media is not None:
            return block.media.size // (_AUDIO_BYTES if block.kind is Kind.AUDIO else _FILE_BYTES)
        return self.count(block.text)


def meter_for(model: str) -> Meter:
    """The meter for a model, by its name as a request has it. Never raises, never asks a network."""
    return Meter(model, counter_for(model))
