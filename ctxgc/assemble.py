"""Putting the parts together: from settings to the kit that sessions share.

Rule: everything that reads a clock, makes an id or opens a file is chosen here, once, by the shell that starts.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.session import Kit
from ctxgc.store import Store
from ctxgc.tokens import Price, PriceTable, TokenDataUnavailable
from ctxgc.tokens.measure import meter_for
from ctxgc.tokens.tariffs import tariffs
from ctxgc.wire.openai_chat import OpenAIChat

_MODELS = 64

T = TypeVar("T")


def make_kit(
    store: Store,
    policies: Sequence[Policy],
    tags: Mapping[str, str] | None = None,
    observe: Callable[[State, AnyEntry], None] = lambda _state, _entry: None,
    pacer: Pacer | None = None,
    *,
    recall: bool = False,
) -> Kit:
    """A kit for chat completions with the real clock, random ids and the price table's prices."""
    return Kit(
        store=store,
        codec=OpenAIChat(),
        policies=tuple(policies),
        meter=_remembered(meter_for),
        clock=time.time,
        new_id=ids(),
        retrieval=source_of(tags or {}),
        observe=observe,
        tariff=_remembered(tariffs(prices())),
        pacer=pacer or Pacer(),
        recall=recall,
    )


def _remembered(make: Callable[[str], T]) -> Callable[[str], T]:
    """``make`` with a memory for the first models that are asked about; anyone can name models without end."""
    known: dict[str, T] = {}

    def remembered(model: str) -> T:
        if model not in known and len(known) < _MODELS:
            known[model] = make(model)
        return known[model] if model in known else make(model)

    return remembered


def ids() -> Callable[[], bytes]:
    """Makes ids of 16 bytes: eight random ones for the process, and a count. Unique, and not secret."""
    process, numbers = os.urandom(8), itertools.count()
    return lambda: process + next(numbers).to_bytes(8, "big")


def prices() -> Callable[[str], Price | None]:
    """From a model's name to its price; nothing has one where the price table is not installed."""
    try:
        return PriceTable.load().price
    except TokenDataUnavailable:
        return lambda _: None


def source_of(tags: Mapping[str, str]) -> Callable[[str], str | None]:
    """From a tool's name to the source that the first matching pattern names, or None."""
    patterns = tuple(tags.items())

    def source(tool: str) -> str | None:
        return next((name for pattern, name in patterns if fnmatch.fnmatchcase(tool, pattern)), None)

    return source
