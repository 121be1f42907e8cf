"""Counting tokens of text offline.

Rule: ordinary text gets exactly the count one tokenizer call on the whole would give; no text, model name or
broken installation makes counting fail, hang or reach for the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from .chunks import chunks
from .engines import Engine, EngineName, shared_engine
from .memo import CountMemo, content_key
from .models import encoding_of

MEMO_FROM = 512
"""Length in characters from which a count is remembered; below it counting costs no more than hashing."""


class Counter(Protocol):
    """Anything that counts the tokens of text for one model."""

    @property
    def encoding(self) -> str:
        """The name of the encoding counted with."""

    @property
    def exact(self) -> bool:
        """Whether the model is known to use this encoding; False for an estimate."""

    def count(self, text: str) -> int:
        """The number of tokens of `text`."""


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextCounter:
    """Counts text with one engine, in bounded pieces, remembering long texts by their digest."""

    encoding: str
    engine: Engine
    reason: str = ""
    """Why counts are estimates; empty when they are exact."""
    memo: CountMemo = field(default_factory=CountMemo, repr=False, compare=False)

    @property
    def exact(self) -> bool:
        """Whether counts are those of the model itself."""
        return not self.reason

    def count(self, text: str) -> int:
        """The number of tokens of `text`; special-token strings count as the text they are.

        Lone surrogates count as U+FFFD, as in tiktoken. Pathological runs are approximate: see `chunks`.
        """
        return sum(self.steps(text))

    def steps(self, text: str) -> Iterator[int]:
        """The counts of successive pieces of `text`: their sum is `count(text)`.

        Each step is at most one tokenizer call, of at most 61 KB, so an event loop can be served between them.
        """
        text, data = _clean(text)
        if len(text) < MEMO_FROM:
            yield self.engine(text) if text else 0
            return
        key = content_key(data)
        known = self.memo.get(key)
        if known is not None:
            yield known
            return
        total = 0
        for count in self._pieces(text):
            total += count
            yield count
        self.memo.put(key, total)

    def _pieces(self, text: str) -> Iterator[int]:
        last, count = "", 0
        for piece in chunks(text):
            if piece != last:  # a run of one character gives equal pieces: count the first of them only
                last, count = piece, self.engine(piece)
            yield count


def counter_for(model: str, engine: EngineName = "auto") -> TextCounter:
    """The counter for `model`, whatever provider prefix, date or fine-tuning suffix its name carries.

    OpenAI models are counted with their own encoding. Others (claude, gemini, deepseek, unknown) have no public
    tokenizer: they are counted with o200k_base and marked `exact=False`, with the `reason`. So is everything
    when no tokenizer can be loaded. `engine` asks for "toktok" or "tiktoken"; "auto" takes the faster installed.
    """
    known = encoding_of(model)
    encoding = known or "o200k_base"
    chosen = shared_engine(encoding, engine)
    unknown = "" if known else f"no public tokenizer for {model!r}: counted with {encoding}"
    return TextCounter(encoding, chosen, chosen.problem or unknown, _shared_memo(encoding, engine))


@cache
def _shared_memo(encoding: str, engine: EngineName) -> CountMemo:
    """One memory per engine, so that counters of models with one encoding share their counts."""
    return CountMemo()


def _clean(text: str) -> tuple[str, bytes]:
    """`text` without lone surrogates, and its UTF-8: pairs are joined, the rest become U+FFFD."""
    try:
        return text, text.encode()
    except UnicodeEncodeError:
        if _PAIR.search(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = _LONE.sub("\ufffd", text)
        return text, text.encode()
