"""``ctxgc ledger supersede`` and ``restore``: corrections.

Rule: a correction is a new entry. What it corrects stays in the ledger, and can be restored.
"""

from __future__ import annotations

import click

from ctxgc.cli._ledger_options import Chosen, ledger_options, writing
from ctxgc.cli._output import as_json, say, when

_reason = click.option("--reason", metavar="TEXT", default="", help="Why.")


@click.command()
@click.argument("old")
@click.argument("new", default="")
@_reason
@ledger_options("supersede")
def supersede(chosen: Chosen, old: str, new: str, reason: str) -> None:
    """Overturn the fact OLD by the fact NEW; without NEW, withdraw it. It is in no balance from then on.

    \b
    Examples:
      ctxgc ledger supersede F2 F5 --reason "the file was rewritten"
      ctxgc ledger supersede F2
    """
    from ctxgc.cli._booked import booked
    from ctxgc.cli._ledger_json import document

    with writing(chosen) as ledger:
        entry = ledger.supersede(old, new, reason)
        if chosen.json:
            more = {"old": entry.old, "new": entry.new, "reason": entry.reason, "at": when(entry.at)}
            as_json(document("supersede", ledger, **more))
            return
    say(booked(entry))


@click.command()
@click.argument("fact", metavar="FACT")
@_reason
@ledger_options("restore")
def restore(chosen: Chosen, fact: str, reason: str) -> None:
    """Make an overturned fact current again; what had overturned it is superseded by it.

    \b
    Example:
      ctxgc ledger restore F2 --reason "rolled back"
    """
    from ctxgc.cli._booked import booked
    from ctxgc.cli._ledger_json import document

    with writing(chosen) as ledger:
        entry = ledger.restore(fact, reason)
        if chosen.json:
            more = {"fact": entry.fact, "reason": entry.reason, "at": when(entry.at)}
            as_json(document("restore", ledger, **more))
            return
    say(booked(entry))
