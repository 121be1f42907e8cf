"""Suspects among tool results: copies, re-reads, large ones, and what is out of date.

Rule: linear in the cells there are, whatever they repeat.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ctxgc.core.block import Kind
from ctxgc.core.heap import Cell
from ctxgc.lab._suspect import Case, Suspect, named, times
from ctxgc.lab.index import OURS

_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")
"""Names of tools that stand in a setting as they are, and are no pattern."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Those of them that need no quotes in TOML."""
LARGE_SHARE = 0.1
"""Share from which one result is a suspect by its size alone (Eclipse Memory Analyzer's threshold for a leak)."""
LARGE_TOKENS = 2000
LARGE_REQUESTS = 5
REREADS = 3
_BUDGET = 1000
"""Budgets that are suggested are whole thousands of tokens."""


def duplicates(case: Case) -> Iterator[Suspect]:
    """Results that one call gave before, word for word, in the same history; not what was edited, and no copies of
    such: those are pointers, or came when the first was gone."""
    sites: dict[str, list[int]] = defaultdict(list)
    for (site, _), cells in case.state.results.items():
        if len(cells) > 1:
            sites[site] += case.repeats(cell for cell in cells if cell not in case.state.edits)
    for site, copies in sites.items():
        figure = sum(case.carried.sent_turns[cell] for cell in copies)
        if figure:
            tokens = sum(case.state.cells[cell].sent for cell in copies)
            again = (
                f"{site} gave a result that was already in context {times(len(copies))}: {tokens:,} tokens of copies"
            )
            yield case.suspect("duplicate_result", site, figure, again, *_dedup(case))


def _dedup(case: Case) -> tuple[str, str]:
    if case.on("dedup"):
        return (
            "Dedup is on: what it left are the pointers, and copies that are too small for one. Call less often what "
            "has been answered.",
            "",
        )
    return "Turn on the dedup policy: a copy becomes a pointer to the first.", case.advice


def rereads(case: Case) -> Iterator[Suspect]:
    """Sites read many times with different results: the older ones were carried on beside the newer."""
    for site, numbers in case.carried.index.results.items():
        if len(numbers) < REREADS:
            continue
        cells = [case.state.cells[number] for number in numbers]
        figure = sum(
            _beside(case, cell, newer.id)
            for cell, newer in pairwise(cells)
            if cell.content != newer.content and case.stands_before(cell.id, newer.id)
        )
        if figure:
            yield case.suspect(
                "reread",
                site,
                figure,
                f"{site} was called {len(cells)} times, and older results stayed in context beside newer ones",
                "Older results are stale if the newer ones replace them: re-read less, or read only what changed.",
                "" if case.on("superseded") else case.advice,
            )


def _beside(case: Case, cell: Cell, newer: int) -> int:
    """What was sent of a cell after another one had come: at most what was sent of it at all."""
    return min(cell.sent * case.carried.sends[newer], case.carried.sent_turns[cell.id])


def large(case: Case) -> Iterator[Suspect]:
    """Results that take a large share by themselves."""
    least, requests = max(LARGE_SHARE * case.total, 1), len(case.carried.requests)
    for number, figure in enumerate(case.carried.sent_turns):
        if figure < least:
            continue
        cell, sends = case.state.cells[number], case.carried.sends[number]
        result = cell.kind is Kind.TOOL_RESULT and cell.tag not in OURS
        if result and cell.sent >= LARGE_TOKENS and sends >= LARGE_REQUESTS:
            yield case.suspect(
                "large_result",
                cell.site,
                figure,
                f"One result of {cell.site} has {cell.sent:,} tokens and was sent in {sends} of {requests} requests",
                "Have the tool return less, or give it a smaller budget.",
                _smaller(case, cell),
            )


def _smaller(case: Case, cell: Cell) -> str:
    """A budget of half of the result for its tool, where truncating is all that is seen at work, or nothing is; not for
    a tool whose name would mean something else in the setting."""
    tool = cell.site.partition("(")[0]
    if (case.works and not case.on("truncate", "generational")) or not _NAME.fullmatch(tool):
        return ""
    budget = max(cell.sent // 2 // _BUDGET, 1) * _BUDGET
    if _BARE.fullmatch(tool):
        return f'policy = "generational@truncate.tools={{{tool}={budget}}}"'
    return f"policy = 'generational@truncate.tools={{\"{tool}\"={budget}}}'"


def failed(case: Case) -> Iterator[Suspect]:
    """Failures that were overcome, and results that something newer has replaced, which are sent all the same: all in
    one."""
    found: list[tuple[int, Cell, bool]] = []
    for number, one in case.state.overwritten.items():
        cell = case.state.cells[number]
        if number not in case.state.edits and case.state.owners[number] >= 0:
            found.append((_beside(case, cell, one.by), cell, one.overcome))
    found = [one for one in found if one[0]]
    if not found:
        return
    found.sort(key=lambda one: (-one[0], one[1].id))
    sites = list(dict.fromkeys(cell.site for _, cell, _ in found))
    overcome = sum(failure for *_, failure in found)
    what = f"{len(found)} results" if len(found) > 1 else "One result"
    on = case.on("superseded", "failed_calls")
    yield case.suspect(
        "failed_result",
        named(sites),
        sum(figure for figure, *_ in found),
        f"{what} stayed in context after a later call had replaced what they say or overcome the failure they tell of"
        f" ({overcome} failed, {len(found) - overcome} out of date)",
        "They go as soon as it pays: the superseded and failed_calls policies are on."
        if on
        else "Turn on the superseded and failed_calls policies: these results leave a stub.",
        "" if on else case.advice,
    )
