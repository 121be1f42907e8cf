"""How long the parts of the work on requests take.

Rule: while others are served between two slices, no time passes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """A ``session.timing.Timer``. ``clock`` gives seconds that only rise; ``took`` is told a phase and its seconds."""

    def __init__(self, clock: Callable[[], float], took: Callable[[str, float], None]) -> None:
        self._clock, self._took = clock, took

    def steps(self, phase: str, steps: Generator[None, None, T], /) -> Generator[None, None, T]:
        """The same slices; told when they have come to their end, and not if they fail or are left."""
        taken = 0.0
        try:
            while True:
                began = self._clock()
                try:
                    next(steps)
                except StopIteration as stop:
                    self._took(phase, taken + self._clock() - began)
                    return stop.value  # type: ignore[no-any-return]
                taken += self._clock() - began
                yield
        finally:
            steps.close()

    @contextmanager
    def span(self, phase: str, /) -> Iterator[None]:
        """Time a block; told if it does not fail."""
        began = self._clock()
        yield
        self._took(phase, self._clock() - began)
