"""One completion through litellm: the call, the ways to ask for JSON, and what is wrong with it on one line.

Rule: runs in the child process only; nothing leaves it but the answer, and no secret is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ctxgc.summarise.asking import Ask, Said

MOST = 2_000_000
"""Characters of an answer that are passed on: more is no record."""

_TOKENS = re.compile(r"(?i)\b(?:sk|pk|key|tok|ghp|gsk|xai|AIza|Bearer)[-_ ][\w.*-]{4,}|\b[\w-]{32,}\b")
_SECRET = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")
_REFUSED = (400, 404, 415, 422)


def complete(ask: Ask) -> Said:
    """The answer, whatever comes. Asks for a schema first, and for less where the provider refuses that."""
    try:
        import litellm
    except Exception as fault:
        return Said("", "error", error=f"litellm cannot be imported: {type(fault).__name__}")
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    error = ""
    for way in _ways(ask):
        try:
            return _said(litellm.completion(**_given(ask), **way))
        except Exception as fault:
            error = _line(fault, ask)
            if getattr(fault, "status_code", None) not in _REFUSED:
                break
    return Said("", "error", error=error)


def _given(ask: Ask) -> dict[str, Any]:
    given: dict[str, Any] = {
        "model": ask.model,
        "messages": list(ask.messages),
        "max_tokens": ask.max_tokens,
        "timeout": ask.timeout,
        "num_retries": 0,
        "max_retries": 0,
    }
    named = {"api_base": ask.api_base, "api_key": ask.api_key}
    return given | {name: value for name, value in named.items() if value}


def _ways(ask: Ask) -> Iterator[Mapping[str, Any]]:
    """How JSON is asked for, the strictest first. What a provider refuses may be the temperature as well."""
    named = {"name": "record", "strict": True, "schema": ask.schema}
    strict = {"response_format": {"type": "json_schema", "json_schema": named}}
    yield {**strict, "temperature": 0}
    yield strict
    yield {"response_format": {"type": "json_object"}}
    yield {}


def _said(response: Any) -> Said:
    choice = response.choices[0]
    message = choice.message
    usage = getattr(response, "usage", None)
    text = message.content
    return Said(
        text=text[:MOST] if isinstance(text, str) else "",
        finish=str(choice.finish_reason or ""),
        model=str(getattr(response, "model", "") or ""),
        input=int(getattr(usage, "prompt_tokens", 0) or 0),
        output=int(getattr(usage, "completion_tokens", 0) or 0),
        calls=bool(getattr(message, "tool_calls", None) or getattr(message, "function_call", None)),
    )


def _line(fault: Exception, ask: Ask) -> str:
    """What went wrong, on one line, without anything that could be a secret."""
    line = " ".join(str(fault)[:2000].split())
    secrets = [ask.api_key, *(value for name, value in os.environ.items() if _SECRET.search(name))]
    for secret in sorted(secrets, key=len, reverse=True):
        line = line.replace(secret, "***") if len(secret) >= 4 else line
    return f"{type(fault).__name__}: {_TOKENS.sub('***', line)}"[:300]
