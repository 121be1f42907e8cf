"""What the pacer expects of a request: which of its tokens are read from the cache, and in which unit it reckons.

Rule: the same split of a request by which the session is charged, so that it can be held against the provider's bill.
"""

from __future__ import annotations

from math import isclose
from typing import NamedTuple

from ctxgc.core.journal import Pace, Usage
from ctxgc.tokens.prices import Price


class Split(NamedTuple):
    """Input tokens of one request: those read from the cache, and all others, which are (or could be) written to it."""

    read: int
    written: int


def predicted(pace: Pace, base: int, total: int, *, fresh_tools: bool, least: int = 0) -> Split:
    """The split that is predicted of a request.

    ``base`` are the tokens that it shares with what was sent before, tool list included, as they are sent after its
    collection, and ``total`` all that it sends. What was collected took ``pace.live`` tokens behind it out of the
    cache. A new tool list stands before all else; a prefix shorter than ``least`` is not cached.
    """
    read = 0 if pace.cold or fresh_tools else max(base - (pace.live if pace.trigger else 0), 0)
    read = read if read >= least else 0
    return Split(read, max(total - read, 0))


def billed(usage: Usage) -> Split:
    """The split that a provider reported; some do not say which of the rest they wrote to the cache."""
    return Split(usage.cached, usage.uncached + usage.written)


def in_usd(write: float, price: Price | None) -> bool:
    """Whether a tariff that takes ``write`` for a written token is in USD, at the list price of its model ``price``.

    Others are relative prices: of a model that has no list price, for example.
    """
    return price is not None and price.input > 0 and isclose(write, price.cache_write, rel_tol=1e-9)
