"""A profile as JSON and CSV, with keys that stay.

Rule: schema ``ctxgc.profile/1``. Keys may be added; none changes its meaning. All figures but counts, shares and USD
are tokens.

- ``profiles``: one per transcript or session, in order; in each:
- ``id``, ``source`` (its file, or the store), ``policy`` (what it was replayed with; null for a recorded session),
  ``models``, ``model_assumed`` (none was named), ``exact`` (counted with the model's own tokenizer);
- ``total``, ``tags[]``, ``sites[]``: ``name``, ``cells``, ``tokens`` (fresh: received for the first time), ``resent``
  (received again), ``token_turns`` (received in all requests), ``sent`` and ``sent_turns`` (the same, as they left),
  ``resident`` (sent with the newest request), ``retained`` (freed if the resident ones went, calls with their results),
  ``pointers`` (results that were replaced by a pointer to one of these);
- ``turns[]``: one per request: ``request``, ``model``, ``received`` and ``sent`` (tokens per tag), ``received_total``,
  ``sent_total``, ``fresh``, ``fresh_sent``, ``prefix``, ``prefix_sent`` (shared with an earlier request: cacheable);
- ``schemas[]``: ``name``, ``tokens``, ``requests``, ``token_turns``, ``calls`` (0: never called), ``ours`` (the recall
  tool);
- ``suspects[]``: ``rule``, ``subject``, ``figure`` (token-turns), ``share`` (of all sent), ``sentence``, ``action``,
  ``setting`` (what of it is a line or table for ``ctxgc.toml``; empty: nothing);
- ``cost``: null without a price, else input in USD: ``received_cached``, ``received_uncached``, ``sent_cached``,
  ``sent_uncached``, and ``unpriced`` (requests that are not in it);
- ``reported``: null, or what the provider reported: ``calls``, ``uncached``, ``cached``, ``written``, ``output``,
  ``estimated`` (our count of the same input), ``usd`` (with output; null without a price);
- ``bypassed``: requests that went on unread, by reason.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import IO

from ctxgc.cli._output import printable
from ctxgc.lab.carried import Request
from ctxgc.lab.profile import Profile, Row

SCHEMA = "ctxgc.profile/1"
_ROW = (
    "name",
    "cells",
    "tokens",
    "resent",
    "token_turns",
    "sent",
    "sent_turns",
    "resident",
    "retained",
    "pointers",
)
_TURN = (
    "request",
    "model",
    "received_total",
    "sent_total",
    "fresh",
    "fresh_sent",
    "prefix",
    "prefix_sent",
)


@dataclass(frozen=True, slots=True)
class Profiled:
    """A profile, and what it was made from."""

    profile: Profile
    source: str
    policy: str | None
    assumed: bool


def document(profiles: Sequence[Profiled]) -> dict[str, object]:
    """The one document of a run."""
    return {"schema": SCHEMA, "profiles": [_profile(one) for one in profiles]}


def write_csv(profiles: Sequence[Profiled], by: str, out: IO[str]) -> None:
    """The rows of one table, each behind the id of its profile; a header first."""
    writer = csv.writer(out, lineterminator="\n")
    keys = _TURN if by == "turn" else _ROW
    writer.writerow(("id", *keys))
    for one in profiles:
        rows = map(_turn, one.profile.requests) if by == "turn" else map(_row, rows_by(one.profile, by))
        for row in rows:
            writer.writerow([_cell(value) for value in (one.profile.name, *(row[key] for key in keys))])


def _cell(value: object) -> object:
    """A value as a table may hold it: nothing that a terminal obeys, and nothing that a spreadsheet computes."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def rows_by(profile: Profile, by: str) -> tuple[Row, ...]:
    """The rows by tag or by site."""
    return profile.sites if by == "site" else profile.tags


def _profile(one: Profiled) -> dict[str, object]:
    profile = one.profile
    return {
        "id": profile.name,
        "source": one.source,
        "policy": one.policy,
        "models": list(profile.models),
        "model_assumed": one.assumed,
        "exact": profile.exact,
        "total": _row(profile.total),
        "tags": [_row(row) for row in profile.tags],
        "sites": [_row(row) for row in profile.sites],
        "turns": [_turn(request) for request in profile.requests],
        "schemas": [asdict(schema) for schema in profile.schemas],
        "suspects": [asdict(suspect) for suspect in profile.suspects],
        "cost": asdict(profile.cost) if profile.cost else None,
        "reported": asdict(profile.reported) if profile.reported else None,
        "bypassed": dict(profile.bypassed),
    }


def _row(row: Row) -> dict[str, object]:
    return {key: getattr(row, key) for key in _ROW}


def _turn(request: Request) -> dict[str, object]:
    return {
        "request": request.number,
        "model": request.model,
        "received": dict(request.received),
        "sent": dict(request.sent),
        "received_total": request.total,
        "sent_total": request.total_sent,
        "fresh": request.fresh,
        "fresh_sent": request.fresh_sent,
        "prefix": request.prefix,
        "prefix_sent": request.prefix_sent,
    }
