"""Leak suspects: what is carried again and again to no apparent use, each in one plain sentence.

Rule: a suspect is what the figures show, and no more: nothing here knows what the agent still needs. Its figure is in
token-turns (tokens times the requests that carried them), so that suspects of all rules compare. Nothing is advised
that the journal shows to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ctxgc.lab import _suspect_habits as habits
from ctxgc.lab import _suspect_results as results
from ctxgc.lab._suspect import Case
from ctxgc.lab._suspect import Schema as Schema
from ctxgc.lab._suspect import Suspect as Suspect
from ctxgc.lab.requests import Carried

MIN_SHARE = 0.01
"""Share of all token-turns below which nothing is worth a word."""
SHORT = 10
"""Requests below which a session has no habits yet: only what is large in it is worth a word."""
SHORT_SHARE, SHORT_TOKENS = 0.05, 5000
_FINDERS: Mapping[str, Callable[[Case], Iterable[Suspect]]] = MappingProxyType(
    {
        "duplicate_result": results.duplicates,
        "reread": results.rereads,
        "large_result": results.large,
        "unused_schema": habits.unused,
        "growing": habits.growing,
        "failed_result": results.failed,
        "cache_churn": habits.churn,
        "no_collection": habits.no_collection,
        "boilerplate": habits.boilerplate,
    }
)
RULES: tuple[str, ...] = tuple(_FINDERS)
"""All rules by name: a suspect's ``rule`` is one of these."""


def suspects(carried: Carried, schemas: Sequence[Schema]) -> tuple[Suspect, ...]:
    """All suspects of a session, the largest first; of a short session only large ones."""
    case = Case(carried, schemas)
    short = len(carried.requests) < SHORT
    share, figure = (SHORT_SHARE, SHORT_TOKENS) if short else (MIN_SHARE, 0)
    found = (one for find in _FINDERS.values() for one in find(case))
    large = (one for one in found if one.share >= share and one.figure >= figure)
    return tuple(sorted(large, key=lambda one: -one.figure))
