"""Models as labels: the names that the price table knows, the first few of them seen; all others are one.

Rule: a name that a client makes up never becomes a label, in whatever spelling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ctxgc.tokens import Price, TokenDataUnavailable
from ctxgc.tokens.models import bare_name, undated

from .labels import OTHER, REMEMBERED

MODELS = 5
"""Models (per provider) with labels of their own; each costs about 110 series."""
_KNOWN = 1024


class Model(NamedTuple):
    """A model's labels, and what it costs: None where no price is known."""

    provider: str
    model: str
    price: Price | None

    @property
    def labels(self) -> tuple[str, str]:
        """Its ``provider`` and ``model`` labels."""
        return self.provider, self.model


class Models:
    """Finds models by the names that requests give. ``price`` is how the price table is asked."""

    __slots__ = ("_known", "_named", "_price")

    def __init__(self, price: Callable[[str], Price | None]) -> None:
        self._price = price
        self._known: dict[str, Model] = {}
        self._named: set[tuple[str, str]] = set()

    def find(self, *names: str) -> Model:
        """The model of the first name that has a price; ``other`` if none has. An unreadable table knows none."""
        found = map(self._one, filter(None, names))
        return next((model for model in found if model.price), Model(OTHER, OTHER, None))

    def _one(self, name: str) -> Model:
        model = self._known.get(name)
        if model is None:
            model = self._look_up(name)
            if len(self._known) < _KNOWN and len(name) <= REMEMBERED:
                self._known[name] = model
        return model

    def _look_up(self, name: str) -> Model:
        price = self._ask(name)
        if price is None:
            return Model(OTHER, OTHER, None)
        labels = (price.provider or OTHER, self._label(name, price))
        if labels not in self._named:
            if len(self._named) >= MODELS:
                return Model(OTHER, OTHER, price)
            self._named.add(labels)
        return Model(*labels, price)

    def _label(self, name: str, price: Price) -> str:
        """The bare name; undated where that makes no difference, so that no made-up date is a model of its own."""
        bare = bare_name(name)
        short = undated(bare)
        return short if self._ask(short) == price else bare

    def _ask(self, name: str) -> Price | None:
        try:
            return self._price(name)
        except TokenDataUnavailable:
            return None
