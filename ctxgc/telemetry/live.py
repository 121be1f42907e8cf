"""What the sessions in memory carry now: the newest request of each, per tag.

Rule: remembered as requests end, as sums that were there already, so that a scrape adds up a few figures per session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from ctxgc.core.nodes import Tally
from ctxgc.core.state import State

from .carried import Carried
from .labels import Provenance


class Live:
    """Knows the newest request of each session. ``states`` gives those in memory; None: all that are still in use."""

    __slots__ = ("_newest", "_provenance", "_states")

    def __init__(self, provenance: Provenance, states: Callable[[], Iterable[State]] | None) -> None:
        self._provenance = provenance
        self._states = states
        self._newest: WeakKeyDictionary[State, tuple[bool, tuple[Tally, Tally]]] = WeakKeyDictionary()

    def ended(self, state: State, carried: Carried) -> None:
        """Take a request that has ended. Helper calls, which go on from nothing, count only where nothing else is."""
        main = carried.entry.continues
        before = self._newest.get(state)
        if before is None or main or not before[0]:
            self._newest[state] = main, (carried.sent[1], carried.forwarded)

    def tokens(self) -> dict[str, int]:
        """Tokens by tag, of all sessions together."""
        found: dict[str, int] = {}
        for state in tuple(self._newest) if self._states is None else self._states():
            _, tallies = self._newest.get(state, (False, ()))
            for tally in tallies:
                for tag, tokens in tally.items():
                    family = self._provenance.of(tag)[0]
                    found[family] = found.get(family, 0) + tokens
        return found
