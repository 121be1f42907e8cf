"""What reported usage teaches about our own counts, one factor per model.

Rule: a pure value; observing gives a new one. Only the recent past counts, and by its median, so that one odd
report (a hidden system prompt, a cached image) moves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

WINDOW = 32
"""Observations remembered per model."""
MODELS = 256
"""Models remembered; the one observed longest ago is forgotten first."""
LOWEST, HIGHEST = 0.2, 5.0
"""Ratios beyond these are not a tokenizer's doing and are cut to the bound."""


class Sample(NamedTuple):
    """One request: reported over estimated tokens, and the relative error of the calibrated estimate."""

    ratio: float
    error: float


class ModelError(NamedTuple):
    """How far calibrated estimates were off: the median of |estimate - reported| / reported, and of how many."""

    median: float
    samples: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Factors that turn our estimates for a model into what its provider will report."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    def observe(self, model: str, estimated: int, reported: int) -> Calibration:
        """A calibration that also knows one request's estimated and reported input tokens.

        Zero and negative figures say nothing, and leave the calibration as it is.
        """
        if estimated <= 0 or reported <= 0:
            return self
        error = abs(estimated * self.factor(model) - reported) / reported
        sample = Sample(min(max(reported / estimated, LOWEST), HIGHEST), error)
        window = (*self.samples.get(model, ()), sample)[-WINDOW:]
        others = {name: known for name, known in self.samples.items() if name != model}
        kept = dict(list(others.items())[-(MODELS - 1) :])
        return Calibration({**kept, model: window})

    def factor(self, model: str) -> float:
        """Reported over estimated tokens: the median of the window; 1.0 for a model never observed."""
        window = self.samples.get(model, ())
        return _median([sample.ratio for sample in window]) if window else 1.0

    def error(self, model: str) -> ModelError:
        """The error over the window, each request measured with the factor known before it was seen."""
        window = self.samples.get(model, ())
        return ModelError(_median([sample.error for sample in window]) if window else 0.0, len(window))


def _median(values: list[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
