"""Holding back: a journal's entries in an order in which each request is whole when it is looked at.

Rule: entries of a request that is open wait until it is settled, or until another one begins; nothing is reordered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxgc.core.journal import Allocation, AnyEntry, Recovery, Settlement


@dataclass(slots=True)
class Holding:
    """The entries of the newest request, while it is open."""

    _held: list[AnyEntry] = field(default_factory=list)
    _call: bytes = b""

    def take(self, entry: AnyEntry) -> Sequence[AnyEntry]:
        """Take an entry; gives those that can be looked at now."""
        if isinstance(entry, Allocation):
            before, self._held, self._call = self._held, [entry], entry.call
            return before
        if not self._held:
            return (entry,)
        self._held.append(entry)
        ended = isinstance(entry, Settlement | Recovery) and entry.call == self._call
        return self.rest() if ended else ()

    def rest(self) -> Sequence[AnyEntry]:
        """What is held back, which is not any more."""
        held, self._held = self._held, []
        return held
