"""What the agent still needed: which old result it must have had before its eyes when it wrote what it wrote.

Rule: an oracle that sees only the recorded messages. A term that the agent uses, that nothing but tool results said
before, was read in one of them; the latest that carries it is held to be the one. The collector knows nothing of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxgc.lab.segments import Segment
from ctxgc.lab.texts import Said, Use, said

SHORTEST = 8
"""Characters of the shortest term that counts as distinctive."""
LONG_LINE = 300
AROUND = 100
"""Characters on both sides of the term that must be visible of a line longer than LONG_LINE."""

_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-:@")
_RUN = re.compile(r"[A-Za-z0-9_./\-:@]+")
_PUNCTUATION = "./-:@"
_MARKED = re.compile(r"[0-9_/.]|(?<=.)[A-Z]")


@dataclass(frozen=True, slots=True)
class Need:
    """At request number ``turn`` (from 0) of its segment the agent used ``term``.

    ``result`` is the index of the message it had it from and ``line`` what must be visible of that. ``tag`` is who gave
    the result, ``use`` where the agent used the term.
    """

    turn: int
    term: str
    result: int
    line: str
    tag: str
    use: Use


def needs(segment: Segment) -> tuple[Need, ...]:
    """All needs of a segment, in order: each term counts once, at the first turn that uses it."""
    walk = _Walk(set(terms((segment.transcript.tools or b"").decode("utf-8", "replace"))))
    turns = {turn.answer: number for number, turn in enumerate(segment.turns) if turn.answer is not None}
    found: list[Need] = []
    for at, raw in enumerate(segment.transcript.messages):
        found += walk.take(at, said(raw), turns.get(at))
    return tuple(found)


def last_needed(segment: Segment, found: tuple[Need, ...]) -> tuple[tuple[int, int], ...]:
    """For each result that is needed, its ordinal among the texts of all results (from 0) and the turn of the reply
    that needs it last: the first reply of a history is turn 1."""
    last = {need.result: segment.turns[need.turn].replies + 1 for need in found}
    pairs: list[tuple[int, int]] = []
    ordinal = 0
    for at, raw in enumerate(segment.transcript.messages):
        texts = len(said(raw).results)
        if at in last:
            pairs += ((ordinal + part, last[at]) for part in range(texts))
        ordinal += texts
    return tuple(pairs)


def terms(text: str) -> Iterator[str]:
    """The distinctive terms of a text, in order, with repetitions."""
    for run in _RUN.finditer(text):
        term = run[0].strip(_PUNCTUATION)
        if len(term) >= SHORTEST and _MARKED.search(term):
            yield term


def line_of(text: str, term: str) -> str:
    """The first line of a text that carries a term, stripped; of a long line, what stands around the term."""
    at = _find(text, term)
    if at < 0:
        return ""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    if len(line.strip()) <= LONG_LINE:
        return line.strip()
    at -= start
    return line[max(at - AROUND, 0) : at + len(term) + AROUND].strip()


def _find(text: str, term: str) -> int:
    """Where a term first stands by itself, and not as part of a longer one; -1 where it does not."""
    at = text.find(term)
    while at >= 0:
        start, run = at, _RUN.match(text, at)
        end = run.end() if run else at + 1
        while start and text[start - 1] in _CHARACTERS:
            start -= 1
        if text[start:end].strip(_PUNCTUATION) == term:
            return at
        at = text.find(term, end)
    return -1


@dataclass(slots=True)
class _Walk:
    """What has been said so far: terms ``seen`` outside of results, and the latest result that carries each term."""

    seen: set[str]
    carried: dict[str, tuple[int, str]] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)

    def take(self, at: int, message: Said, turn: int | None) -> Iterator[Need]:
        if message.results:
            self._result(at, message)
            return
        self.calls.update(message.calls)
        for use, text in message.texts:
            for term in terms(text):
                if term not in self.seen:
                    self.seen.add(term)
                    if turn is not None and term in self.carried:
                        yield self._need(turn, term, use)

    def _result(self, at: int, message: Said) -> None:
        tag = f"tool_result:{self.calls.get(message.answers, '')}"
        self.texts[at] = "\n".join(message.results)
        self.carried.update((term, (at, tag)) for term in terms(self.texts[at]))

    def _need(self, turn: int, term: str, use: Use) -> Need:
        result, tag = self.carried[term]
        return Need(turn, term, result, line_of(self.texts[result], term), tag, use)
