"""Compact: its terms, and that it takes nothing by itself."""

from __future__ import annotations

import pytest

from ctxgc.policies import PolicyError, build
from ctxgc.policies.compact import Compact
from ctxgc.session.compacting import terms_of
from tests.policies.residents import heap, proposed, resident


def test_it_proposes_nothing_since_spans_are_no_cells() -> None:
    assert proposed(Compact(), heap(resident(1), resident(2), surplus=10_000)) == []


def test_its_terms_are_those_that_are_documented() -> None:
    terms = Compact()
    assert (terms.tail, terms.record, terms.opening, terms.saving, terms.limit) == (20_000, 4_000, 1_500, 8_000, 8)
    assert terms.name == "compact"


@pytest.mark.parametrize(
    "wrong", [{"tail": -1}, {"record": 399}, {"opening": -1}, {"saving": -1}, {"limit": 0}, {"limit": -5}]
)
def test_terms_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Compact(**wrong)


def test_it_is_built_by_name_and_found_among_others() -> None:
    (policy,) = build([{"name": "compact", "tail": 5_000}])
    assert policy == Compact(tail=5_000)
    assert terms_of([*build([{"name": "dedup"}]), policy]) is policy
    assert terms_of(build([{"name": "dedup"}])) is None


def test_control_another_setting_is_refused() -> None:
    with pytest.raises(PolicyError, match="tails"):
        build([{"name": "compact", "tails": 1}])
