"""What sessions' input has cost by the pacer's prices, and would have cost untouched.

Rule: journals hold sums, and counters take what is new in them; of a session that was not met before it went on, the
first request only says where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from ctxgc.core.journal import Allocation, Pace
from ctxgc.core.state import State
from ctxgc.lab.forecasts import in_usd
from ctxgc.tokens import Price

from . import metrics as m
from .series import Board


class Paid:
    """Remembers where each session in memory stands."""

    __slots__ = ("_board", "_known")

    def __init__(self, board: Board) -> None:
        self._board = board
        self._known: WeakKeyDictionary[State, Pace] = WeakKeyDictionary()

    def met(self, state: State) -> None:
        """Take note of where a session stands, which may have been restored, before it goes on."""
        self._known.setdefault(state, state.pace)

    def paced(self, state: State, entry: Allocation, price: Callable[[], Price | None]) -> None:
        """Take a request that ``state`` has just applied; what was not reckoned in USD is not counted."""
        pace = entry.pace
        if pace is None:
            return
        before = self._known.get(state, Pace() if state.calls <= 1 else None)
        self._known[state] = pace
        if before is not None and in_usd(pace.write, price()):
            self._board.add(m.INPUT_COST, ("paid",), pace.paid - before.paid)
            self._board.add(m.INPUT_COST, ("untouched",), pace.untouched - before.untouched)
