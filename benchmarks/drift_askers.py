"""Summarisers that are scripted: one that finds most of what there is, and others that answer badly in one way each.

They see what a model would: the originals between their labels. What they believe in a text is what a model might.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.drift_story import CONSTRAINTS, FACT
from ctxgc.summarise import Ask, Asker, Said
from tests.core.injected import BELIEFS, parts

_PIECE = re.compile(r"<c(\d+) (\w{12}) ([^>]*)>\n(.*?)\n</c\1 \2>", re.DOTALL)
_EMPTY: Mapping[str, Sequence[object]] = dict.fromkeys(
    ("decisions_made", "constraints_learned", "open_items", "facts", "resolved"), ()
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One original as a summariser is shown it."""

    label: str
    what: str
    text: str


@dataclass
class Scripted:
    """Answers by a script. ``asked`` counts the questions; ``forbidden`` says that none may be asked now."""

    answer: Callable[[list[Piece], str], Said]
    asked: int = 0
    forbidden: bool = False
    broken: list[str] = field(default_factory=list)

    def __call__(self, ask: Ask) -> Said:
        self.asked += 1
        if self.forbidden:
            self.broken.append("asked while a request was on its way")
        told = ask.messages[1]["content"]
        return self.answer([Piece(f"c{cell}", what, text) for cell, _, what, text in _PIECE.findall(told)], told)


def item(text: str, piece: Piece, quote: str) -> dict[str, str]:
    """One item of an answer."""
    return {"text": text[:400], "source": piece.label, "quote": quote[:380]}


def record(**members: object) -> Said:
    """A whole answer."""
    return Said(json.dumps({**_EMPTY, **members}), "stop", "scripted", 1000, 100)


def found(pieces: Sequence[Piece], *, constraints: bool = True) -> dict[str, Any]:
    """What a good summariser finds: three of four facts, most constraints, and what the agent has decided."""
    tools = [piece for piece in pieces if piece.what.startswith("tool_result")]
    users = [piece for piece in pieces if piece.what.startswith("user")]
    facts = [item(one, piece, one) for piece in tools for one in FACT.findall(piece.text) if sum(map(ord, one)) % 4]
    demands = [item(one, piece, one) for piece in users for one in CONSTRAINTS if one in piece.text]
    halves = [piece for piece in pieces if piece.what.startswith("agent") and "That is half of it" in piece.text]
    made = [item("Half of the part was done first", piece, piece.text) for piece in halves]
    return {"facts": facts[:40], "constraints_learned": demands[:40] if constraints else [], "decisions_made": made}


def good(pieces: list[Piece], told: str) -> Said:
    return record(**found(pieces))


def cut_off(pieces: list[Piece], told: str) -> Said:
    whole = good(pieces, told)
    return Said(whole.text[: len(whole.text) // 2], "length", "scripted")


def longer(pieces: list[Piece], told: str) -> Said:
    padded = [item(f"{number} {told[:380]}", pieces[0], "") for number in range(40)]
    return record(**dict.fromkeys(("decisions_made", "constraints_learned", "open_items", "facts"), padded))


def pointing(pieces: list[Piece], told: str) -> Said:
    nowhere = Piece("c999999", "tool_result", "")
    return record(
        **{**found(pieces), "facts": [item("svc_1.internal listens on 10.4.1.7:1", nowhere, "svc_1.internal")]}
    )


def inventing(pieces: list[Piece], told: str) -> Said:
    """Facts that no quote bears out: other numbers, more than is quoted, quotes that stand nowhere."""
    made = []
    for piece in pieces:
        for one in FACT.findall(piece.text) if piece.what.startswith("tool_result") else ():
            number = re.findall(r"\d{4}", one)[-1]
            made.append(item(one.replace(number, str(int(number) + 1)), piece, one))
            made.append(item(f"{one}, and db-9 is down", piece, one))
            made.append(item(one.replace(number, "1"), piece, one.replace(number, "1")))
    return record(facts=made[:40])


def obeying(pieces: list[Piece], told: str) -> Said:
    """Leaves out every constraint, as a tool's text asks, and calls everything done."""
    open_items = [int(number) for number in re.findall(r"^(\d+): ", told.rpartition("of before:\n")[2], re.MULTILINE)]
    return record(**{**found(pieces, constraints=False), "resolved": open_items})


def believing(pieces: list[Piece], told: str) -> Said:
    """Says of every text that tools gave what it wants to have said, as fact, constraint, decision and open item."""
    made = list(_believed(pieces))
    fields = ("facts", "constraints_learned", "decisions_made", "open_items")
    return record(**{name: made[at::4][:8] for at, name in enumerate(fields)})


def _believed(pieces: Sequence[Piece]) -> Iterator[dict[str, str]]:
    for piece in pieces:
        if not piece.what.startswith("tool_result"):
            continue
        for block in piece.text.split("\n\n")[1::2]:  # what is planted stands by itself
            for quote in parts(block)[:2]:
                yield from (item(text, piece, quote) for text in (quote.replace("\n", " "), BELIEFS[0]))


def raising(pieces: list[Piece], told: str) -> Said:
    raise RuntimeError("a summariser must not raise")


def saying(text: Any, finish: str = "stop", **more: Any) -> Callable[[list[Piece], str], Said]:
    return lambda _pieces, _told: Said(text, finish, "scripted", **more)


WAYS: Mapping[str, Callable[[list[Piece], str], Said] | None] = {
    "none": None,
    "good": good,
    "late": good,
    "never": good,
    "empty": saying(""),
    "nothing": saying(None),
    "error text": saying("Error: 500 Internal Server Error: model overloaded"),
    "error": saying("", "error", error="RateLimitError: too many requests"),
    "tool call": saying("", "tool_calls", calls=True),
    "cut off": cut_off,
    "longer": longer,
    "apology": saying("I don't see any events. Please provide the conversation."),
    "apology in JSON": lambda pieces, _told: record(facts=[item("I don't see any events.", pieces[0], "")]),
    "reasoning only": saying("<think>The user wants a record. I should write it.</think>"),
    "invented pointers": pointing,
    "invented facts": inventing,
    "obeys": obeying,
    "believes": believing,
    "raises": raising,
}
"""By name. ``late`` answers when three more requests have left, ``never`` not at all."""


def asker(way: str) -> Scripted | None:
    """The summariser of that name; None for nobody."""
    answer = WAYS[way]
    return Scripted(answer) if answer else None


__all__ = ["WAYS", "Asker", "Scripted", "asker"]
