"""A session without its cells: turns, collections, tiles, tables, suspects and tools.

Rule: no content but the sites of cells and what people named; every figure comes from the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ctxgc.lab.collected import Made
from ctxgc.lab.forecasts import Split
from ctxgc.lab.glance import GROWTH
from ctxgc.lab.requests import Request
from ctxgc.lab.suspects import Suspect
from ctxgc.web.views.plain import Document, plain
from ctxgc.web.views.rows import rows
from ctxgc.web.views.tiles import Told, tiles

if TYPE_CHECKING:
    from ctxgc.web.views.session import SessionView

SCHEMA = "ctxgc.page.session/1"


def document(view: SessionView) -> Document:
    """The document: see ``ctxgc.web.views``."""
    found, log, made, fixed = view.carried(), view.gc.log(), view.figures(), view.fixed
    window, high = _window(view)
    return {
        "schema": SCHEMA,
        "id": view.key.hex(),
        "origin": _origin(view),
        "live": False,
        "models": [plain(model) for model in view.turns.models],
        "exact": fixed.exact,
        "first": view.first,
        "last": view.last,
        "entries": view.entries,
        "plain": view.state.plain,
        "window": window,
        "high": high,
        "low": int(view.pacer.low * window),
        "quality": view.pacer.quality,
        "families": [plain(name) for name in view.turns.families.stack()],
        "turns": view.turns.document(),
        "collections": [_collection(one) for one in log.made],
        "notes": [
            {"turn": note.turn, "at": note.at, "kind": plain(note.kind), "text": plain(note.text)} for note in log.notes
        ],
        "tiles": tiles(_told(view, window, high)),
        "by_tag": rows(fixed.tags, fixed.tag, made),
        "by_site": rows(fixed.sites, fixed.site, made),
        "suspects": [_suspect(one) for one in view.suspects()],
        "tools": list(_tools(view)),
        "bypassed": {plain(reason): count for reason, count in found.bypassed.items()},
        "actions": {"pin": False, "recall": False, "milestone": False},
    }


def line(view: SessionView) -> Document:
    """The session's row in the list of sessions."""
    view.carried()
    newest = view.newest
    return {
        "id": view.key.hex(),
        "origin": _origin(view),
        "first": view.first,
        "last": view.last,
        "model": plain(newest.model) if newest else "",
        "requests": view.turns.count,
        "received": view.state.tokens(newest.head, newest.toolset, sent=False) if newest else None,
        "sent": newest.total_sent if newest else None,
        "window": _window(view)[0],
        "live": False,
        "net": view.turns.net[-1] if view.turns.count else None,
        "usd": bool(view.gc.usd),
        "suspects": len(view.suspects()),
    }


def _origin(view: SessionView) -> str:
    return plain(view.state.opened.origin) if view.state.opened else ""


def _window(view: SessionView) -> tuple[int, int]:
    """The window of the newest request's model in tokens (0: not known), and where room is made in it."""
    window = view.tariff(view.newest.model).window if view.newest else 0
    return window, int(view.pacer.high * window)


def _told(view: SessionView, window: int, high: int) -> Told:
    recalls = Counter(view.state.resurrected)
    cells = view.state.cells
    return Told(
        requests=view.turns.count,
        newest=view.newest.number if view.newest else 0,
        sizes=tuple(one.total_sent for one in _last(view))[::-1],
        window=window,
        high=high,
        received=sum(view.turns.received_total),
        sent=sum(view.turns.sent_total),
        net=view.turns.net[-1] if view.turns.count else None,
        usd=bool(view.gc.usd),
        rewritten=view.gc.rewritten,
        recalls=recalls.total(),
        recalled=sum((cells[cell].tokens or cells[cell].sent) * times for cell, times in recalls.items()),
        reports=view.reports,
    )


def _last(view: SessionView) -> list[Request]:
    """The newest requests of the main history, the newest first."""
    main = view.newest is not None and view.newest.continues
    found = (one for one in reversed(view.walk.requests) if one.continues == main)
    return list(islice(found, GROWTH + 1))


def _collection(made: Made) -> Document:
    span = made.span
    return {
        "turn": made.turn,
        "at": made.at,
        "generation": plain(made.generation),
        "trigger": plain(made.trigger),
        "cells": made.cells,
        "before": made.before,
        "after": made.after,
        "context_before": made.context_before,
        "context_after": made.context_after,
        "rewritten": made.rewritten,
        "rent": made.rent,
        "price": made.price,
        "saving": made.saving,
        "usd": made.usd,
        "predicted": _split(made.predicted),
        "billed": _split(made.billed),
        "span": None
        if span is None
        else {"first": span.first, "last": span.last, "handle": span.handle, "by": plain(span.by)},
    }


def _split(split: Split | None) -> Document | None:
    return None if split is None else {"read": split.read, "written": split.written}


def _suspect(one: Suspect) -> Document:
    texts = ("rule", "subject", "sentence", "action", "setting")
    return {**{name: plain(getattr(one, name)) for name in texts}, "figure": one.figure, "share": one.share}


def _tools(view: SessionView) -> Iterator[Document]:
    """Tools that were on offer, the dearest first, and those that were called though no list named them."""
    offered, calls = set[str](), Counter(view.walk.index.calls)
    calls.update(view.last_calls)
    called = {**view.walk.index.called, **dict.fromkeys(view.last_calls, view.reply[0])}
    for schema in view.schemas():
        offered.add(schema.name)
        yield {
            "name": plain(schema.name),
            "tokens": schema.tokens,
            "requests": schema.requests,
            "token_turns": schema.token_turns,
            "calls": schema.calls,
            "last_call": called.get(schema.name, 0),
            "ours": schema.ours,
        }
    for name in sorted(calls.keys() - offered):
        figures = {"tokens": 0, "requests": 0, "token_turns": 0, "calls": calls[name]}
        yield {"name": plain(name), **figures, "last_call": called[name], "ours": False}
