"""Rows by tag and by site: the sums of the figures of cells.

Rule: the same figures as ``ctxgc.lab.profile`` has in its rows, made in one pass over all cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from ctxgc.web.views.figures import Figures, Names
from ctxgc.web.views.plain import Document

MOST = 300
"""Rows of one table."""


def rows(names: Names, of: Sequence[int], made: Figures, answers: Sequence[tuple[int, int]]) -> list[Document]:
    """A row for each of ``names``, the largest first. ``of`` is the number of the name of each cell."""
    count = len(names.names)
    sent, resident, turns, sends = ([0] * count for _ in range(4))
    held = list(map(mul, made.sent, made.resident))
    for at, left, size, all_came, all_left in zip(of, made.sent, held, made.token_turns, made.sent_turns, strict=True):
        sent[at] += left
        resident[at] += size
        turns[at] += all_came
        sends[at] += all_left
    retained, pointers = list(resident), [0] * count
    for name, cell in _along(of, made, answers):
        retained[name] += held[cell]
    for cell, number in made.pointers.items():
        pointers[of[cell]] += number
    largest = sorted(range(count), key=lambda at: (-sends[at], names.names[at]))[:MOST]
    return [
        {
            "name": names.names[at],
            "cells": names.cells[at],
            "tokens": names.tokens[at],
            "resent": turns[at] - names.tokens[at],
            "token_turns": turns[at],
            "sent": sent[at],
            "sent_turns": sends[at],
            "resident": resident[at],
            "retained": retained[at],
            "pointers": pointers[at],
        }
        for at in largest
    ]


def _along(of: Sequence[int], made: Figures, answers: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """What goes with the residents of each name though it has another: calls with their results, and the reverse."""
    here = made.resident
    apart = [(call, result) for call, result in answers if of[call] != of[result] and here[call] and here[result]]
    return {(of[call], result) for call, result in apart} | {(of[result], call) for call, result in apart}
