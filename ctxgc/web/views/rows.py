"""Rows by tag and by site: the sums of the figures of cells.

Rule: the same figures as ``ctxgc.lab.profile`` has in its rows, and all of them only for those that are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ctxgc.web.views.figures import Figures, Names
from ctxgc.web.views.plain import Document

MOST = 300
"""Rows of one table."""


def rows(names: Names, of: Sequence[int], made: Figures) -> list[Document]:
    """A row for each of ``names``, the largest first. ``of`` is the number of the name of each cell."""
    sends = [_sum(made.sent_turns, cells) for cells in names.cells]
    along, pointers = Counter[int](), Counter[int]()
    for name, cell in _along(of, made):
        along[name] += made.held[cell]
    for cell, number in made.pointers.items():
        pointers[of[cell]] += number
    return [
        {**_row(names.names[at], names.cells[at], made, along[at]), "pointers": pointers[at]}
        for at in _largest(sends, names.names)
    ]


def _row(name: str, cells: Sequence[int], made: Figures, along: int) -> Document:
    """``along`` are the tokens that go with the residents of a name though they have another."""
    tokens, turns, resident = _sum(made.tokens, cells), _sum(made.token_turns, cells), _sum(made.held, cells)
    return {
        "name": name,
        "cells": len(cells),
        "tokens": tokens,
        "resent": turns - tokens,
        "token_turns": turns,
        "sent": _sum(made.sent, cells),
        "sent_turns": _sum(made.sent_turns, cells),
        "resident": resident,
        "retained": resident + along,
    }


def _sum(column: Sequence[int], cells: Iterable[int]) -> int:
    return sum(map(column.__getitem__, cells))


def _largest(sends: Sequence[int], names: Sequence[str]) -> list[int]:
    """The numbers of the names that sent most."""
    least = sorted(sends, reverse=True)[:MOST][-1:]
    found = [at for at, sent in enumerate(sends) if sent >= least[0]]
    return sorted(found, key=lambda at: (-sends[at], names[at]))[:MOST]


def _along(of: Sequence[int], made: Figures) -> Iterator[tuple[int, int]]:
    """What goes with the residents of each name though it has another, once: calls with their results, and the
    reverse."""
    found = set[tuple[int, int]]()
    for call, result in made.pairs:
        one, other = of[call], of[result]
        if one == other:
            continue
        yield one, result
        if call in made.several:
            found.add((other, call))
        else:
            yield other, call
    yield from found
