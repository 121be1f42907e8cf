"""``ctxgc ledger facts``, ``claims``, ``query`` and ``show``: what stands in a ledger.

Rule: nothing is changed by looking, and what is not current is never shown as if it were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ctxgc.cli._ledger_options import Chosen, ledger_options, reading
from ctxgc.cli._output import as_json, say, shorten
from ctxgc.cli._output import show as show_table
from ctxgc.cli.recall import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxgc.core.bookings import Artifact
    from ctxgc.ledger import Ledger

    Range = tuple[int, int | None]


@click.command()
@click.option("--all", "all_", is_flag=True, help="Also those that were superseded, and by what.")
@ledger_options("facts")
def facts(chosen: Chosen, all_: bool) -> None:
    """List the facts that stand, in the order they were posted.

    \b
    Examples:
      ctxgc ledger facts
      ctxgc ledger facts --all --json | jq '.facts[] | select(.status == "superseded")'
    """
    from ctxgc.cli._ledger_json import document, fact_document
    from ctxgc.cli._ledger_text import facts_table

    with reading(chosen) as ledger:
        books = ledger.books
        found = [fact for fact in books.facts.values() if fact.type == "verified"] if all_ else books.current()
        if chosen.json:
            as_json(document("facts", ledger, facts=[fact_document(books, fact) for fact in found]))
        elif found:
            show_table(facts_table(ledger, books, found, all_=all_))
        else:
            say("no facts yet")


@click.command()
@ledger_options("claims")
def claims(chosen: Chosen) -> None:
    """List the claims that nobody has verified yet.

    \b
    Example:
      ctxgc ledger claims
    """
    from ctxgc.cli._ledger_json import document, fact_document
    from ctxgc.cli._ledger_text import claims_table

    with reading(chosen) as ledger:
        found = ledger.books.claims()
        if chosen.json:
            as_json(document("claims", ledger, claims=[fact_document(ledger.books, claim) for claim in found]))
        elif found:
            show_table(claims_table(ledger, found))
        else:
            say("no claims")


@click.command()
@click.argument("text")
@click.option("--budget", type=click.IntRange(1), default=1000, show_default=True, help="Tokens they may take.")
@ledger_options("query")
def query(chosen: Chosen, text: str, budget: int) -> None:
    """Find current facts by words, or by the voucher they rest on (its handle or ref): best first.

    \b
    Examples:
      ctxgc ledger query "which port"
      ctxgc ledger query /etc/service/config.toml --budget 300
    """
    from ctxgc.cli._ledger_json import document, fact_document
    from ctxgc.cli._ledger_text import facts_table

    with reading(chosen) as ledger:
        found, books = ledger.query(text, budget), ledger.books
        if chosen.json:
            as_json(document("query", ledger, budget=budget, facts=[fact_document(books, fact) for fact in found]))
        elif found:
            show_table(facts_table(ledger, books, found))
        else:
            say("no fact has anything of it")


@click.command()
@click.argument("name", metavar="ID")
@click.option("--lines", type=Lines(), help="These lines of a voucher, counted from 1: 1-20, 10-, :20 or 10.")
@ledger_options("show")
def show(chosen: Chosen, name: str, lines: Range | None) -> None:
    """Show a fact (F3), a claim (C1), a period (P2), or a voucher (its handle) in full.

    \b
    Examples:
      ctxgc ledger show F3
      ctxgc ledger show k3v7qzsx2mhd4ayb --lines 1-20
    """
    with reading(chosen) as ledger:
        if lines is None:
            _shown(chosen, ledger, name)
        else:
            _voucher(chosen, ledger, _artifact(ledger, name), lines)


def _shown(chosen: Chosen, ledger: Ledger, name: str) -> None:
    from ctxgc.cli import _ledger_text as text
    from ctxgc.cli._ledger_json import document, fact_document, period_document

    books = ledger.books
    fact, period = books.facts.get(name), next((one for one in books.periods if one.id == name), None)
    if fact is not None:
        whole = document("show", ledger, type="fact", fact=fact_document(books, fact))
        _answer(chosen, whole, text.fact_lines(books, fact))
    elif period is not None:
        whole = document("show", ledger, type="period", period=period_document(period))
        _answer(chosen, whole, text.period_lines(period))
    else:
        _voucher(chosen, ledger, _artifact(ledger, name), None)


def _voucher(chosen: Chosen, ledger: Ledger, artifact: Artifact, lines: Range | None) -> None:
    from ctxgc.cli._ledger_json import document, voucher_document
    from ctxgc.cli._ledger_text import resting_on, voucher_lines

    books = ledger.books
    first, last = (lines[0], lines[1] or artifact.lines) if lines else (0, 0)
    found = ledger.vault.lines(artifact.id, first, last).split("\n") if lines else None
    numbered = (f"{number:>6}  {line}" for number, line in enumerate(found or [], first))
    voucher = {**voucher_document(artifact), "facts": resting_on(books, artifact), "text": found, "text_from": first}
    _answer(
        chosen, document("show", ledger, type="voucher", voucher=voucher), (*voucher_lines(books, artifact), *numbered)
    )


def _artifact(ledger: Ledger, name: str) -> Artifact:
    from ctxgc.errors import UnknownHandle
    from ctxgc.session.reading import bare

    try:
        return ledger.vault.get(bare(name.strip().lstrip("[")))
    except UnknownHandle:
        known = "`ctxgc ledger facts --all` and `claims` list what there is"
        raise UnknownHandle(f"this ledger has no fact, claim, period or voucher {shorten(name)!r}: {known}") from None


def _answer(chosen: Chosen, whole: dict[str, object], lines: Iterable[str]) -> None:
    if chosen.json:
        as_json(whole)
        return
    for line in lines:
        say(line)
