"""Work in slices, run to its end by those who let nobody else be served in between.

Rule: slices change when work is done, and never what comes of it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def drain(steps: Generator[None, None, T]) -> T:
    """Run slices to their end."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
