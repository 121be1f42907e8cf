from __future__ import annotations

import pytest

from ctxgc.policies.pin import Pin
from tests.policies.residents import heap, proposed, resident


@pytest.mark.parametrize(
    ("tag", "pinned"),
    [
        ("tool_result:read_plan", True),
        ("Tool_Result:Read_Plan", True),
        ("retrieval:web", True),
        ("tool_result:read", False),
        ("user_turn", False),
    ],
)
def test_tags_are_pinned_by_pattern(tag: str, pinned: bool) -> None:
    assert Pin(tags=("tool_result:READ_PLAN", "retrieval:*")).pins(tag, "any()") is pinned


@pytest.mark.parametrize(
    ("site", "pinned"), [('read_file({"path":"PLAN.md"})', True), ('read_file({"path":"a.py"})', False)]
)
def test_sites_are_pinned_by_pattern(site: str, pinned: bool) -> None:
    assert Pin(sites=("read_file(*plan.md*)",)).pins("tool_result:read_file", site) is pinned


def test_a_tag_is_not_taken_for_a_site_nor_a_site_for_a_tag() -> None:
    assert not Pin(tags=("read_plan*",)).pins("tool_result:x", "read_plan()")
    assert not Pin(sites=("tool_result:*",)).pins("tool_result:x", "read_plan()")


def test_nothing_is_pinned_by_default() -> None:
    assert not Pin().pins("tool_result:x", "x()")


def test_it_proposes_nothing() -> None:
    assert proposed(Pin(tags=("*",)), heap(resident(turn=0), surplus=9000)) == []


def test_an_empty_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Pin(tags=("",))
