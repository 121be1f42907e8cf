from __future__ import annotations

import pytest

from ctxgc.core.block import Kind
from ctxgc.policies.reasoning import Reasoning
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_old_thinking_goes_whole() -> None:
    (verdict,) = proposed(Reasoning(), heap(resident(turn=15, kind=Kind.THINKING)))
    assert (verdict.excerpt, verdict.action, verdict.since) == (0.0, "drop", 18)
    assert verdict.reason == "reasoning, unused for 5 turns"


def test_new_thinking_stays() -> None:
    assert lifetime(Reasoning(), resident(turn=5, kind=Kind.THINKING), until=10) == [8, 9]


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.THINKING])
def test_nothing_but_thinking_goes(kind: Kind) -> None:
    assert cells(Reasoning(), heap(resident(turn=0, kind=kind))) == []


def test_what_is_gone_or_pinned_is_not_named() -> None:
    gone, pinned = resident(kind=Kind.THINKING, sent=0), resident(kind=Kind.THINKING, pinned=True)
    assert cells(Reasoning(), heap(gone, pinned)) == []


def test_short_thinking_goes_too() -> None:
    assert cells(Reasoning(), heap(resident(kind=Kind.THINKING, tokens=9))) == [0]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="idle is at least 1, not 0"):
        Reasoning(idle=0)
