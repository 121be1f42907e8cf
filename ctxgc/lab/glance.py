"""A session at a glance: what its newest request carries and what collecting has brought, from the end of its journal.

Rule: the figures are those that the journal holds; what would take reading all of a long journal is left unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxgc.core.journal import Allocation, AnyEntry, Pace, Settlement
from ctxgc.core.state import State

LOOKED_AT = 11
"""Requests that the growth of a context is measured over: so many steps and one, as on the profiler page."""


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
    return _made(main[-LOOKED_AT:]) if main else None


def turns_left(sizes: Sequence[int], limit: int) -> float | None:
    """How many requests there are until the context takes ``limit`` tokens, if it goes on growing as it did on average
    over requests of these sizes; None where it did not grow, or no limit is known."""
    if limit <= 0 or len(sizes) < 2 or sizes[-1] <= sizes[0]:
        return None
    return max(limit - sizes[-1], 0) / ((sizes[-1] - sizes[0]) / (len(sizes) - 1))


def _made(main: Sequence[tuple[Allocation, Settlement, int | None]]) -> Glance:
    newest, settled, received = main[-1]
    sizes = tuple(settlement.estimated for _, settlement, _ in main)
    paces = (one.pace for one, _, _ in reversed(main) if one.pace is not None)
    return Glance(settled.at, newest.model, sizes[-1], received, sizes, next(paces, Pace()))
