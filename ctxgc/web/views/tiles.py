"""The tiles of a session: its figures in one line each, with what span they are about and where they come from.

Rule: what collecting has brought is net of what it cost: prefixes written anew, recalls, rounds, and questions about
summaries. It may be below zero, and it never counts what the provider's cache saves anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxgc.lab.glance import GROWTH, turns_left
from ctxgc.web.views.plain import Document
from ctxgc.web.views.reports import Reports

Tone = Literal["good", "bad", "plain"]
Unit = Literal["tokens", "usd", "price", "ratio", "turns", "count"]
_OFF = 0.1
"""Share by which an estimate may be off."""
_JOURNAL, _PACE = "journal: tokens of cells", "journal: pace entries"
_PROVIDER = "provider: usage"


@dataclass(frozen=True, slots=True)
class Told:
    """What tiles are made from. Tokens, but for ``net``, in USD where ``usd`` and else in prices of one input token;
    ``sizes`` are the newest requests of the main history as they were sent, the newest last, and ``times`` how often
    something was recalled."""

    requests: int
    newest: int
    sizes: tuple[int, ...]
    window: int
    high: int
    received: int
    sent: int
    net: float | None
    usd: bool
    rewritten: int
    recalls: int
    recalled: int
    reports: Reports


def tiles(told: Told) -> list[Document]:
    """All tiles, in the order in which they are shown."""
    return [*_context(told), *_traffic(told), *_balance(told), *_billed(told.reports, told.requests)]


def _context(told: Told) -> Iterator[Document]:
    now = told.sizes[-1] if told.sizes else None
    this = f"request {told.newest}" if told.sizes else "no request yet"
    full = bool(told.high and now is not None and now > told.high)
    yield _tile("context_now", "Context now", now, "tokens", "bad" if full else "plain", this, _JOURNAL,
                "Tokens of the newest request as the model got it, tools included.")  # fmt: skip
    left = told.window - now if told.window and now is not None else None
    yield _tile("window_left", "Room in the window", left, "tokens", "bad" if full else "plain", this,
                "journal and price table", _room(told, left))  # fmt: skip
    turns = turns_left(told.sizes, told.high)
    steps = max(len(told.sizes) - 1, 0)
    tone: Tone = "bad" if turns is not None and turns < GROWTH else "plain"
    yield _tile("turns_left", "Turns left", turns, "turns", tone, f"the last {_many(steps)}", "estimate: mean growth",
                _growing(told, steps, known=turns is not None))  # fmt: skip


def _growing(told: Told, steps: int, *, known: bool) -> str:
    """What the turns left are, or why they are not known."""
    if known:
        return "Requests until room must be made, at the mean growth of these."
    if not told.high:
        return "The model's window is not known."
    if not steps:
        return "Growth takes two requests to measure."
    return f"The context has not grown in the last {_many(steps)}."


def _room(told: Told, left: int | None) -> str:
    if left is None:
        return "The model's window is not known."
    return f"Tokens to the window's end at {told.window:,}; room is made at {told.high:,}."


def _traffic(told: Told) -> Iterator[Document]:
    whole = _all(told.requests)
    yield _tile("received", "Received", told.received, "tokens", "plain", whole, _JOURNAL,
                "Tokens that the agent sent, in all requests together.")  # fmt: skip
    yield _tile("sent", "Forwarded", told.sent, "tokens", "plain", whole, _JOURNAL,
                "Tokens that went to the model, ctxgc's own included.")  # fmt: skip
    share = 1 - told.sent / told.received if told.received else None
    tone: Tone = "plain" if not share else "good" if share > 0 else "bad"
    yield _tile("reduction", "Reduction", share, "ratio", tone, whole, _JOURNAL,
                "Share of the received tokens that was not forwarded.")  # fmt: skip


def _balance(told: Told) -> Iterator[Document]:
    whole, unit = _all(told.requests), "at list prices" if told.usd else "in prices of one input token"
    tone: Tone = "plain" if not told.net else "good" if told.net > 0 else "bad"
    yield _tile("net", "Net saving", told.net, "usd" if told.usd else "price", tone, whole, _PACE,
                f"What the input would have cost untouched, less all that it cost, {unit}.")  # fmt: skip
    yield _tile("rewritten", "Rewritten", told.rewritten, "tokens", "plain", whole, _PACE,
                "Tokens that collections had sent again outside of the cache.")  # fmt: skip
    yield _tile("recalled", "Recalled", told.recalls, "count", "bad" if told.recalls else "plain", whole,
                "journal: recall entries",
                f"Times that collected content was needed again: {told.recalled:,} tokens.")  # fmt: skip


def _billed(reports: Reports, requests: int) -> Iterator[Document]:
    some = f"{reports.calls} of {requests} requests" if reports.calls != requests else _all(requests)
    dear = bool(reports.calls) and reports.usd is not None
    billed = None if not reports.calls else reports.usd if dear else reports.input + reports.output
    priced = ", at list prices" if dear else ""
    yield _tile("billed", "Billed", billed, "usd" if dear else "tokens", "plain", some, _PROVIDER,
                f"{reports.input:,} input and {reports.output:,} output tokens{priced}.")  # fmt: skip
    error = (reports.estimated - reports.input) / reports.input if reports.input else None
    tone: Tone = "bad" if error is not None and abs(error) > _OFF else "plain"
    yield _tile("estimate_error", "Our estimate is off by", error, "ratio", tone, some, f"estimate against {_PROVIDER}",
                "Our count of the input against the provider's.")  # fmt: skip
    hits = reports.cached / reports.input if reports.input else None
    yield _tile("cache_hits", "Cache hits", hits, "ratio", "plain", some, _PROVIDER,
                "Share of the input read from the provider's cache; not credited to ctxgc.")  # fmt: skip


def _all(requests: int) -> str:
    return "no request yet" if not requests else "the one request" if requests == 1 else f"all {_many(requests)}"


def _many(requests: int) -> str:
    return f"{requests:,} request{'' if requests == 1 else 's'}"


def _tile(
    name: str, title: str, value: float | None, unit: Unit, tone: Tone, window: str, source: str, says: str
) -> Document:
    return {
        "id": name,
        "title": title,
        "value": value,
        "unit": unit,
        "tone": "plain" if value is None else tone,
        "says": says,
        "window": window,
        "source": source,
    }
