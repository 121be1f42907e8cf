"""Leak suspects: what is carried again and again to no apparent use, each in one plain sentence.

Rule: a suspect is what the figures show, and no more: nothing here knows what the agent still needs. Its figure is in
token-turns (tokens times the requests that carried them), so that suspects of all rules compare.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxgc.core.block import Kind
from ctxgc.core.heap import Cell
from ctxgc.lab.carried import Carried

MIN_SHARE = 0.01
"""Share of all token-turns below which nothing is worth a word."""
LARGE_SHARE = 0.1
"""Share from which one result is a suspect by its size alone (Eclipse Memory Analyzer's threshold for a leak)."""
LARGE_TOKENS = 2000
LARGE_REQUESTS = 5
REREADS = 3
UNUSED_REQUESTS = 3
_NAMES = 5
OURS = ("recall", "summary", "ledger")
"""Tags of what is sent and never came."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A tool as it was offered: tokens of its schema, requests that carried it, token-turns, and calls of the tool.

    ``ours`` is the recall tool, which is there for when it is needed.
    """

    name: str
    tokens: int
    requests: int
    token_turns: int
    calls: int
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspicion: the rule it comes from, whom it is about, how many token-turns and what share of all they are."""

    rule: str
    subject: str
    figure: int
    share: float
    sentence: str
    action: str


def suspects(carried: Carried, schemas: Sequence[Schema]) -> tuple[Suspect, ...]:
    """All suspects of a session, the largest first."""
    total = sum(carried.sent_turns)
    found = [*_duplicates(carried, total), *_rereads(carried, total), *_large(carried, total)]
    found += _unused(carried, schemas, total)
    return tuple(sorted((one for one in found if one.share >= MIN_SHARE), key=lambda one: -one.figure))


def _suspect(rule: str, subject: str, figure: int, total: int, sentence: str, action: str) -> Suspect:
    share = figure / total if total else 0.0
    return Suspect(rule, subject, figure, share, f"{sentence} ({share:.0%} of all tokens sent).", action)


def _results(carried: Carried) -> dict[str, list[Cell]]:
    """The tool results of each site, in the order in which they came; not what is ours."""
    sites: dict[str, list[Cell]] = defaultdict(list)
    for cell in carried.state.cells:
        if cell.kind is Kind.TOOL_RESULT and cell.tag not in OURS:
            sites[cell.site].append(cell)
    return sites


def _duplicates(carried: Carried, total: int) -> Iterator[Suspect]:
    """Results that one call gave before, word for word, in the same history."""
    for site, cells in _results(carried).items():
        copies = [cell for cell in cells if _repeats(carried, cell)]
        figure = sum(carried.sent_turns[cell.id] for cell in copies)
        if figure:
            tokens = sum(cell.sent for cell in copies)
            yield _suspect(
                "duplicate_result",
                site,
                figure,
                total,
                f"{site} gave a result that was already in context {_times(len(copies))}: {tokens:,} tokens of copies",
                "Turn on the dedup policy: a copy becomes a pointer to the first.",
            )


def _repeats(carried: Carried, cell: Cell) -> bool:
    same = carried.state.results.get((cell.site, cell.content), ())
    return any(other < cell.id and _before(carried, other, cell.id) for other in same)


def _before(carried: Carried, other: int, cell: int) -> bool:
    """Whether one cell's message stands before another's in its history."""
    state = carried.state
    wanted, at = state.node(state.owners[other]), state.node(state.owners[cell])
    while at.depth > wanted.depth:
        at = state.node(at.parent)
    return at.id == wanted.id


def _rereads(carried: Carried, total: int) -> Iterator[Suspect]:
    """Sites read many times with different results: the older ones were carried on beside the newer."""
    for site, cells in _results(carried).items():
        if len(cells) < REREADS or len({cell.content for cell in cells}) < 2:
            continue
        stale = [
            min(cell.sent * carried.sends[newer.id], carried.sent_turns[cell.id])
            for cell, newer in pairwise(cells)
            if cell.content != newer.content and _before(carried, cell.id, newer.id)
        ]
        figure = sum(stale)
        if figure:
            yield _suspect(
                "reread",
                site,
                figure,
                total,
                f"{site} was called {len(cells)} times, and older results stayed in context beside newer ones",
                "Older results are stale if the newer ones replace them: re-read less, or read only what changed.",
            )


def _large(carried: Carried, total: int) -> Iterator[Suspect]:
    for site, cells in _results(carried).items():
        for cell in cells:
            figure, times = carried.sent_turns[cell.id], carried.sends[cell.id]
            if figure >= LARGE_SHARE * total and cell.sent >= LARGE_TOKENS and times >= LARGE_REQUESTS:
                yield _suspect(
                    "large_result",
                    site,
                    figure,
                    total,
                    f"One result of {site} has {cell.sent:,} tokens and was sent with {times} requests",
                    "Have the tool return less, or give the truncate policy a smaller budget for it.",
                )


def _unused(carried: Carried, schemas: Sequence[Schema], total: int) -> Iterator[Suspect]:
    """Tools that were offered and never called, all in one."""
    unused = [one for one in schemas if not one.calls and not one.ours and one.requests >= UNUSED_REQUESTS]
    if not unused:
        return
    unused.sort(key=lambda schema: -schema.token_turns)
    names = [schema.name for schema in unused]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    tokens, many = sum(schema.tokens for schema in unused), len(unused) > 1
    what = f"{len(unused)} tool schemas are" if many else "The schema of one tool is"
    yield _suspect(
        "unused_schema",
        ", ".join(names[:_NAMES]) + more,
        sum(schema.token_turns for schema in unused),
        total,
        f"{what} sent with every request, {tokens:,} tokens each time, and never called",
        "Do not offer tools that this task cannot need.",
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
