"""What a walk over a journal finds: each request with its figures, and how often each cell was carried.

Rule: values only; all figures are tokens unless something else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from ctxgc.core.journal import Settlement
from ctxgc.core.nodes import Tally
from ctxgc.core.state import State
from ctxgc.lab.churn import NONE, Churn
from ctxgc.lab.compactions import parts
from ctxgc.lab.index import Index


class Request(msgspec.Struct, frozen=True):
    """One request, numbered from 1. All figures are tokens; ``received`` is as it came, ``sent`` as it left, per tag.

    ``fresh`` is what no earlier request carried. ``prefix`` is what it shares, from its first byte on, with an earlier
    request of the same model and tool list: the longest that a prefix cache can hold. A request that ctxgc sent once
    more, for what the model recalled, was received from nobody: it came with nothing. A record that stands for a span,
    and news of the ledger, came with nothing either, and are fresh in what is sent. ``changed`` says that a collection
    or a compaction changed with it what had been sent before.
    """

    number: int
    call: bytes
    at: float
    model: str
    head: int
    toolset: int
    continues: bool
    received: Tally
    sent: Tally
    fresh: int
    fresh_sent: int
    prefix: int
    prefix_sent: int
    offered: bool = False
    again: bool = False
    changed: bool = False

    @property
    def total(self) -> int:
        """All its tokens as it came."""
        return sum(self.received.values())

    @property
    def total_sent(self) -> int:
        """All its tokens as it left."""
        return sum(self.sent.values())


@dataclass(frozen=True, slots=True)
class Carried:
    """The whole session. By cell id: ``times`` is in how many requests it came, ``sends`` with how many it was sent,
    ``sent_turns`` the tokens sent for it, and ``spent`` what these cost, in the units of the walk's prices.

    ``answers`` pairs each tool call with its result; ``settled`` are the settlements that report usage; ``bypassed``
    counts the requests that went on unread, by reason. ``policies`` are those that have edited something, and
    ``churn`` is what was sent again behind a change.
    """

    state: State
    requests: tuple[Request, ...]
    times: tuple[int, ...]
    sends: tuple[int, ...]
    sent_turns: tuple[int, ...]
    answers: tuple[tuple[int, int], ...]
    settled: tuple[Settlement, ...]
    bypassed: Mapping[str, int]
    spent: tuple[int, ...] = ()
    index: Index = field(default_factory=Index)
    policies: frozenset[str] = frozenset()
    churn: Churn = NONE

    def newest(self) -> Request | None:
        """The newest request of the main history: helper calls and openings, which continue nothing, only if alone."""
        main = (request for request in reversed(self.requests) if request.continues)
        return next(main, self.requests[-1] if self.requests else None)

    def resident(self) -> frozenset[int]:
        """The cells that the newest request carries."""
        newest = self.newest()
        if newest is None:
            return frozenset()
        cells = {cell for part in parts(self.state, newest.head) if not part.out for cell in part.cells}
        offer = self.state.node(newest.head).offer if newest.offered else -1
        cells.update((self.state.own.offers[offer].cell,) if offer >= 0 else ())
        return frozenset(cells.union(self.state.toolset(newest.toolset).cells))
