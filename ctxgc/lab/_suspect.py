"""Suspects and what all rules that find them need: the session, its total, and which message stands before which.

Rule: what is asked of a session by several rules is made once, and only if one of them asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from operator import eq

from ctxgc.lab.requests import Carried, Request
from ctxgc.session.collecting import YOUNG

IDLE = YOUNG
"""Turns without a reference after which a cell is idle."""
COLLECT = 'policy = "generational"'
"""The line that turns collecting on where nothing is."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A tool as it was offered: tokens of its schema, requests that carried it, token-turns, and calls of the tool.

    ``ours`` is the recall tool, which is there for when it is needed.
    """

    name: str
    tokens: int
    requests: int
    token_turns: int
    calls: int
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspicion: the rule it comes from, whom it is about, how many token-turns and what share of all they are.

    ``sentence`` says it in plain words, ``action`` what could be done, and ``setting`` what of that is a line for
    ``ctxgc.toml`` (empty: nothing is, or the journal shows that it is set).
    """

    rule: str
    subject: str
    figure: int
    share: float
    sentence: str
    action: str
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Hand:
    """Of cells that the newest request sends: their tokens, and all tokens sent for them; and the same of those that
    are idle: they came more than ``IDLE`` turns ago, and nothing has referred to them since."""

    tokens: int = 0
    sent_turns: int = 0
    idle: int = 0
    idle_turns: int = 0


class Case:
    """One session under suspicion. ``total`` are all tokens that were sent."""

    def __init__(self, carried: Carried, schemas: Sequence[Schema]) -> None:
        self.carried, self.schemas, self.state = carried, schemas, carried.state
        self.total = sum(carried.sent_turns)

    def suspect(
        self, rule: str, subject: str, figure: int, sentence: str, action: str, setting: str = ""
    ) -> Suspect:  # fmt: skip
        """A suspect, with its share of all tokens sent in its sentence."""
        share = figure / self.total if self.total else 0.0
        return Suspect(rule, subject, figure, share, f"{sentence} ({share:.0%} of all tokens sent).", action, setting)

    @property
    def advice(self) -> str:
        """The line that turns the usual policies on; empty where some policy is seen at work: which others are on, and
        with which parameters, the journal does not say."""
        return "" if self.works else COLLECT

    def idleness(self, share: float, what: str) -> str:
        """That so much of something is idle, in words. References are only followed where something can be collected:
        where they were not, nothing is said of them."""
        if self.state.covered:
            return f"nothing has referred to {share:.0%} of {what} for {IDLE} turns"
        return f"{share:.0%} of {what} came more than {IDLE} turns ago"

    @property
    def works(self) -> bool:
        """Whether the journal shows policies at work: edits of theirs, or cells that they would have go."""
        return bool(self.carried.policies - {"collector"}) or self.state.pace.candidates > 0

    def on(self, *policies: str) -> bool:
        """Whether the journal shows that one of these policies is on."""
        return not self.carried.policies.isdisjoint(policies)

    def stands_before(self, other: int, cell: int) -> bool:
        """Whether one cell's message stands before another's in its history, or is the same."""
        owners = self.state.owners
        begin, end = self._place(owners[other])
        return begin <= self._place(owners[cell])[0] < end

    def repeats(self, cells: Iterable[int]) -> Iterator[int]:
        """Of cells with one content, those before which another one stands in the same history."""
        place, owners, reach = self._place, self.state.owners, -1
        for _, cell in sorted((place(owners[cell])[0], cell) for cell in cells if owners[cell] >= 0):
            begin, end = place(owners[cell])
            if begin < reach:
                yield cell
            reach = max(reach, end)

    def _place(self, node: int) -> tuple[int, int]:
        """A node's place among all nodes in the order in which a walk down the histories comes to them, and the first
        place behind all that follows it."""
        return (node, len(self.state.nodes)) if self._straight else self._places[node]

    @cached_property
    def _straight(self) -> bool:
        """Whether there is one history, without branches."""
        return all(map(eq, (node.parent for node in self.state.nodes), count(-1)))

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """The places of all nodes. Numbers of children are above their parents', so two passes do."""
        nodes = self.state.nodes
        sizes = [1] * len(nodes)
        for at in range(len(nodes) - 1, -1, -1):
            if nodes[at].parent >= 0:
                sizes[nodes[at].parent] += sizes[at]
        free, places = 0, list[tuple[int, int]]()
        inside = [0] * len(nodes)
        for at, node in enumerate(nodes):
            if node.parent < 0:
                begin, free = free, free + sizes[at]
            else:
                begin = inside[node.parent]
                inside[node.parent] += sizes[at]
            inside[at] = begin + 1
            places.append((begin, begin + sizes[at]))
        return places

    @cached_property
    def newest(self) -> Request | None:
        """The newest request of the main history."""
        return self.carried.newest()

    @cached_property
    def hands(self) -> dict[str, Hand]:
        """By tag, what of it the newest request has in hand."""
        if self.newest is None:
            return {}
        cells, sent_turns, marks = self.state.cells, self.carried.sent_turns, self.state.marks
        oldest, found = self.state.node(self.newest.head).turn - IDLE, dict[str, list[int]]()
        for node in self.state.shown(self.newest.head):
            old = node.turn < oldest  # and so are its cells
            for number in node.cells:
                cell, turns = cells[number], sent_turns[number]
                tokens, hand = cell.sent, found.get(cell.tag)
                if hand is None:
                    hand = found[cell.tag] = [0, 0, 0, 0]
                hand[0] += tokens
                hand[1] += turns
                if old and (number not in marks or marks[number].turn < oldest):
                    hand[2] += tokens
                    hand[3] += turns
        return {tag: Hand(*sums) for tag, sums in found.items()}


def times(count: int) -> str:
    """A number of times, in words."""
    return "once" if count == 1 else f"{count} times"


def named(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
