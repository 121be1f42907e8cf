"""Policies of somebody else's: what configuration can name, and what keeps less than the contract asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxgc.core.heap import Heap
from ctxgc.core.policy import Verdict


@dataclass(frozen=True, slots=True)
class Custom:
    """Somebody else's policy. ``size``: a number."""

    size: int = 1

    @property
    def name(self) -> str:
        return "custom"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return ()


class Plain:
    """A policy that is no dataclass."""

    name = "plain"

    def __init__(self, size: int = 1) -> None:
        if size < 0:
            raise ValueError("size is negative")
        self.size = size

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return [Verdict(0, self.name, "x", "y", text=str(id(object())))]


@dataclass(frozen=True, slots=True)
class Silent:
    """Says ``size``, ``shape``: two numbers, and of ``depth`` nothing."""

    size: int = 1
    shape: int = 1
    depth: int = 1
    name: str = "silent"
