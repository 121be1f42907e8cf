"""Looking for leak suspects in a session that goes on: when 10, 20, 40 and so on of its requests have ended.

Rule: what is found follows from the journal alone, whoever reads it and when. Each look reads the journal from its
beginning, which with doubling comes to no more than four requests read for each that is made.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from weakref import WeakKeyDictionary

from ctxgc.core.journal import AnyEntry, Recovery, Settlement
from ctxgc.core.state import State
from ctxgc.lab.carried import Walk
from ctxgc.lab.profile import schemas_of
from ctxgc.lab.suspects import Suspect, suspects

FIRST = 10
"""Requests that have ended when a session is looked at for the first time."""

Told = tuple[str, str]
"""A suspect's rule and subject: what is told once a session."""


class Looks:
    """When sessions in memory are to be looked at. A session that was restored begins with the next look due: what it
    had come to before it was met, somebody looked at then."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: WeakKeyDictionary[State, int] = WeakKeyDictionary()

    def met(self, state: State) -> None:
        """Take note of a session as it stands, before anything more of it ends."""
        if state not in self._next:
            self._next[state] = max(2 * _until(state.calls - len(state.unsettled)), FIRST)

    def due(self, state: State) -> int:
        """The look that a session has come to, as a number of ended requests; 0 for none. Each is due once."""
        ended = state.calls - len(state.unsettled)
        wanted = self._next.get(state) or _from(max(ended, FIRST))
        self._next[state] = 2 * _until(ended) if ended >= wanted else wanted
        return _until(ended) if ended >= wanted else 0


def looking(entries: Iterable[AnyEntry], look: int) -> Generator[None, None, tuple[Suspect, ...]]:
    """What a look finds that no earlier one has, in steps of an entry each; nothing where the journal is shorter.

    Raises ``ValueError`` for entries that do not fit together.
    """
    walk, ended, told = Walk(), 0, set[Told]()
    for entry in entries:
        ends = isinstance(entry, Settlement | Recovery) and entry.call in walk.state.unsettled
        walk.take(entry)
        ended += ends
        if ends and ended == look:
            return tuple(one for one in _found(walk) if (one.rule, one.subject) not in told)
        if ends and ended == _until(ended):
            told.update((one.rule, one.subject) for one in _found(walk))
        yield
    return ()


def _found(walk: Walk) -> tuple[Suspect, ...]:
    found = walk.end()
    return suspects(found, schemas_of(found))


def _until(ended: int) -> int:
    """The last look at or before so many ended requests; 0 for none."""
    return FIRST << ((ended // FIRST).bit_length() - 1) if ended >= FIRST else 0


def _from(ended: int) -> int:
    """The first look at or behind so many (at least ``FIRST``)."""
    last = _until(ended)
    return last if last == ended else 2 * last
