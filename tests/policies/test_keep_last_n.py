from __future__ import annotations

import pytest

from ctxgc.core.block import Kind
from ctxgc.policies.keep_last_n import KeepLastN
from tests.heaps import arrival
from tests.policies.residents import cells, heap, proposed, resident

FOUND = [resident(cell) for cell in range(12)]


def test_all_but_the_last_results_go() -> None:
    assert cells(KeepLastN(), heap(*FOUND)) == [0, 1]
    assert cells(KeepLastN(n=12), heap(*FOUND)) == []


def test_they_become_stubs_at_once() -> None:
    verdict = proposed(KeepLastN(), heap(*FOUND))[0]
    assert (verdict.excerpt, verdict.urgency, verdict.reason) == (0.0, "now", "not among the last 10 results")


def test_what_just_arrived_is_among_the_last() -> None:
    eden = [arrival("x"), arrival("y"), arrival("words", kind=Kind.TEXT)]
    assert cells(KeepLastN(), heap(*FOUND, eden=eden)) == [0, 1, 2, 3]
    assert cells(KeepLastN(n=1), heap(*FOUND, eden=eden)) == list(range(12))


def test_pinned_results_stay_and_count() -> None:
    pinned = [resident(cell, pinned=True) for cell in (0, 11)]
    assert cells(KeepLastN(), heap(pinned[0], *FOUND[1:11], pinned[1])) == [1]


def test_the_order_is_that_of_the_history() -> None:
    assert sorted(cells(KeepLastN(n=10), heap(*reversed(FOUND)))) == [0, 1]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="n is at least 1, not 0"):
        KeepLastN(n=0)
