from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.tokens import image_tokens
from ctxgc.tokens.images import RULES, rule_for

# fmt: off
MODELS = [
    "gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "o3", "o4-mini", "gpt-5", "gpt-5-mini",
    "gpt-5-nano", "gpt-5.2", "gpt-5.4", "gpt-5.5", "gpt-6-sol", "claude-opus-4-5", "claude-opus-5-5", "gemini-3-pro",
    "unknown",
]
# fmt: on
DETAILS = [None, "low", "high", "auto", "original", "nonsense"]


@pytest.mark.parametrize(
    ("model", "width", "height", "detail", "tokens"),
    [
        # OpenAI's own examples.
        ("gpt-4o", 1024, 1024, "high", 765),
        ("gpt-4o", 2048, 4096, "high", 1105),
        ("gpt-4o", 4096, 8192, "low", 85),
        ("gpt-4.1-mini", 1024, 1024, None, 1659),  # 1024 patches
        ("gpt-4.1-mini", 1800, 2400, None, 2353),  # 1452 patches
        # Bills reported by users.
        ("openai/gpt-4o-mini", 128, 64, "high", 8500),
        ("o3-2025-04-16", 128, 64, "high", 225),
        ("gpt-6-astra", 4032, 3024, "auto", 14_364),
        ("gpt-6-astra", 4032, 3024, "high", 2942),
        ("gpt-5.5", 4032, 3024, None, 11_868),
        ("claude-opus-4-5", 1024, 1024, None, 1369),
        ("claude-opus-5-5", 1920, 1080, None, 2691),
        # Limits.
        ("gpt-5", 100, 100, "low", 70),
        ("claude-opus-5-5", 8000, 8000, None, 69 * 69),
        ("unknown", 8000, 8000, None, 1600),
    ],
)
def test_images_cost_what_the_published_rules_and_bills_say(model, width, height, detail, tokens):
    assert image_tokens(model, width, height, detail) == tokens


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [(None, None), (None, 10), (10, None), (0, 10), (-5, 10)])
def test_an_unknown_size_counts_as_1024_by_1024(model, size):
    assert image_tokens(model, *size, "high") == image_tokens(model, 1024, 1024, "high")


@given(st.sampled_from(MODELS), st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(DETAILS))
def test_every_image_costs_something_and_no_more_than_a_budget(model, width, height, detail):
    assert 1 <= image_tokens(model, width, height, detail) <= 78_644


@given(st.sampled_from(MODELS), st.integers(1, 5000), st.integers(1, 5000), st.sampled_from(DETAILS))
def test_a_turned_image_costs_the_same(model, width, height, detail):
    assert image_tokens(model, width, height, detail) == image_tokens(model, height, width, detail)


def test_every_rule_is_reachable():
    # fmt: off
    names = [
        "gpt-4o-mini", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4-turbo", "codex-mini-latest", "o1",
        "computer-use-preview", "gpt-5.1-codex-mini", "gpt-5-nano", "gpt-5-codex", "gpt-5.3-codex", "gpt-5.4-mini",
        "gpt-5.5", "gpt-6.1-sol",
    ]
    # fmt: on
    assert [rule_for(name) for name in names] == [rule for _, rule in RULES]
