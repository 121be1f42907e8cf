"""What providers report of a request: its tokens, what they cost, what was spared, and how far our count was off.

Rule: prices are list prices, and what was avoided is a lower bound; a model without a price costs nothing here.
"""

from __future__ import annotations

from ctxgc.core.journal import Usage
from ctxgc.lab.forecasts import Split, billed
from ctxgc.tokens import Calibration, Price

from . import metrics as m
from .carried import Saved
from .models import Model
from .series import Board


class Reports:
    """Counts reported usage. ``calibration`` is a value, replaced with each observation."""

    __slots__ = ("_board", "calibration")

    def __init__(self, board: Board) -> None:
        self._board = board
        self.calibration = Calibration()

    def count(self, model: Model, usage: Usage) -> None:
        """Count tokens, each in one kind only, and what they cost."""
        for kind, tokens in (
            ("input_uncached", usage.uncached),
            ("cache_read", usage.cached),
            ("cache_write", usage.written),
            ("output", usage.output - usage.reasoning),
            ("reasoning", usage.reasoning),
        ):
            self._board.add(m.PROVIDER_TOKENS, (*model.labels, kind), tokens)
        if model.price:
            self._board.add(m.COST, (model.model, "billed"), _billed(model.price, usage))

    def spare(self, model: Model, name: str, usage: Usage, saved: Saved) -> None:
        """Count what tokens not sent would have cost at least, for a request that the provider reported on.

        ``(fresh * input + replayed * cached_read) * min(1, factor)`` in USD, at the prices for the input that was
        billed: new content cannot have been cached, and what was there before is taken to be. Our counts are believed
        only as far as the provider's do not say that they are too high (``factor`` of the calibration of ``name``).
        """
        if model.price:
            step = model.price.at(usage.input)
            spared = saved.fresh * step.input + saved.replayed * step.cached_read
            self._board.add(m.COST, (model.model, "avoided"), spared * min(1.0, self.calibration.factor(name)))

    def foretell(self, predicted: Split | None, usage: Usage) -> None:
        """Count what was predicted of a request with a collection beside what the provider billed."""
        for by, split in (("predicted", predicted), ("billed", billed(usage))) if predicted else ():
            for kind, tokens in split._asdict().items():
                self._board.add(m.FORECAST, (kind, by), tokens)

    def calibrate(self, model: Model, name: str, estimated: int, reported: int) -> None:
        """Learn from one request's input tokens, as we counted and as the provider did. ``name`` is what was asked."""
        if estimated > 0 and reported > 0:
            self.calibration = self.calibration.observe(name, estimated, reported)
            self._board.observe(m.ESTIMATE_ERROR, model.labels, self.calibration.samples[name][-1].error)


def _billed(price: Price, usage: Usage) -> float:
    return price.cost(uncached=usage.uncached, cached=usage.cached, written=usage.written, output=usage.output)
