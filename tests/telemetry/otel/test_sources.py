"""Who answers, by address and by model."""

from __future__ import annotations

import pytest

from ctxgc.telemetry.otel.sources import address, by_host, by_model


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://api.openai.com/v1", ("api.openai.com", 443)),
        ("http://127.0.0.1:4000/v1", ("127.0.0.1", 4000)),
        ("http://localhost", ("localhost", 80)),
        ("http://[::1]:9/v1", ("::1", 9)),
        ("http://x:99999", ("", 0)),
        ("", ("", 0)),
    ],
)
def test_the_address_is_that_of_the_base_url(url, found):
    assert address(url) == found


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("mine.openai.azure.com", "azure.ai.openai"),
        ("us-east1-aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("API.X.AI", "x_ai"),
        ("eu.api.openai.com", "openai"),
        ("127.0.0.1", ""),
        ("notapi.openai.com", ""),
        ("myapi.x.ai", ""),
    ],
)
def test_a_known_host_names_its_provider(host, provider):
    assert by_host(host) == provider


@pytest.mark.parametrize(
    ("table", "provider"),
    [
        ("anthropic", "anthropic"),
        ("vertex_ai-language-models", "gcp.vertex_ai"),
        ("mistral", "mistral_ai"),
        ("", "openai"),
        ("somebody", "openai"),
    ],
)
def test_a_models_provider_is_named_as_the_conventions_do_and_else_by_the_format_that_is_spoken(table, provider):
    assert by_model(table) == provider
