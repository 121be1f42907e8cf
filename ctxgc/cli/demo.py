"""``ctxgc demo``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._output import as_json, progress

if TYPE_CHECKING:
    from ctxgc.demo.report import Report
    from ctxgc.demo.run import Runs


@click.command()
@click.option("--model", metavar="NAME", default="gpt-5", show_default=True, help="Count and price as this model.")
@click.option("--keep", is_flag=True, help="Keep the store, and say where it is.")
@click.option("--page", is_flag=True, help="Then serve the profiler page over its store, until Ctrl-C.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.demo/1).")
def command(model: str, keep: bool, page: bool, json_: bool) -> None:
    """See it work: a scripted 60-turn coding session, through the real proxy. No API key.

    A scripted model answers on this machine. The session is played straight to it and then through ctxgc; the model
    counts and bills what it receives.

    \b
    Examples:
      ctxgc demo
      ctxgc demo --page                      and look at it in the browser
      ctxgc demo --keep                      then look into its store
      ctxgc demo --model claude-sonnet-4-5   at another model's prices
    """
    from ctxgc.cli._demo_json import document
    from ctxgc.cli._demo_text import print_report

    if page and json_:
        raise click.UsageError("give --page or --json, not both")
    with _folder(keep) as folder:
        runs, report = _report(model, folder)
        if json_:
            as_json(document(report, kept=keep))
            return
        print_report(report, kept=keep, paged=page)
        if page:
            _serve(runs, report)


def _serve(runs: Runs, report: Report) -> None:
    """The page over the demo's store, opened on what leaks in the session without ctxgc."""
    from ctxgc.cli._serving import say_page, until_stopped
    from ctxgc.demo.untouched import keep_untouched
    from ctxgc.web.frames import Terms
    from ctxgc.web.serving import serve_page
    from ctxgc.web.token import link

    untouched = keep_untouched(runs).hex()

    def ready(base: str, token: str) -> None:
        say_page(link(base, token, untouched, "suspects"))
        click.echo("open it in a browser: it shows what leaks in the session without ctxgc;", err=True)
        click.echo(f"session {report.store.session[:12]} is the same through ctxgc. Stop with Ctrl-C", err=True)

    until_stopped(serve_page(Terms(url=report.store.url), "127.0.0.1", 0, ready))


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    """A new folder for the store, which goes at the end unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="ctxgc-demo-")).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="ctxgc-demo-") as name:
        yield Path(name).absolute()


def _report(model: str, folder: Path) -> tuple[Runs, Report]:
    import asyncio

    from ctxgc.demo.report import report
    from ctxgc.demo.run import run_demo
    from ctxgc.demo.scenario import coding_session
    from ctxgc.tokens import PriceTable

    scenario = coding_session()
    turns, done = 2 * len(scenario.turns), 0
    with progress("playing the session twice") as tell:

        def turned() -> None:
            nonlocal done
            done += 1
            tell(done, turns)

        runs = asyncio.run(run_demo(model, f"sqlite:///{folder / 'ctxgc.db'}", turned, scenario))
    return runs, report(runs, PriceTable.load().price(model))
