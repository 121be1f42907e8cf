"""A conversation that is about to be compacted, and a model that is asked about it, with its good and bad answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ctxgc.core.block import Kind
from ctxgc.core.record import Original
from ctxgc.session.errands import Writing
from ctxgc.session.kit import Summariser
from ctxgc.summarise import Ask, Said
from tests.session.compacted import Long, long

Answer = Callable[[Ask], Said]


@dataclass
class Scripted:
    """A model that answers as it is told to. ``asked`` is what it was asked."""

    answer: Answer = lambda _ask: Said("", "stop")
    asked: list[Ask] = field(default_factory=list)

    def __call__(self, ask: Ask) -> Said:
        self.asked.append(ask)
        return self.answer(ask)


def written(talk: Long) -> Writing:
    """The one errand there is: to ask a model."""
    (found,) = talk.session.errands()
    assert isinstance(found, Writing)
    return found


def asked(store: Any, **changes: Any) -> tuple[Long, Scripted, Writing]:
    """A conversation that is about to be compacted, and the errand to ask about it."""
    model = Scripted()
    talk = long(store, summariser=Summariser(model, "small", 32_000), **changes)
    for _ in range(200):
        talk.one()
        if errands := talk.session.errands():
            (found,) = errands
            assert isinstance(found, Writing)
            return talk, model, found
    raise AssertionError("nobody was asked")


def says(**fields: list[tuple[str, int, str]]) -> Answer:
    """A whole answer: by field, what is said, of which cell, and the quote."""
    items = {
        name: [{"text": text, "source": f"c{cell}", "quote": quote} for text, cell, quote in given]
        for name, given in fields.items()
    }
    return lambda _ask: Said(json.dumps(items), "stop", "small", 1000, 50)


def cell_of(writing: Writing, words: str, kind: Kind = Kind.TOOL_RESULT) -> Original:
    return next(one for one in writing.job.originals if words in one.text and one.kind is kind)


LENGTHY = json.dumps({"facts": [{"text": "x" * 200, "source": "c4", "quote": ""}] * 30})
BAD: dict[str, Answer] = {
    "nothing": lambda _: Said("", "stop"),
    "blank": lambda _: Said(" \n", "stop"),
    "an error": lambda _: Said("", "error", error="429: slow down"),
    "an error as text": lambda _: Said("Error: rate limit exceeded", "stop"),
    "a tool call": lambda _: Said("", "tool_calls", calls=True),
    "cut off": lambda _: Said('{"facts": []}', "length"),
    "half of it": lambda _: Said('{"facts": [', "stop"),
    "longer than the span": lambda _: Said(LENGTHY, "stop"),
    "an apology": lambda _: Said("I don't see any events. Please provide the conversation.", "stop"),
    "an apology in the schema": says(decisions_made=[("I don't see any events", 4, "")]),
    "prose": lambda _: Said("So far the agent has read many rows.", "stop"),
    "another schema": lambda _: Said('{"summary": "rows were read"}', "stop"),
    "pointers to nowhere": says(facts=[("rows were read", 99999, "")]),
    "nothing in the schema": lambda _: Said('{"facts": [], "open_items": []}', "stop"),
    "no text at all": lambda _: Said(None, "stop"),  # type: ignore[arg-type]
}


def fails(_: Ask) -> Said:
    raise RuntimeError("no asker may raise")
