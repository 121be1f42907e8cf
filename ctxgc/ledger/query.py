"""Finding facts by words and by voucher.

Rule: only current facts are found; how rare a word is among them decides, and of equals the newer one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from ctxgc.core import terms
from ctxgc.core.bookings import Artifact, Fact
from ctxgc.core.books import Books

_BY_NAME = 1_000.0
"""What it weighs that a fact, its voucher or its voucher's ref is named: more than all shared words."""


class Index:
    """The words of facts, which never change; each fact is read once."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}

    def ranked(self, books: Books, text: str) -> list[Fact]:
        """The current facts that have something in common with ``text``, best first.

        The weight of a word is its inverse document frequency, log(1 + facts / facts with it) (Sparck Jones 1972).
        """
        facts = books.current()
        having = Counter(word for fact in facts for word in self._of(books, fact))
        asked, name = set(words(text)), text.strip()
        scores = []
        for number, fact in enumerate(facts):
            shared = sorted(asked & self._of(books, fact))
            score = sum(math.log1p(len(facts) / having[word]) for word in shared)
            scores.append((score + _BY_NAME * _named(books, fact, name), number))
        return [facts[number] for score, number in sorted(scores, reverse=True) if score > 0]

    def _of(self, books: Books, fact: Fact) -> frozenset[str]:
        known = self._words.get(fact.id)
        if known is None:
            texts = (fact.statement, fact.id, *(f"{one.id} {one.ref}" for one in _vouchers(books, fact)))
            known = self._words[fact.id] = frozenset(word for text in texts for word in words(text))
        return known


def words(text: str) -> Iterable[str]:
    """The words of a text, case-folded; in Chinese, Japanese and Korean each character."""
    return map(str.casefold, terms.words(text))


def within(ranked: Iterable[Fact], budget: int, count: Callable[[str], int]) -> list[Fact]:
    """The best facts whose lines take at most ``budget`` tokens together; one that does not fit is passed over."""
    found: list[Fact] = []
    left = budget
    for fact in ranked:
        if left <= 0:
            break
        cost = count(line(fact))
        if cost <= left:
            found.append(fact)
            left -= cost
    return found


def line(fact: Fact) -> str:
    """A fact as the window would show it: id, statement, and where it stands."""
    places = " ".join(f"[{one.artifact} lines {one.line_first}-{one.line_last}]" for one in fact.source)
    return f"{fact.id}: {fact.statement} {places}\n"


def _named(books: Books, fact: Fact, name: str) -> bool:
    return name == fact.id or any(name in (one.id, one.ref) for one in _vouchers(books, fact))


def _vouchers(books: Books, fact: Fact) -> list[Artifact]:
    return [books.artifacts[one.artifact] for one in fact.source]
