"""Pin: tool results and other blocks that stay as they came, whatever else is collected.

Rule: what is pinned follows from names that a configuration gives, never from what a tool's text says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict


@dataclass(frozen=True, slots=True)
class Pin:
    """Pin new cells by who put them there. A session asks ``pins`` when a cell is made; pinned cells are never edited.

    ``tags``: shell patterns for provenance tags, such as ``tool_result:read_plan`` or ``retrieval:*``; upper and lower
    case alike; default none.
    ``sites``: shell patterns for allocation sites, a tool with its canonical arguments, such as
    ``read_file(*plan.md*)``; upper and lower case alike; default none.
    """

    tags: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all((*self.tags, *self.sites)):
            raise ValueError("a pattern of tags or sites is empty: it would match nothing")

    @property
    def name(self) -> str:
        """``pin``."""
        return "pin"

    def pins(self, tag: str, site: str) -> bool:
        """Whether a new cell of this tag, from this site, is pinned: where one pattern of either kind matches."""
        return _matches(tag, self.tags) or _matches(site, self.sites)

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """Nothing: what is pinned stays, and of the rest this policy knows nothing."""
        return ()


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    plain = name.lower()
    return any(fnmatchcase(plain, pattern.lower()) for pattern in patterns)
