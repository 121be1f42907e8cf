"""What is told beyond the default: content, single items, the newest names; and whose tokens are said.

Rule: read once, from the environment, by the names that OpenTelemetry's instrumentations share.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .names import CAPTURE, ITEMS, LATEST, OPT_IN

_ON_SPANS = ("SPAN_ONLY", "SPAN_AND_EVENT")
_ON_EVENTS = ("EVENT_ONLY", "SPAN_AND_EVENT")


@dataclass(frozen=True, slots=True)
class Switches:
    """``on_spans`` and ``on_events`` say where the content of messages goes (nowhere by default), ``items`` that each
    collected item is an event, ``latest`` that the newest GenAI metrics are made beside the old ones."""

    on_spans: bool = False
    on_events: bool = False
    items: bool = False
    latest: bool = False

    @property
    def content(self) -> bool:
        """Whether any content is told."""
        return self.on_spans or self.on_events


def switches(environment: Mapping[str, str] = os.environ) -> Switches:
    """The switches as an environment has them. A word that is not known captures nothing."""
    capture = environment.get(CAPTURE, "").strip().upper()
    opted = {word.strip() for word in environment.get(OPT_IN, "").split(",")}
    return Switches(
        on_spans=capture in _ON_SPANS,
        on_events=capture in _ON_EVENTS,
        items=environment.get(ITEMS, "").strip().lower() == "true",
        latest=LATEST in opted,
    )


def counted(mode: str, *, caller: bool) -> bool:
    """Whether a request's tokens are said in a mode, so that nobody counts them twice; ``caller`` traces it itself."""
    return mode == "always" or (mode == "auto" and not caller)
