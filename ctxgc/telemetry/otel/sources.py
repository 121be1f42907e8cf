"""Who answers: the provider's name as the GenAI conventions write it, and the address it is reached at.

Rule: the upstream's address says who it is; where it does not (a gateway, a local server), the model's name may.
"""

from __future__ import annotations

from urllib.parse import urlsplit

FALLBACK = "openai"
"""The name also says which format is spoken: that of OpenAI, here, if nothing better is known."""
_HOSTS = (
    ("api.openai.com", "openai"),
    (".openai.azure.com", "azure.ai.openai"),
    (".services.ai.azure.com", "azure.ai.inference"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("-aiplatform.googleapis.com", "gcp.vertex_ai"),
    (".amazonaws.com", "aws.bedrock"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.moonshot.ai", "moonshot_ai"),
    ("api.moonshot.cn", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
    ("api.cohere.com", "cohere"),
    ("api.cohere.ai", "cohere"),
)
_NAMES = {
    "openai": "openai", "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference", "anthropic": "anthropic",
    "gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai", "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock", "cohere": "cohere", "cohere_chat": "cohere", "deepseek": "deepseek",
    "groq": "groq", "mistral": "mistral_ai", "moonshot": "moonshot_ai", "perplexity": "perplexity", "xai": "x_ai",
    "watsonx": "ibm.watsonx.ai",
}  # fmt: skip
"""From the price table's names to those of the conventions."""


def address(upstream: str) -> tuple[str, int]:
    """Host and port of a base URL; empty and 0 where it has none."""
    try:
        parts = urlsplit(upstream)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", 0
    return host, (port or (80 if parts.scheme == "http" else 443)) if host else 0


def by_host(host: str) -> str:
    """The provider that a host belongs to; empty where that is not known."""
    host = host.lower()
    return next((name for end, name in _HOSTS if host == end or host.endswith(_within(end))), "")


def _within(end: str) -> str:
    """How the hosts end that belong to it: not just with the same letters."""
    return end if end[0] in ".-" else f".{end}"


def by_model(provider: str) -> str:
    """The provider of a model, as the price table names it (``vertex_ai-...`` is Vertex, too)."""
    return _NAMES.get(provider) or _NAMES.get(provider.partition("-")[0], FALLBACK)
