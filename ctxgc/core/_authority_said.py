"""Whether a statement says no more than a quote: each of its words and numbers stands there, together and in order.

Rule: words may be left out between two that stay, numbers and ends of clauses may not, and nothing is turned round.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ctxgc.core._authority_fold import fold
from ctxgc.core._authority_words import NEGATIONS, NEUTRAL
from ctxgc.core.terms import CJK

_BREAK = "\0"
_NEUTRAL, _NEGATIONS = frozenset(NEUTRAL.split()), frozenset(fold(NEGATIONS).split())
_TOKEN = re.compile(
    rf"(?P<stop>[,;|{{}}\n]|[.!?](?=\s|$))|[{CJK}]"
    rf"|(?:(?<![\w)\]])[-+](?=\d))?(?:(?![{CJK}])\w)+(?:(?<=\d)[.,:](?=\d)\w+)*%?"
)


def adds(statement: str, quote: str) -> str:
    """What the statement says that the quote does not, in plain words; empty where there is nothing."""
    said, shown = list(_tokens(statement)), list(_tokens(quote))
    content = [token for token in said if token != _BREAK and token not in _NEUTRAL]
    evidence = [token for token in shown if token not in _NEUTRAL]
    for token in content:
        if token not in shown:
            return f"{token!r} does not stand in the quote"
    if len(content) < 2 or (statement.isascii() and sum(map(_says, statement.split())) < 2):
        return "the statement says nothing"
    if Counter(filter(_turns, content)) != Counter(filter(_turns, evidence)):
        return "the statement and the quote do not deny the same"
    if not _follows(content, evidence):
        return "the words of the statement do not stand together like this in the quote"
    return ""


def denied(before: str, after: str) -> bool:
    """Whether the text beside a quote, up to the ends of its clause, may turn round what it says."""
    left = list(_tokens(before))[::-1]
    right = list(_tokens(after))
    return any(_turns(token) or token == "false" for side in (left, right) for token in _clause(side))


def _clause(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if token == _BREAK:
            return
        yield token


def _tokens(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(fold(text.replace("'", "").replace("’", ""))):
        if found["stop"]:
            yield _BREAK
        else:
            yield found[0]


def _says(word: str) -> bool:
    return any(token not in _NEUTRAL and token != _BREAK for token in _tokens(word))


def _turns(token: str) -> bool:
    return token in _NEGATIONS


def _number(token: str) -> bool:
    return token[-1].isdigit() or token[-1] == "%" or token[0].isdigit()


def _follows(said: Sequence[str], shown: Sequence[str]) -> bool:
    if list(said) == [*shown[1:], *shown[:1]] and sum(map(_number, shown)) == 1 and _number(shown[0]):
        return True  # "120 a" for "a has 120": there is nothing else that it could be about
    ends = {at for at, token in enumerate(shown) if token == said[0] and _begins(shown, at)}
    for token in said[1:]:
        ends = {at for end in ends for at in _reached(shown, end, token)}
    return bool(ends)


def _begins(shown: Sequence[str], at: int) -> bool:
    """Whether a statement may begin here: not with the second number of a clause, as in ``17 of 20 passed``."""
    return not _number(shown[at]) or not any(map(_number, _clause(shown[:at][::-1])))


def _reached(shown: Sequence[str], end: int, token: str) -> Iterator[int]:
    """Where ``token`` may follow on place ``end``: next in line, if behind the end of a clause; else in the clause,
    with no number in between."""
    if shown[end + 1 : end + 3] == [_BREAK, token]:
        yield end + 2
    for at in range(end + 1, len(shown)):
        if shown[at] == token:
            yield at
        if shown[at] == _BREAK or _number(shown[at]):
            return
