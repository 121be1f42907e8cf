"""Superseded: a result that is out of date goes, because a newer one or a write has taken its place.

Rule: only the heap says what is out of date, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import check_shares, results, shortened


@dataclass(frozen=True, slots=True)
class Superseded:
    """Shorten results of what was read again, or written, since.

    ``keep``: the share of its tokens that the excerpt may take, 0 to 1; default 0: a stub is left.
    """

    keep: float = 0.0

    def __post_init__(self) -> None:
        check_shares(keep=self.keep)

    @property
    def name(self) -> str:
        """``superseded``."""
        return "superseded"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that is out of date; the reason is the heap's."""
        for one in results(heap):
            if one.stale:
                yield from shortened(self.name, heap, one, self.keep, one.stale, one.referenced + 1)
