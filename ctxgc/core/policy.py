"""Policies propose: a policy is a small frozen value that looks at a heap and says what may go, and why.

Rule: a policy removes nothing, and holds no model, clock or store. What it says is checked by the collector.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from ctxgc.core.heap import Heap

Urgency = Literal["priced", "now", "forced"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One proposal about one cell.

    Either ``keep`` (the spans of the cell's text, as character offsets, that stay; the collector puts a stub into
    each gap), or ``text`` (a whole text that says the same), or ``of`` (the visible cell that says the same), or
    ``excerpt`` (the share of its tokens, 0 to 1, that its most telling lines may take; 0 leaves a bare stub), of which
    none is worth less than ``density`` per token (see ``core.digest``).
    ``gaps`` says for each gap which units it leaves out, counted from 1, of ``total`` ``unit`` (lines, elements);
    without it, gaps are counted in characters. ``reason`` is a few plain words.

    Residents (cells that were sent before) go by ``excerpt`` only. ``since`` is the turn from which on it was dead:
    what was paid for it since then decides when it goes (a turn to come: it goes along with others). ``urgency`` says
    when: ``priced`` when it pays, ``now`` whatever it costs, ``forced`` only when the window or the quality budget
    asks for room.
    """

    cell: int
    policy: str
    action: str
    reason: str
    keep: tuple[tuple[int, int], ...] = ()
    text: str | None = None
    of: int | None = None
    unit: str = "lines"
    gaps: tuple[tuple[int, int], ...] = ()
    total: int = 0
    excerpt: float | None = None
    density: float = 0.0
    since: int = 0
    urgency: Urgency = "priced"


class Policy(Protocol):
    """The seam for policies, built in or third party. A policy's name is the name of its module."""

    @property
    def name(self) -> str:
        """The name it has in configuration, in the journal and in metrics."""

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        """Say what may go. Pure: the same heap gets the same verdicts, on any machine."""
