"""A moment of a session: one request, with what its journal held before it and what it says of the request itself.

Rule: requests are counted from 1 in the order of the journal, as everything else that numbers them does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Marking
from ctxgc.errors import InputError


@dataclass(frozen=True, slots=True)
class Moment:
    """A request as it left. ``number`` counts it among the session's ``requests``.

    ``before`` is all that the journal held when it came, ``own`` its allocation, collections, compaction, news
    of the ledger and marking. ``previous``
    is the newest request before it that ended where its known history ends (None if none did), and ``planned`` how
    many entries of ``before`` there were when that one had been booked: then it was planned what could go with this.
    """

    number: int
    requests: int
    entry: Allocation
    before: tuple[AnyEntry, ...]
    own: tuple[AnyEntry, ...]
    previous: Allocation | None
    planned: int


def moment(entries: Sequence[AnyEntry], turn: int) -> Moment:
    """The moment of request ``turn``, counted from 1; from the end where it is negative (-1 the newest).

    Raises ``InputError`` where the journal has no such request.
    """
    places = [at for at, entry in enumerate(entries) if isinstance(entry, Allocation)]
    number = turn if turn > 0 else len(places) + 1 + turn
    if turn == 0 or not 1 <= number <= len(places):
        raise InputError(f"there is no request {turn}: the session has {len(places)}, counted from 1")
    at = places[number - 1]
    entry = entries[at]
    assert isinstance(entry, Allocation)
    own = tuple(entries[place] for place in _own(entries, at))
    previous, planned = _planned(entries, places[: number - 1], entry.parent)
    return Moment(number, len(places), entry, tuple(entries[:at]), own, previous, at if planned < 0 else planned)


def _own(entries: Sequence[AnyEntry], at: int) -> Iterator[int]:
    """Where the entries of the request that is allocated at ``at`` stand, as far as they were made with it."""
    call = getattr(entries[at], "call", b"")
    yield at
    for place in range(at + 1, len(entries)):
        entry = entries[place]
        if isinstance(entry, Allocation):
            return
        own = isinstance(entry, Collection | Compaction | Marking) or (isinstance(entry, Insertion) and entry.told >= 0)
        if own and getattr(entry, "call", None) == call:
            yield place


def _planned(entries: Sequence[AnyEntry], places: Sequence[int], head: int) -> tuple[Allocation | None, int]:
    """The newest request that ended at ``head``, and the number of entries up to the last of its own; -1: none."""
    for at in reversed(places):
        entry = entries[at]
        if isinstance(entry, Allocation) and entry.head == head:
            return entry, max(_own(entries, at)) + 1
    return None, -1
