from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.tokens.models import bare_name, encoding_of, price_names

# fmt: off
O200K = [
    "gpt-4o", "gpt-4o-mini", "gpt-4o-2024-08-06", "gpt-4.1", "gpt-4.1-nano", "gpt-4.5-preview", "gpt-5",
    "gpt-5-2025-08-07", "gpt-5.5", "gpt-5.1-codex", "gpt-6-sol", "gpt-6.1-terra", "o1", "o1-pro", "o3",
    "o3-mini-2025-01-31", "o4-mini", "chatgpt-4o-latest", "codex-mini-latest", "gpt-oss-120b", "openai/gpt-5",
    "azure/us/gpt-5.5", "openrouter/openai/gpt-4o:extended", "ft:gpt-4o:acme::x1", "us.openai.gpt-6-sol",
    "ft:gpt-4o-2024-08-06:acme:name:x1", "GPT-5", "databricks-gpt-5",
]
CL100K = [
    "gpt-4", "gpt-4-0613", "gpt-4-turbo", "gpt-4-32k", "gpt-3.5-turbo", "gpt-35-turbo", "azure/gpt-35-turbo-16k",
    "ft:gpt-4:a::b", "text-embedding-3-small", "text-embedding-ada-002", "ft:gpt-3.5-turbo:acme::x", "davinci-002",
]
OTHERS = [
    "claude-opus-5-5", "gemini/gemini-2.5-pro", "deepseek-chat", "anthropic/claude-opus-4.5", "my-deployment", "o200",
    "omni", "o1x", "llama-3.1-70b", "qwen3", "mistral-large", "grok-4", "text-davinci-003", "gpt2", "gpt-image-1",
    "xgpt-5", "", "/", ":",
]
# fmt: on


@pytest.mark.parametrize(
    ("encoding", "models"),
    [("o200k_base", O200K), ("cl100k_base", CL100K), (None, OTHERS)],
    ids=["o200k", "cl100k", "none"],
)
def test_models_have_the_encoding_their_name_tells(encoding, models):
    assert {model: encoding_of(model) for model in models} == dict.fromkeys(models, encoding)


def test_every_model_tiktoken_lists_has_its_encoding_here():
    table = pytest.importorskip("tiktoken.model").MODEL_TO_ENCODING
    listed = {name: encoding for name, encoding in table.items() if encoding in ("o200k_base", "cl100k_base")}
    assert len(listed) > 10
    assert {name: encoding_of(name) for name in listed} == listed


def test_the_bare_name_has_no_provider_tuning_or_variant():
    assert bare_name(" Azure/EU/GPT-5@default ") == "gpt-5"
    assert bare_name("ft:gpt-4o-2024-08-06:acme::id") == "gpt-4o-2024-08-06"


def test_price_names_go_from_the_specific_to_the_general():
    names = price_names("openrouter/anthropic/claude-opus-4.5-20251101")
    expected = ["openrouter/anthropic/claude-opus-4.5-20251101", "anthropic/claude-opus-4.5-20251101"]
    assert list(names[:2]) == expected
    assert names.index("claude-opus-4.5") < names.index("claude-opus-4-5")


@given(st.text())
def test_any_name_is_read_without_an_error(model):
    assert encoding_of(model) in ("o200k_base", "cl100k_base", None)
    assert all(price_names(model))
