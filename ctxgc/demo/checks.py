"""What the demo proves of its own run: prefixes that were repeated byte for byte, and originals that can be read back.

Rule: checked against the bodies that the model received and the history that the agent holds, never against a copy of
ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from ctxgc.core.block import Kind
from ctxgc.core.state import State
from ctxgc.session.originals import content
from ctxgc.store import Store, StoreError
from ctxgc.wire.openai_chat import OpenAIChat

TOOLS = -1
"""The position of what stands before the messages."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """How many requests followed another; how many of them repeated it byte for byte (``whole``), changed only what a
    collection of theirs names (``collected``), or changed anything else (``broken``: there should be none)."""

    followed: int
    whole: int
    collected: int
    broken: int


class _Body(msgspec.Struct):
    messages: tuple[msgspec.Raw, ...]
    tools: msgspec.Raw = msgspec.Raw()


def changes(bodies: Sequence[bytes]) -> tuple[frozenset[int], ...]:
    """For each body after the first: the positions of the messages of the one before that it does not repeat byte for
    byte (``TOOLS`` for its tool list). Raises ``msgspec.MsgspecError`` for what is no chat request."""
    read = [msgspec.json.decode(body, type=_Body) for body in bodies]
    return tuple(_changed(before, after) for before, after in pairwise(read))


def _changed(before: _Body, after: _Body) -> frozenset[int]:
    found = {at for at, message in enumerate(before.messages) if after.messages[at : at + 1] != (message,)}
    return frozenset(found | ({TOOLS} if before.tools != after.tools else set()))


def prefixes(bodies: Sequence[bytes], calls: Sequence[bytes], allowed: Mapping[bytes, frozenset[int]]) -> Prefixes:
    """Judge the bodies of ``calls``, one for each; ``allowed`` are the positions that a call's collection changes."""
    found = changes(bodies)
    whole = sum(not changed for changed in found)
    collected = sum(
        bool(changed) and changed <= allowed.get(call, frozenset())
        for changed, call in zip(found, calls[1:], strict=False)
    )
    return Prefixes(len(found), whole, collected, len(found) - whole - collected)


def read_back(store: Store, state: State, history: Sequence[Mapping[str, object]]) -> int:
    """How many of the results that were edited their handles give back, just as the agent has them in its history."""
    results = [cell.id for cell in state.cells if cell.kind is Kind.TOOL_RESULT]
    texts = [message["content"] for message in history if message["role"] == "tool"]
    originals = dict(zip(results, texts, strict=False))  # the last ones were never sent
    return sum(_by_handle(store, state, edit.handle) == originals.get(cell) for cell, edit in state.edits.items())


def _by_handle(store: Store, state: State, handle: str) -> str | None:
    found = store.resolve(handle)
    try:
        return None if found is None else content(state, store, OpenAIChat(), found[1])
    except StoreError:
        return None
