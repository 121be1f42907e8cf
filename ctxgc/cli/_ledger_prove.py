"""``ctxgc ledger trace``, ``reconcile``, ``close`` and ``opening``: whether the books are right, and what they hand on.

Rule: what does not agree is an exit code of its own, so that a script cannot take it for anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from ctxgc.cli._ledger_options import Chosen, ledger_options, reading, writing
from ctxgc.cli._output import as_json, say

DISAGREES = 7
"""The exit code of what does not match what was booked."""
BUDGET = 1500


@click.command()
@click.argument("fact", metavar="FACT")
@ledger_options("trace")
def trace(chosen: Chosen, fact: str) -> None:
    """Follow a fact to its vouchers, and compute every hash anew: as it was booked, and as it is now.

    Exit code 7: one of them disagrees, or it is a claim, which rests on nothing.

    \b
    Example:
      ctxgc ledger trace F3
    """
    from ctxgc.cli._ledger_json import document, trace_document
    from ctxgc.cli._ledger_text import trace_lines

    with reading(chosen) as ledger:
        found, books = ledger.trace(fact), ledger.books
        if chosen.json:
            as_json(document("trace", ledger, **trace_document(books, found)))
        else:
            _say(trace_lines(books, found))
    _exit(agrees=found.agree)


@click.command()
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only so many facts, picked at random [all].")
@click.option("--seed", type=int, default=0, show_default=True, help="Which ones: the same seed picks the same.")
@click.option("--no-record", is_flag=True, help="Do not book the result: nothing is written.")
@ledger_options("reconcile")
def reconcile(chosen: Chosen, sample: int | None, seed: int, no_record: bool) -> None:
    """Read again what the current facts rest on, and hold it against what was booked.

    Critical facts also against the live file. drift: the file has changed since; missing: file or voucher is gone;
    corrupt: voucher, slice or entry is not what it was. Exit code 0: all match; 7: something does not, and is named.

    \b
    Examples:
      ctxgc ledger reconcile
      ctxgc ledger reconcile --sample 50 --seed 7 --no-record
    """
    from ctxgc.cli._ledger_json import document, report_document
    from ctxgc.cli._ledger_text import report_lines

    with (reading if no_record else writing)(chosen) as ledger:
        report = ledger.reconcile(sample, seed, record=not no_record)
        if chosen.json:
            as_json(document("reconcile", ledger, sample=sample, seed=seed, **report_document(report)))
        else:
            _say(report_lines(report))
    _exit(agrees=report.ok)


@click.command()
@click.argument("milestone", default="")
@ledger_options("close")
def close(chosen: Chosen, milestone: str) -> None:
    """Close the period: the facts that stand now are what the next one begins with. MILESTONE says what is done.

    Critical facts are reconciled first. Exit code 6: one of them does not agree, is named, and the period stays open.

    \b
    Example:
      ctxgc ledger close "report written"
    """
    from ctxgc.cli._ledger_json import document, period_document
    from ctxgc.cli._ledger_text import period_lines

    with writing(chosen) as ledger:
        period = ledger.close(milestone).period
        if chosen.json:
            as_json(document("close", ledger, period=period_document(period)))
        else:
            _say(period_lines(period))


@click.command()
@click.option("--budget", type=click.IntRange(1), default=BUDGET, show_default=True, help="Tokens it may take.")
@click.option("--pin", "pins", metavar="TEXT", multiple=True, help="A constraint, word for word, before the facts.")
@ledger_options("opening")
def opening(chosen: Chosen, budget: int, pins: tuple[str, ...]) -> None:
    """Print the opening balance: what a window begins with instead of the history that led to it.

    Critical facts and newer ones come first; what has no room is named by its pointer. Exit code 6: the pins alone take
    more than the budget.

    \b
    Example:
      ctxgc ledger opening --budget 1000 --pin "Do not touch the schema." > opening.txt
    """
    from ctxgc.cli._ledger_json import document

    with reading(chosen) as ledger:
        made = ledger.opening(budget, pins)
        if chosen.json:
            more = {"facts": list(made.facts), "pointed": list(made.pointed)}
            as_json(document("opening", ledger, budget=budget, tokens=made.tokens, text=made.text, **more))
        elif sys.stdout.isatty():
            _say(made.text.split("\n"))
        else:
            with click.open_file("-", "wb") as out:
                out.write(f"{made.text}\n".encode("utf-8", "surrogateescape"))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def _exit(*, agrees: bool) -> None:
    if not agrees:
        click.get_current_context().exit(DISAGREES)
