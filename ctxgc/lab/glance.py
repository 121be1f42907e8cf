"""A session at a glance: what its newest request carries and what collecting has brought, from the end of its journal.

Rule: the figures are those that the journal holds; what would take reading all of a long journal is left unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Pace, Settlement
from ctxgc.core.state import State

GROWTH = 10
"""Requests that the growth of a context is measured over."""


@dataclass(frozen=True, slots=True)
class Glance:
    """Figures of the newest request of the main history whose end was booked; all but ``at`` and ``pace`` are tokens.

    ``sent`` is what left and ``received`` what came (None: not computed); ``sizes`` are what the last requests sent,
    the newest last. ``pace`` holds what the session's input has cost, and would have cost untouched, until then.
    """

    at: float
    model: str
    sent: int
    received: int | None
    sizes: tuple[int, ...]
    pace: Pace


def glance(entries: Iterable[AnyEntry], *, whole: bool) -> Glance | None:
    """The glance at a journal, or at its end: whether it is ``whole`` decides what can be known. None where no request
    of the main history has ended there. Raises ``ValueError`` for entries that do not fit together."""
    state, ended = State(), list[tuple[Allocation, Settlement, int | None]]()
    begun: dict[bytes, Allocation] = {}
    for entry in entries:
        if whole:
            state.apply(entry)
        if isinstance(entry, Allocation):
            begun[entry.call] = entry
        elif isinstance(entry, Settlement) and entry.call in begun:
            one = begun.pop(entry.call)
            ended.append((one, entry, state.tokens(one.head, one.toolset, sent=False) if whole else None))
    main = [one for one in ended if one[0].continues] or ended
    return _made(main[-GROWTH - 1 :]) if main else None


def growth(sizes: Sequence[int]) -> float:
    """Mean tokens by which each of these requests was larger than the one before. One that was smaller, as after a
    collection, counts as one that did not grow: what made it smaller is no growth to come."""
    if len(sizes) < 2:
        return 0.0
    return sum(max(later - before, 0) for before, later in pairwise(sizes)) / (len(sizes) - 1)


def turns_left(sizes: Sequence[int], limit: int) -> float | None:
    """How many requests there are until the context takes ``limit`` tokens, if it goes on growing as it did on average
    over requests of these sizes; None where it did not grow, or no limit is known."""
    rate = growth(sizes)
    return max(limit - sizes[-1], 0) / rate if limit > 0 and rate > 0 else None


def active(entry: AnyEntry) -> bool:
    """Whether an entry is of an agent at work: a request, or the end of one. Pins, recalls and milestones may come
    when it has long gone."""
    return isinstance(entry, Allocation | Bypass | Settlement)


def _made(main: Sequence[tuple[Allocation, Settlement, int | None]]) -> Glance:
    newest, settled, received = main[-1]
    sizes = tuple(settlement.estimated for _, settlement, _ in main)
    paces = (one.pace for one, _, _ in reversed(main) if one.pace is not None)
    return Glance(settled.at, newest.model, sizes[-1], received, sizes, next(paces, Pace()))
