"""Putting the parts together: from settings to the kit that sessions share.

Rule: everything that reads a clock, makes an id or opens a file is chosen here, once, by the shell that starts. Who
only wants prices loads no more than those.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.errors import ConfigError, LedgerError
from ctxgc.store import Store
from ctxgc.tokens import Price, PriceTable, TokenDataUnavailable
from ctxgc.tokens.tariffs import tariffs

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger, Verifier
    from ctxgc.session import Kit
    from ctxgc.session.kit import Summariser
    from ctxgc.session.timing import Timer
    from ctxgc.session.watching import Watch

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
    summariser: Summariser | None = None,
    ledger: Callable[[bytes], Ledger] | None = None,
    milestones: Sequence[Watch] = (),
    timer: Timer | None = None,
) -> Kit:
    """A kit for chat completions with the real clock, random ids and the price table's prices."""
    from ctxgc.session import Kit
    from ctxgc.session.timing import Untimed
    from ctxgc.tokens.measure import meter_for
    from ctxgc.wire.openai_chat import OpenAIChat

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
        summariser=summariser,
        ledger=ledger,
        milestones=tuple(milestones),
        timer=timer or Untimed(),
    )


def summariser_of(model: str) -> Summariser | None:
    """Who is asked for a model's part of a record: ``session`` for the session's own model, ``off`` for nobody, or a
    model as litellm names it."""
    if model == "off":
        return None
    from ctxgc.session.kit import Summariser
    from ctxgc.summarise import litellm_asker

    return Summariser(litellm_asker(), "" if model == "session" else model)


def ledgers(store: Store, name: str = "") -> Callable[[bytes], Ledger]:
    """The ledger of each session: the one of that name, shared by all, or (for no name) one of its own."""
    from ctxgc.ledger import open_ledger

    shared = open_ledger(store, name) if name else None
    return lambda key: shared or open_ledger(store, f"session {key.hex()}")


def watches(tables: Sequence[Mapping[str, object]]) -> tuple[Watch, ...]:
    """The milestones that a configuration names: ``name``, ``site`` (a shell pattern for a tool and its arguments), and
    one of ``quotes``, ``number_equals`` (with ``near``) and ``json_path_equals`` (a path, with ``value``).

    Raises ``ConfigError``.
    """
    return tuple(map(_watch, tables))


def _watch(table: Mapping[str, object]) -> Watch:
    from ctxgc.session.watching import Watch

    given = dict(table)
    name, site = given.pop("name", ""), given.pop("site", "")
    if not (isinstance(name, str) and isinstance(site, str) and name.strip() and site.strip()):
        raise ConfigError("a milestone needs a name and a site, such as run_tests(*)")
    try:
        return Watch(name, site, _verifier(name, given))
    except (LedgerError, ValueError) as error:
        raise ConfigError(f"milestone {name!r}: {error}") from None


def _verifier(name: str, given: Mapping[str, object]) -> Verifier:
    from ctxgc.ledger import json_path_equals, number_equals, quotes

    match given:
        case {"quotes": str(text), **rest} if text.strip() and not rest:
            return quotes(text)
        case {"number_equals": int() | float() | str() as value, **rest} if rest.keys() <= {"near"}:
            return number_equals(str(value), str(rest.get("near", "")))
        case {"json_path_equals": str(path), "value": value, **rest} if not rest:
            return json_path_equals(path, value)
    raise ConfigError(f"milestone {name!r}: give one of quotes, number_equals (near), json_path_equals (value)")


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
