from __future__ import annotations

import pytest

from ctxgc.policies.superseded import Superseded
from tests.policies.residents import cells, heap, proposed, resident


def test_what_is_out_of_date_becomes_a_stub() -> None:
    (verdict,) = proposed(Superseded(), heap(resident(turn=5, referenced=9, stale="written since, in turn 12")))
    assert (verdict.excerpt, verdict.action, verdict.since) == (0.0, "stub", 10)
    assert verdict.reason == "written since, in turn 12"


def test_what_is_current_stays() -> None:
    assert cells(Superseded(), heap(resident(turn=0))) == []


def test_an_excerpt_may_stay() -> None:
    (verdict,) = proposed(Superseded(keep=0.25), heap(resident(stale="read again")))
    assert (verdict.excerpt, verdict.action) == (0.25, "excerpt")


def test_a_share_is_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="keep is a share between 0 and 1, not 3"):
        Superseded(keep=3)
