"""Spans to be summarised: originals of a small conversation, and askers that answer as they are told."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ctxgc.summarise import Ask, Said
from tests.core.originals import agent, call, result, user

OUTPUT = "collected 42 items\n" + "tests/test_login.py .....\n" * 40 + "== 42 passed in 1.27s =="


def count(text: str) -> int:
    """Tokens, roughly: one for each four characters."""
    return len(text) // 4 + 1


SPAN = (
    user(0, "Fix the login bug. Never push to main."),
    agent(1, "I decided to keep sessions in redis-7, since it has to expire them."),
    call(2, "bash", '{"command": "pytest"}'),
    result(3, "bash", '{"command": "pytest"}', OUTPUT),
    agent(4, "All 42 tests pass; the changelog in docs/changes.md is still to be written.", 2),
)


def item(
    text: str = "42 tests passed in 1.27s", source: str = "c3", quote: str = "42 passed in 1.27s"
) -> dict[str, str]:
    return {"text": text, "source": source, "quote": quote}


def answer(**members: object) -> str:
    empty = {name: [] for name in ("decisions_made", "constraints_learned", "open_items", "facts", "resolved")}
    return json.dumps({**empty, **members})


GOOD = answer(facts=[item()], open_items=[item("Write the changelog", "c4", "docs/changes.md is still to be written")])


class Scripted:
    """An asker that gives these answers in turn, the last one again and again; ``asks`` are what it was asked."""

    def __init__(self, *answers: Said | str) -> None:
        self.answers: Sequence[Said | str] = answers
        self.asks: list[Ask] = []

    def __call__(self, ask: Ask) -> Said:
        found = self.answers[min(len(self.asks), len(self.answers) - 1)]
        self.asks.append(ask)
        return Said(found, "stop", "scripted", 100, 10) if isinstance(found, str) else found
