"""The requests of a session in columns: what came and what left, by family of tags, and what the provider reported.

Rule: a column only grows, but for what is said of a request when it has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctxgc.core.journal import Pace, Settlement
from ctxgc.lab.requests import Request
from ctxgc.web.views.families import Families
from ctxgc.web.views.plain import Document, plain

OPEN = "open"
"""The outcome of a request whose end is not known."""
_FIGURES = ("fresh", "fresh_sent", "prefix_sent", "again")
_USAGE = ("reported", "cached", "output")


@dataclass(slots=True)
class Stack:
    """Tokens by family: a column each."""

    columns: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, sums: Mapping[str, int]) -> int:
        """Take request ``number`` (from 1); gives its total."""
        for family in sums.keys() - self.columns.keys():
            self.columns[family] = [0] * (number - 1)
        for family, column in self.columns.items():
            column.append(sums.get(family, 0))
        return sum(sums.values())

    def document(self, families: list[str], count: int) -> Document:
        """The columns of all families, each of that length."""
        return {plain(name): list(self.columns.get(name, ())) or [0] * count for name in families}


@dataclass(slots=True)
class Turns:
    """See the module: ``document`` has the columns."""

    families: Families = field(default_factory=Families)
    count: int = 0
    at: list[float] = field(default_factory=list)
    models: dict[str, int] = field(default_factory=dict)
    model: list[int] = field(default_factory=list)
    received: Stack = field(default_factory=Stack)
    sent: Stack = field(default_factory=Stack)
    received_total: list[int] = field(default_factory=list)
    sent_total: list[int] = field(default_factory=list)
    figures: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _FIGURES})
    usage: dict[str, list[int | None]] = field(default_factory=lambda: {name: [] for name in _USAGE})
    outcome: list[str] = field(default_factory=list)
    net: list[float] = field(default_factory=list)
    _ended: dict[int, Settlement] = field(default_factory=dict)

    def pace(self, pace: Pace | None) -> None:
        """Take what the pacer said of the next request; without it, nothing has changed."""
        last = self.net[-1] if self.net else 0.0
        self.net.append(last if pace is None else pace.untouched - pace.paid)

    def add(self, request: Request) -> None:
        """Take a request as it left."""
        self.count = request.number
        self.at.append(request.at)
        self.model.append(self.models.setdefault(request.model, len(self.models)))
        received = self.families.sums(request.received)
        sent = received if request.sent is request.received else self.families.sums(request.sent)
        self.received_total.append(self.received.add(request.number, received))
        self.sent_total.append(self.sent.add(request.number, sent))
        for name in _FIGURES:
            self.figures[name].append(int(getattr(request, name)))
        for column in self.usage.values():
            column.append(None)
        self.outcome.append(OPEN)
        if request.number in self._ended:
            self.end(request.number, self._ended.pop(request.number))

    def end(self, number: int, entry: Settlement) -> None:
        """Take how request ``number`` ended; it may not have been taken yet."""
        if number > self.count:
            self._ended[number] = entry
            return
        self.outcome[number - 1] = plain(entry.outcome)
        if entry.usage is not None:
            said = entry.usage.input, entry.usage.cached, entry.usage.output
            for name, value in zip(_USAGE, said, strict=True):
                self.usage[name][number - 1] = value

    def document(self) -> Document:
        """The columns as the page has them."""
        stack = self.families.stack()
        return {
            "count": self.count,
            "at": list(self.at),
            "model": list(self.model),
            "received": self.received.document(stack, self.count),
            "sent": self.sent.document(stack, self.count),
            "received_total": list(self.received_total),
            "sent_total": list(self.sent_total),
            **{name: list(column) for name, column in self.figures.items()},
            **{name: list(column) for name, column in self.usage.items()},
            "outcome": list(self.outcome),
            "net": self.net[: self.count],
        }
