"""Tokens a request has besides its texts: message framing and tool schemas.

Rule: these are estimates of a format OpenAI does not publish in full; any input gets a count, none an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from .counter import Counter
from .schema_text import render_tool

MESSAGE_TOKENS = 3
"""Per message, besides role and content: <|start|>role<|message|>...<|end|>."""
NAME_TOKENS = 1
"""Per message with a name, besides the name."""
REPLY_TOKENS = 3
"""Once per request: every reply is primed with <|start|>assistant<|message|>."""
TOOLS_TOKENS = 11
"""Once per request with tools, besides the schemas: the heading and namespace around them.

Fitted to the weather example of OpenAI's cookbook: 101 tokens as billed for gpt-4o, 104 of 105 for gpt-4.
"""


def message_overhead(counter: Counter, role: str, name: str | None = None) -> int:
    """Tokens of one chat message besides its content.

    Source: `num_tokens_from_messages` in OpenAI's cookbook, "How to count tokens with tiktoken" (3 per message,
    1 per name, role and name counted as text; verified there against gpt-3.5-turbo to gpt-4o).
    """
    named = counter.count(name) + NAME_TOKENS if name else 0
    return MESSAGE_TOKENS + counter.count(role) + named


def count_tool_schema(schema: Mapping[str, object] | str, counter: Counter) -> int:
    """Tokens of one tool's schema, given as the tool object or as its JSON text.

    OpenAI shows tools to the model as TypeScript (see `schema_text`), so that is what is counted. Whatever cannot
    be read as a tool (bad JSON, no name, a vendor's built-in tool) is counted as the JSON text it is.
    """
    tool = _parsed(schema) if isinstance(schema, str) else schema
    rendered = render_tool(tool) if isinstance(tool, Mapping) else None
    return counter.count(rendered if rendered is not None else _json_text(schema))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json_text(schema: Mapping[str, object] | str) -> str:
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError, RecursionError):  # cycles, keys that are no strings, bottomless nesting
        return ", ".join(map(str, schema))
