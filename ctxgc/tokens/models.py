"""What a model's name says: which encoding it uses, and the names it may be listed under.

Rule: names are matched as text; nothing is loaded and no one is asked.
"""

from __future__ import annotations

import re

_PROVIDER = re.compile(r"^(?:[a-z-]+\.)*openai\.|^databricks-")  # us.openai.gpt-6-sol, databricks-gpt-5
_O200K = re.compile(r"gpt-(?:4o|4\.1|4\.5|[5-9](?!\d)|oss)|chatgpt|o[1-9](?:$|-)|codex|computer-use")
_CL100K = re.compile(r"gpt-(?:4|3\.5|35)|text-embedding-")
_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


def bare_name(model: str) -> str:
    """The model's own name: "azure/us/gpt-5" and "openai.gpt-5" are gpt-5, "ft:gpt-4o:org::id" is gpt-4o."""
    name = model.strip().lower().rpartition("/")[2]
    name = name.removeprefix("ft:").partition(":")[0].partition("@")[0]
    return _PROVIDER.sub("", name)


def undated(name: str) -> str:
    """`name` without a trailing date ("-2025-08-07", "-20250929") or "-latest"."""
    return _DATE.sub("", name)


def encoding_of(model: str) -> str | None:
    """The encoding OpenAI's `model` is known to use, "o200k_base" or "cl100k_base"; None for any other model.

    gpt-oss uses o200k_harmony, which differs from o200k_base in special tokens only.
    """
    name = bare_name(model)
    if _O200K.match(name):
        return "o200k_base"
    if _CL100K.match(name):
        return "cl100k_base"
    return _listed(name)


def _listed(name: str) -> str | None:
    """What tiktoken's own table says, for models of the two encodings that are available offline."""
    try:
        from tiktoken.model import encoding_name_for_model

        encoding = encoding_name_for_model(name)
    except (ImportError, KeyError):
        return None
    return encoding if encoding in ("o200k_base", "cl100k_base") else None


def price_names(model: str) -> tuple[str, ...]:
    """Names a price table may list `model` under, the most specific first.

    As written; without its provider, one part at a time; bare; each of them undated; with dots as dashes
    (claude-opus-4.5 is claude-opus-4-5). A fine-tuned model falls back to the model it was made from.
    """
    name = model.strip()
    names = [name, name.lower()]
    while "/" in name:
        name = name.partition("/")[2]
        names.append(name.lower())
    if name.startswith("ft:"):
        names.append(":".join(name.lower().split(":")[:2]))
    names.append(bare_name(model))
    names += [undated(each) for each in names]
    names += [each.replace(".", "-") for each in names]
    return tuple(dict.fromkeys(filter(None, names)))
