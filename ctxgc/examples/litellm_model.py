"""A real model through litellm, any provider.

Rule: litellm is imported when the first question is asked, and whatever goes wrong is one line without secrets.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from ctxgc.examples.chat import Message, Model, ModelFailed

TIMEOUT = 180.0
"""Seconds for one answer."""

_SECRET = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")


def litellm_model(name: str) -> Model:
    """The model of that name, as litellm knows it; keys and addresses are those of the environment."""

    def ask(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        with contextlib.redirect_stdout(sys.stderr):  # our own output may be JSON
            try:
                return _said(_complete(name, messages, tools))
            except Exception as fault:  # litellm raises what providers make it raise
                raise ModelFailed(_line(fault)) from None

    return ask


def _complete(name: str, messages: Sequence[Message], tools: Sequence[Message]) -> Any:
    # Before the import, or litellm fetches its price list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    offered = {"tools": list(tools)} if tools else {}
    return litellm.completion(model=name, messages=list(messages), timeout=TIMEOUT, max_retries=2, **offered)


def _said(response: Any) -> Message:
    """The message as it is to be sent back."""
    message = response.choices[0].message
    said: Message = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [_call(call) for call in message.tool_calls]
    elif not isinstance(message.content, str):
        said["content"] = ""
    return said


def _call(call: Any) -> Message:
    function = {"name": call.function.name or "", "arguments": call.function.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _line(fault: Exception) -> str:
    shown = (letter if letter.isprintable() else " " for letter in str(fault)[:2000])
    line = " ".join("".join(shown).split())
    secrets = [value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= 4]
    for secret in sorted(secrets, key=len, reverse=True):
        line = line.replace(secret, "***")
    return f"the model gave no answer: {type(fault).__name__}: {line}"[:300]
