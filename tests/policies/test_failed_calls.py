from __future__ import annotations

import pytest

from ctxgc.policies.failed_calls import FailedCalls
from tests.policies.residents import cells, heap, lifetime, proposed, resident


def test_a_failure_that_was_overcome_becomes_a_stub() -> None:
    (verdict,) = proposed(FailedCalls(), heap(resident(turn=5, referenced=6, overcome=True)))
    assert (verdict.excerpt, verdict.action, verdict.since) == (0.0, "stub", 8)
    assert verdict.reason == "failed; the call succeeded later"


def test_one_that_was_not_stays() -> None:
    assert cells(FailedCalls(), heap(resident(turn=0))) == []


def test_it_stays_for_some_turns() -> None:
    assert lifetime(FailedCalls(), resident(turn=5, overcome=True), until=9) == [7, 8]


def test_what_an_edit_may_quote_stays() -> None:
    assert cells(FailedCalls(), heap(resident(overcome=True, quotable=True))) == []


@pytest.mark.parametrize("wrong", [{"idle": 0}, {"keep": 2}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is at least|is a share"):
        FailedCalls(**wrong)
