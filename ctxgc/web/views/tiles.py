"""The tiles of a session: its figures in one line each, with what span they are about and where they come from.

Rule: what collecting has brought is net of what it cost: prefixes written anew, recalls, rounds, and questions about
summaries. It may be below zero, and it never counts what the provider's cache saves anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxgc.web.views.plain import Document
from ctxgc.web.views.reports import Reports

Tone = Literal["good", "bad", "plain"]
Unit = Literal["tokens", "usd", "price", "ratio", "turns", "count"]
GROWTH = 10
"""Requests over which growth is measured."""
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


def growth(sizes: tuple[int, ...]) -> float:
    """Mean tokens by which each of these requests was larger than the one before."""
    return (sizes[-1] - sizes[0]) / (len(sizes) - 1) if len(sizes) > 1 else 0.0


def turns_left(told: Told) -> float | None:
    """Requests until room must be made; None where there is no window, or nothing grows."""
    rate, limit = growth(told.sizes), told.high or told.window
    if not told.sizes or not limit or rate <= 0:
        return None
    return max(limit - told.sizes[-1], 0) / rate


def _context(told: Told) -> Iterator[Document]:
    now = told.sizes[-1] if told.sizes else None
    this = f"request {told.newest}" if told.sizes else "no request yet"
    full = bool(told.high and now is not None and now > told.high)
    yield _tile("context_now", "Context now", now, "tokens", "bad" if full else "plain", this, _JOURNAL,
                "Tokens that the newest request sent to the model, tools included.")  # fmt: skip
    left = told.window - now if told.window and now is not None else None
    yield _tile("window_left", "Room in the window", left, "tokens", "bad" if full else "plain", this,
                "journal and price table", _room(told, left))  # fmt: skip
    turns = turns_left(told)
    last = f"the last {max(len(told.sizes) - 1, 0)} requests"
    says = "Requests until room must be made, if the context goes on growing as it did."
    says = says if turns is not None else "The context is not growing, or the model's window is not known."
    tone: Tone = "bad" if turns is not None and turns < GROWTH else "plain"
    yield _tile("turns_left", "Turns left", turns, "turns", tone, last, "estimate: mean growth", says)


def _room(told: Told, left: int | None) -> str:
    if left is None:
        return "The model's window is not known."
    return f"Tokens between it and the end of the model's window of {told.window:,}; room is made at {told.high:,}."


def _traffic(told: Told) -> Iterator[Document]:
    whole = _all(told.requests)
    yield _tile("received", "Received", told.received, "tokens", "plain", whole, _JOURNAL,
                "Tokens that the agent sent, counted again with every request.")  # fmt: skip
    yield _tile("sent", "Sent on", told.sent, "tokens", "plain", whole, _JOURNAL,
                "Tokens that went to the model, what is ctxgc's own in them included.")  # fmt: skip
    share = 1 - told.sent / told.received if told.received else None
    tone: Tone = "plain" if not share else "good" if share > 0 else "bad"
    yield _tile("reduction", "Reduction", share, "ratio", tone, whole, _JOURNAL,
                "Share of the received tokens that was not sent; says nothing of prices.")  # fmt: skip


def _balance(told: Told) -> Iterator[Document]:
    whole, unit = _all(told.requests), "at list prices" if told.usd else "in prices of one input token"
    tone: Tone = "plain" if not told.net else "good" if told.net > 0 else "bad"
    yield _tile("net", "Net saving", told.net, "usd" if told.usd else "price", tone, whole, _PACE,
                f"What the input would have cost untouched, less what it cost, {unit}: net of prefixes written anew, "
                "recalls, rounds and questions about summaries. Provider cache hits are in both.")  # fmt: skip
    yield _tile("rewritten", "Written anew", told.rewritten, "tokens", "plain", whole, _PACE,
                "Tokens sent once more outside of the cache because something before them was collected.")  # fmt: skip
    yield _tile("recalled", "Recalled", told.recalls, "count", "bad" if told.recalls else "plain", whole,
                "journal: recall entries",
                f"Times that collected content was asked for again: {told.recalled:,} tokens.")  # fmt: skip


def _billed(reports: Reports, requests: int) -> Iterator[Document]:
    some = f"{reports.calls} of {requests} requests" if reports.calls != requests else _all(requests)
    dear = bool(reports.calls) and reports.usd is not None
    billed = None if not reports.calls else reports.usd if dear else reports.input + reports.output
    yield _tile("billed", "Billed", billed, "usd" if dear else "tokens", "plain", some, _PROVIDER,
                f"{reports.input:,} input and {reports.output:,} output tokens as the provider reported them"
                + (", at list prices." if dear else "."))  # fmt: skip
    error = (reports.estimated - reports.input) / reports.input if reports.input else None
    tone: Tone = "bad" if error is not None and abs(error) > _OFF else "plain"
    yield _tile("estimate_error", "Our estimate is off by", error, "ratio", tone, some, f"estimate against {_PROVIDER}",
                "Our count of the input less what the provider reported, as a share of that.")  # fmt: skip
    hits = reports.cached / reports.input if reports.input else None
    yield _tile("cache_hits", "Cache hits", hits, "ratio", "plain", some, _PROVIDER,
                "Share of the input that the provider read from its cache; not credited to ctxgc.")  # fmt: skip


def _all(requests: int) -> str:
    return "no request yet" if not requests else "the one request" if requests == 1 else f"all {requests:,} requests"


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
