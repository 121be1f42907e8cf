"""What the input of a session costs at a model's prices, with a prefix cache and without one.

Rule: an estimate with its assumptions said. With a cache: the longest prefix that a request shares with an earlier one
of the same model and tool list is read from it, however long ago that was, and the rest is written to it; a shorter
prefix than the model's least cacheable one is not read, and a shorter request not written. Without: every token is
charged in full. Output is left out: it is the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxgc.core.journal import Settlement, Usage
from ctxgc.lab.carried import Request
from ctxgc.tokens.prices import Price

PriceOf = Callable[[str], Price | None]


@dataclass(frozen=True, slots=True)
class Cost:
    """Input in USD: of what came and of what left, with a prefix cache and without; ``unpriced`` requests not in it."""

    received_cached: float
    received_uncached: float
    sent_cached: float
    sent_uncached: float
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class Reported:
    """What the provider itself reported: of how many calls, their tokens in disjoint kinds, and what they cost.

    ``estimated`` is our own count of the input of the same calls, before calibration. ``usd`` includes output, and is
    None where a model has no price.
    """

    calls: int
    uncached: int
    cached: int
    written: int
    output: int
    estimated: int
    usd: float | None


def cost_of(requests: Sequence[Request], price_of: PriceOf) -> Cost | None:
    """The cost of all requests that have a price; None if none has."""
    priced = [(price, request) for request in requests if (price := price_of(request.model))]
    if not priced:
        return None
    return Cost(
        received_cached=sum(_cached(price, one.total, one.prefix) for price, one in priced),
        received_uncached=sum(_uncached(price, one.total) for price, one in priced),
        sent_cached=sum(_cached(price, one.total_sent, one.prefix_sent) for price, one in priced),
        sent_uncached=sum(_uncached(price, one.total_sent) for price, one in priced),
        unpriced=len(requests) - len(priced),
    )


def reported_of(settled: Sequence[Settlement], price_of: PriceOf) -> Reported | None:
    """The sum of reported usage; None where none was reported."""
    usages = [(entry, entry.usage) for entry in settled if entry.usage is not None]
    if not usages:
        return None
    paid = [_paid(price_of(entry.model), usage) for entry, usage in usages]
    return Reported(
        calls=len(usages),
        uncached=sum(usage.uncached for _, usage in usages),
        cached=sum(usage.cached for _, usage in usages),
        written=sum(usage.written for _, usage in usages),
        output=sum(usage.output for _, usage in usages),
        estimated=sum(entry.estimated for entry, _ in usages),
        usd=None if None in paid else sum(filter(None, paid)),
    )


def _paid(price: Price | None, usage: Usage) -> float | None:
    if price is None:
        return None
    return price.cost(uncached=usage.uncached, cached=usage.cached, written=usage.written, output=usage.output)


def _uncached(price: Price, total: int) -> float:
    return price.cost(uncached=total, cached=0, written=0, output=0)


def _cached(price: Price, total: int, prefix: int) -> float:
    if total < price.min_cacheable:
        return _uncached(price, total)
    read = prefix if prefix >= price.min_cacheable else 0
    return price.cost(uncached=0, cached=read, written=total - read, output=0)
