"""A small agent that settles: a window for each sub-task, and the books closed after each.

``python -m ctxgc.examples.settling_agent`` plays it with a scripted model (no key is needed) and prints the five
acceptance checks of the ledger with their figures.

Rule: everything that is checked was really played: real files, real child processes, a real store. The exit code is 1
where a check does not hold.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from ctxgc.errors import CtxgcError
from ctxgc.examples.chat import Model
from ctxgc.examples.checks import check
from ctxgc.examples.litellm_model import litellm_model
from ctxgc.examples.play import COUNTED, Plan, Played, play
from ctxgc.examples.report import Report, document, lines
from ctxgc.examples.scripted import reply
from ctxgc.store import StoreError, open_store

SCRIPTED = "a scripted model"
TIMES = (1, 10, 100)
"""How often the sub-tasks that are asked for are played: in tasks of their own, the shortest first."""
IN_MEMORY = "sqlite://"
"""Where the longer tasks go: nobody looks at their ledgers afterwards, and there is no disk to wait for."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", metavar="NAME", default="", help="A real model, by the name that litellm has for it.")
@click.option("--tasks", type=click.IntRange(3), default=5, show_default=True, help="Sub-tasks; 3 or more.")
@click.option("--store", metavar="URL", default="", help="Keep the ledger here: sqlite:///PATH.")
@click.option("--budget", type=click.IntRange(2_000), default=4_000, show_default=True, help="Tokens of a window.")
@click.option("--seed", default=1, show_default=True, help="What the sub-tasks are about.")
@click.option("--picks", type=click.IntRange(1), default=1_000, show_default=True, help="Facts that are followed.")
@click.option("--tampers", type=click.IntRange(1), default=100, show_default=True, help="Bytes that are changed.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.settling/1).")
def main(model: str, tasks: int, store: str, budget: int, seed: int, picks: int, tampers: int, json_: bool) -> None:
    """Play a small agent that settles after each sub-task, and check what the ledger promises.

    The scripted model plays TASKS sub-tasks, and then 10 and 100 times as many. A real one (--model) plays TASKS only;
    what it writes is run on this machine, in a temporary folder and without your environment, but in no sandbox.

    \b
    Examples:
      python -m ctxgc.examples.settling_agent
      python -m ctxgc.examples.settling_agent --store sqlite:///settled.db
      python -m ctxgc.examples.settling_agent --model gpt-5-mini --json
    """
    try:
        report = settled(Plan(tasks, seed, budget, model or COUNTED), model, store, picks=picks, tampers=tampers)
    except (CtxgcError, StoreError) as error:
        click.echo(f"settling_agent: {error}", err=True)
        raise SystemExit(1) from None
    if json_:
        click.echo(json.dumps(document(report), indent=2))
    else:
        click.echo("\n".join(lines(report)))
    raise SystemExit(0 if report.checks.ok else 1)


def settled(plan: Plan, model: str = "", store: str = "", *, picks: int, tampers: int) -> Report:
    """Play the plan, and by a scripted model (no ``model`` is named) 10 and 100 times as much; then check.

    Raises ``ModelFailed``, ``NotDone``, ``LedgerError`` and ``StoreError``.
    """
    asked: Model = litellm_model(model) if model else reply
    lengths = [times * plan.tasks for times in (TIMES[:1] if model else TIMES)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxgc-settling-")))
        urls = [store or f"sqlite:///{folder / 'books.db'}", *(IN_MEMORY for _ in lengths[1:])]
        played: list[Played] = []
        for tasks, url in zip(lengths, urls, strict=True):
            opened = open_store(url)
            stack.callback(opened.close)
            played.append(play(replace(plan, tasks=tasks), asked, opened, _made(folder / f"files-{tasks}")))
        checks = check(played, asked, _made(folder / "checks"), picks=picks, tampers=tampers)
    return Report(model or SCRIPTED, plan.seed, plan.budget, store, played[0].name, checks)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
