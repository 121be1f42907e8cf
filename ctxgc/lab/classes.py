"""Price classes: what input costs with a prefix cache, relative to the price of an uncached token.

Rule: a class is two numbers, read and write; what is named by a model takes them from the price table. They are named
by w/r - 1: how many requests must follow before it pays to rewrite a token in order to drop another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ctxgc.errors import ConfigError
from ctxgc.tokens.prices import Price

CLASSES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "3": (0.25, 1.0),
        "9": (0.1, 1.0),
        "11.5": (0.1, 1.25),
        "24": (0.05, 1.25),
        "49": (0.025, 1.25),
        "none": (1.0, 1.0),
    }
)
"""Read and write of each class: as grok-4; gpt-5; Claude up to 5; Opus 5.5 and GPT-6.1; Fable 5.1; no cache at all."""


@dataclass(frozen=True, slots=True)
class PriceClass:
    """A class: an uncached token costs 1, one read from the cache ``read``, one written to it ``write``."""

    name: str
    read: float
    write: float

    def cost(self, read: float, written: float) -> float:
        """The cost of input in uncached tokens: ``read`` tokens from the cache, ``written`` to it."""
        return self.read * read + self.write * written


def price_class(name: str, price_of: Callable[[str], Price | None]) -> PriceClass:
    """The class of that name, or of the model of that name (``model:<name>``). Raises ``ConfigError``."""
    if name in CLASSES:
        return PriceClass(name, *CLASSES[name])
    model = name.removeprefix("model:")
    price = price_of(model)
    if price is None or price.input <= 0:
        known = ", ".join(CLASSES)
        raise ConfigError(f"no price class or model {model!r}: there are {known} and the models of the price table")
    return PriceClass(f"model:{model}", price.cached_read / price.input, price.cache_write / price.input)
