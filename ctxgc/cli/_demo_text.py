"""``ctxgc demo`` as people read it: tables, and what was checked.

Rule: what got worse is printed like what got better, and a check that found something says so in capitals.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ctxgc.cli._output import Table, say, show

if TYPE_CHECKING:
    from ctxgc.demo.report import Report
    from ctxgc.lab.gc_log import Made

POLICIES = {
    "budget": "to make room",
    "compact": "shown again: what it pointed to is left out",
    "dedup": "repeated: now a pointer to the same result before",
    "failed_calls": "failed, and the call succeeded since",
    "generational": "unused for a while: the lines that say most stay",
    "items": "used in part: that part stays",
    "minify": "JSON without its indentation",
    "superseded": "out of date: read again or written since",
    "truncate": "cut to the budget of a result",
}
TRIGGERS = {
    "asked": "a policy asked for it",
    "cold": "nothing was cached",
    "quality": "the request was over its budget",
    "rent": "worth its price by now",
    "window": "the window was filling up",
}


def print_report(report: Report, *, kept: bool, paged: bool = False) -> None:
    """Print all of it; ``kept`` says whether its store still exists, ``paged`` that the page over it follows."""
    say(f"A coding session of {report.without.requests} requests, played twice: straight to a scripted model,")
    say(f"and through ctxgc with the policy {report.policy}. As the answers are scripted, this shows")
    say("what is sent and billed, and not how well a model works with it.")
    for table in (_tags(report), _billed(report), _edits(report), _collections(report)):
        if table.rows:
            say()
            show(table)
    say()
    for line in _notes(report):
        say(line)
    say()
    say("Where to look next:")
    for line in islice(following(report, kept=kept), int(paged), None):  # the first one leads to the page
        say(f"  {line}")


def following(report: Report, *, kept: bool) -> Iterator[str]:
    """Commands to go on with, most of them for the store if it was kept."""
    if not kept:
        yield "ctxgc demo --page                                 see what leaks, and what was collected, in the browser"
        yield "ctxgc demo --keep                                 keep the store, to look into it"
        yield "ctxgc proxy --upstream https://api.openai.com/v1  put it before an agent of yours"
        yield "ctxgc profile transcript.jsonl                    where did the tokens of a transcript go?"
        return
    store, url = report.store, shlex.quote(report.store.url)
    yield f"ctxgc page {store.session[:12]} --store {url}"
    yield f"ctxgc profile --session {store.session[:12]} --store {url}"
    yield f"ctxgc gc-log --store {url}"
    yield f"ctxgc audit verify --store {url}"
    if store.handle:
        yield f"ctxgc recall {store.handle} --store {url}"


def _tags(report: Report) -> Table:
    figures = [(row.tag, row.without, row.through) for row in report.rows]
    figures.append(("total", report.without.input, report.through.input))
    rows = [(tag, f"{without:,}", f"{through:,}", _saved(without, through)) for tag, without, through in figures]
    return Table("Input tokens by tag, summed over all requests", ("<tag", ">without", ">with", ">saved"), rows)


def _billed(report: Report) -> Table:
    one, other = report.without, report.through
    kinds = (
        ("requests", one.requests, other.requests),
        ("input, uncached", one.uncached, other.uncached),
        ("input, cached", one.cached, other.cached),
        ("output", one.output, other.output),
    )
    rows = [(name, f"{without:,}", f"{through:,}", _saved(without, through)) for name, without, through in kinds]
    if one.usd is not None and other.usd is not None:
        rows.append(("USD", f"{one.usd:.4f}", f"{other.usd:.4f}", _saved(one.usd, other.usd)))
    return Table(f"What {report.model} would have billed", ("<", ">without", ">with", ">saved"), rows)


def _edits(report: Report) -> Table:
    rows = [
        (
            edit.policy, edit.action, "yes" if edit.resident else "no", f"{edit.results:,}", f"{edit.before:,}",
            f"{edit.after:,}", _explained(edit.policy),
        )
        for edit in report.edits
    ]  # fmt: skip
    columns = ("<policy", "<action", "<sent before", ">edits", ">tokens before", ">after", "<")
    return Table("What was collected of tool results, by policy", columns, rows)


def _explained(policy: str) -> str:
    return "; ".join(POLICIES.get(part, part) for part in policy.split("+"))


def _collections(report: Report) -> Table:
    rows = [
        (
            f"{made.turn:,}", made.generation, f"{made.cells:,}", f"{made.context_before:,}",
            f"{made.context_after:,}", f"{made.rewritten:,}", _why(made),
        )
        for made in report.collections
    ]  # fmt: skip
    columns = (">request", "<", ">results", ">its tokens before", ">after", ">sent anew", "<why now")
    return Table("Requests in which what had been sent before was collected", columns, rows)


def _why(made: Made) -> str:
    return TRIGGERS.get(made.trigger, made.trigger)


def _notes(report: Report) -> Iterator[str]:
    if report.without.usd is None:
        yield f"No price is known for {report.model}: give another --model to see USD."
    if not report.exact:
        yield f"The tokenizer of {report.model} is not public: token counts are estimates."
    yield from _prefixes(report)
    yield from _store(report)


def _prefixes(report: Report) -> Iterator[str]:
    found = report.prefixes
    broken = f", {found.broken} CHANGED MORE" if found.broken else ""
    yield (
        f"Cached prefix: {found.whole} of {found.followed} requests begin with the whole one before, byte for byte;"
        f" {found.collected} changed only what was collected{broken}."
    )


def _store(report: Report) -> Iterator[str]:
    store = report.store
    yield f"Recall: {store.recalled} of {store.edited} collected results were read back, byte for byte."
    verdict = "no findings" if not store.findings else f"{store.findings} FINDINGS"
    yield f"Store verified: {store.entries:,} entries, {verdict}."
    yield f"{store.rebuilt} of {report.through.requests} bodies that the model received hash to what the journal says."
    if store.bypassed:
        yield f"{store.bypassed} requests went on as they came: the journal says why."


def _saved(without: float, through: float) -> str:
    """The part that was saved; negative where it got more."""
    return f"{(without - through) / without:.1%}" if without else "-"
