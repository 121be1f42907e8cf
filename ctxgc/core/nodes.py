"""What a state is made of: messages in the trie of histories, what is known of them, and sums of tokens.

Rule: values only. A history is changed by putting other nodes in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

MEMORY = 8
"""References to a cell that are remembered one by one: the newest."""

Tally = Mapping[str, int]
"""Tokens per tag."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A span of a history that is not sent: the nodes from ``following``, behind ``after``, up to ``upto``, but for
    those ``kept``. ``messages`` stand in its place, and ``cells`` are theirs. ``number`` counts (from 1) how often the
    history has been compacted, ``told`` is the position in the ledger's log up to which it tells of it."""

    after: int
    following: int
    upto: int
    kept: frozenset[int]
    messages: tuple[bytes, ...]
    cells: tuple[int, ...]
    number: int = 1
    told: int = -1


class Node(msgspec.Struct, frozen=True):
    """A message in the trie of histories. ``received`` and ``sent`` are the tokens of the whole path to it, per tag.

    ``offer`` numbers the tool of ours that its history offers (-1: none). ``compacted`` is the span that histories
    through it are sent without, ``told`` what the history before it was told of the ledger, up to which position.
    """

    id: int
    parent: int
    depth: int
    turn: int
    chain: bytes
    blob: bytes
    gap: bytes
    role: str
    eden: bool
    cells: tuple[int, ...]
    received: Tally
    sent: Tally
    edits: Mapping[int, str] = msgspec.field(default_factory=dict)
    offer: int = -1
    compacted: Compacted | None = None
    told: int = -1


class Head(msgspec.Struct, frozen=True):
    """The last node of a request: with which tool set and model, and when (Unix seconds) it was in use last.

    ``offered`` says that the request left with the tool of ours that its history offers, ``continues`` that it went on
    from what was there: the session's main history does, after its first request, and helper calls do not.
    """

    toolset: int
    model: str
    at: float
    offered: bool = False
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Toolset:
    """A tool list that requests of the session carried: its cells, and their tokens per tag."""

    cells: tuple[int, ...]
    tally: Tally


class Marks(msgspec.Struct, frozen=True):
    """What is known of the references to a cell: how many turns made one, the newest of them, and where they point."""

    count: int = 0
    turn: int = 0
    at: tuple[int, ...] = ()
    by: tuple[int, ...] = ()

    def marked(self, source: int, turn: int, at: Iterable[int]) -> Marks:
        """With one more reference, by the cell ``source``. A turn that refers to a cell several times counts once."""
        count = self.count + (turn != self.turn or not self.count)
        return Marks(count, max(turn, self.turn), tuple(sorted({*self.at, *at})), (*self.by, source)[-MEMORY:])


_NOTHING: Tally = {}
ROOT = Node(-1, -1, -1, 0, bytes(32), b"", b"", "", False, (), _NOTHING, _NOTHING)
"""The empty history."""


def add(tally: Tally, items: Iterable[tuple[str, int]]) -> Tally:
    """A new tally with more tokens in it."""
    total = dict(tally)
    for tag, tokens in items:
        total[tag] = total.get(tag, 0) + tokens
    return total
