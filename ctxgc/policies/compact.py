"""Compact: where collecting is not enough, or a milestone is reached, a record made of its originals stands for a span.

Rule: this says on which terms; the span is cut, written up and left out by the session, between turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_least


@dataclass(frozen=True, slots=True)
class Compact:
    """Leave out what stands before the last ``tail`` tokens, and have a typed record stand for it.

    ``tail``: tokens at the end of a history that stay as they are; at least 0; default 20,000.
    ``record``: tokens that the record takes at most; at least 400; default 4,000.
    ``opening``: tokens of it that the ledger's opening balance may take; at least 0; default 1,500.
    ``saving``: tokens that must go for a record to be worth it; at least 0; default 8,000.
    ``limit``: how often one history is compacted, before a new window is advised; at least 1; default 8.
    """

    tail: int = 20_000
    record: int = 4_000
    opening: int = 1_500
    saving: int = 8_000
    limit: int = 8

    def __post_init__(self) -> None:
        check_least(0, tail=self.tail, opening=self.opening, saving=self.saving)
        check_least(400, record=self.record)
        check_least(1, limit=self.limit)

    @property
    def name(self) -> str:
        """``compact``."""
        return "compact"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """Nothing: spans are no cells."""
        return ()
