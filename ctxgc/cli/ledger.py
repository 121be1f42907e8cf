"""``ctxgc ledger``: the books of a host, from the command line.

Rule: what is posted from here has gone through the same verifiers as what is posted by a program.
"""

from __future__ import annotations

import click

from ctxgc.cli import _ledger_amend, _ledger_look, _ledger_post, _ledger_prove

EPILOG = """\b
Exit codes beside the usual ones: 6 the ledger refuses (not verified, a close that does not
agree, pins that do not fit), 7 something does not match what was booked (reconcile, trace)."""


class InOrder(click.Group):
    """A group that lists its commands in the order in which one needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, as they were added."""
        return list(self.commands)


@click.group(cls=InOrder, epilog=EPILOG)
def command() -> None:
    """Keep the books: facts that were verified, each with the original that bears it out.

    A voucher is an original (a file, the output of a command), kept under its hash. A verifier looks at it; only then
    is a fact posted. What nobody has verified is a claim. A period that is closed hands its facts to the next one.

    \b
    Examples:
      ctxgc ledger post "report.md is written" --voucher report.md --verify reads_back
      pytest -q > out.txt; ctxgc ledger post "42 tests pass" --voucher out.txt --kind test \\
        --ref "pytest -q" --exit-status $? --verify exit=0 --verify number=42@passed
      ctxgc ledger facts
      ctxgc ledger reconcile && ctxgc ledger close "report written"
      ctxgc ledger opening --budget 1000
      ctxgc ledger trace F1
    """


for one in (
    *(_ledger_post.post, _ledger_post.voucher, _ledger_post.claim),
    *(_ledger_look.facts, _ledger_look.claims, _ledger_look.query, _ledger_look.show),
    *(_ledger_prove.trace, _ledger_prove.reconcile, _ledger_prove.close, _ledger_prove.opening),
    *(_ledger_amend.supersede, _ledger_amend.restore),
):
    command.add_command(one)
