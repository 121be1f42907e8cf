"""Timing: how long the parts of a request's work take, told to whom the shell has chosen.

Rule: sessions look at no clock. What is done in slices is only timed while it works, not while others are served.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

T = TypeVar("T")

TOKENIZE, MARK, SWEEP, REWRITE = "tokenize", "mark", "sweep", "rewrite"
"""Counting what is new; finding what it refers to; planning what could go; making a history anew that was changed."""
PHASES = (TOKENIZE, MARK, SWEEP, REWRITE)
_NOTHING: AbstractContextManager[None] = nullcontext()


class Timer(Protocol):
    """Times work under the name of its phase."""

    def steps(self, phase: str, steps: Generator[None, None, T], /) -> Generator[None, None, T]:
        """The same slices, timed."""

    def span(self, phase: str, /) -> AbstractContextManager[None]:
        """Time what is done in this block."""


class Untimed:
    """The timer of those who do not want to know."""

    def steps(self, phase: str, steps: Generator[None, None, T], /) -> Generator[None, None, T]:
        """The same slices."""
        return steps

    def span(self, phase: str, /) -> AbstractContextManager[None]:
        """Nothing."""
        return _NOTHING
