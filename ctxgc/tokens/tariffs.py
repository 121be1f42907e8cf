"""What the pacer must know of a model: its prices for cached and written input, and how its provider's cache behaves.

Rule: prices are the table's; what no table has (how long a cache lives, which models bind thinking) is said here once,
by the model's name. A model that is not known is taken to be of the commonest kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ctxgc.core.pacer import Tariff
from ctxgc.tokens.bundled import TokenDataUnavailable
from ctxgc.tokens.models import bare_name
from ctxgc.tokens.prices import Price, Step

_BINDING = re.compile(r"claude-(?:(?:fable|mythos)-5|(?:opus|sonnet|haiku)-5[.-]5)")
"""Each thinking block of these is bound to all that stands before it: an edit there voids it (Anthropic's rule)."""
_LIVES = (
    (re.compile(r"gpt-5[.-][6-9]|gpt-[6-9]"), 1800.0),
    (re.compile(r"deepseek"), 3600.0),
)
"""Seconds after which a cached prefix is gone, where that is not five minutes: OpenAI's newer models keep it at least
thirty, DeepSeek's disk cache hours."""


def tariffs(price_of: Callable[[str], Price | None]) -> Callable[[str], Tariff]:
    """From a model's name to its tariff, in USD per token; in relative prices where the table has none."""

    def tariff(model: str) -> Tariff:
        try:
            return tariff_of(model, price_of(model))
        except TokenDataUnavailable:
            return tariff_of(model, None)

    return tariff


def tariff_of(model: str, price: Price | None) -> Tariff:
    """The tariff of a model with that price."""
    name = bare_name(model)
    ttl = next((seconds for pattern, seconds in _LIVES if pattern.search(name)), 300.0)
    binds = _BINDING.search(name) is not None
    if price is None:
        return Tariff(ttl=ttl, binds_thinking=binds)
    if price.input <= 0:  # what costs nothing has a window all the same
        return Tariff(ttl=ttl, window=price.max_input_tokens or 0, least=price.min_cacheable, binds_thinking=binds)
    return Tariff(
        read=price.cached_read,
        write=price.cache_write,
        ttl=ttl,
        window=price.max_input_tokens or 0,
        least=price.min_cacheable,
        steps=tuple(_factor(step, price) for step in price.long_context),
        binds_thinking=binds,
    )


def _factor(step: Step, price: Price) -> tuple[int, float]:
    """Above how many tokens all input costs how many times more."""
    return step.threshold, step.input / price.input
