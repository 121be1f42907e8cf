"""``ctxgc demo``."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._output import Table, as_json, progress, say, show

if TYPE_CHECKING:
    from ctxgc.demo.report import Bill, Edited, Report

ACTIONS = {
    "dedup": "repeated, now a pointer to the same result before",
    "minify": "JSON without its indentation",
    "truncate": "cut to the budget of a result, the rest on recall",
}


@click.command()
@click.option("--model", metavar="NAME", default="gpt-5", show_default=True, help="Count and price as this model.")
@click.option("--keep", is_flag=True, help="Keep the store, and say where it is.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.demo/1).")
def command(model: str, keep: bool, json_: bool) -> None:
    """See it work: a scripted 60-turn coding session, through the real proxy. No API key.

    A scripted model answers on this machine. The session is played straight to it and then through ctxgc; the model
    counts and bills what it receives.

    \b
    Examples:
      ctxgc demo
      ctxgc demo --keep                      then look into its store
      ctxgc demo --model claude-sonnet-4-5   at another model's prices
    """
    with _folder(keep) as folder:
        report = _report(model, folder)
    if json_:
        as_json(document(report, kept=keep))
    else:
        _print(report, kept=keep)


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    """A new folder for the store, which goes at the end unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="ctxgc-demo-")).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="ctxgc-demo-") as name:
        yield Path(name).absolute()


def _report(model: str, folder: Path) -> Report:
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
    return report(runs, PriceTable.load().price(model))


def document(report: Report, *, kept: bool) -> dict[str, object]:
    """The report as JSON: every figure that is printed."""
    store = report.store
    return {
        "schema": "ctxgc.demo/1",
        "model": report.model,
        "policy": report.policy,
        "exact": report.exact,
        "tags": [{"tag": row.tag, "without": row.without, "with": row.through} for row in report.rows],
        "billed": {"without": _bill(report.without), "with": _bill(report.through)},
        "edits": [_edited(edit) for edit in report.edits],
        "store": {
            "url": store.url,
            "kept": kept,
            "session": store.session,
            "entries": store.entries,
            "findings": store.findings,
            "rebuilt": store.rebuilt,
            "bypassed": store.bypassed,
        },
        "next": list(_next(report, kept)),
    }


def _bill(bill: Bill) -> dict[str, object]:
    return {
        "requests": bill.requests,
        "input": bill.input,
        "uncached": bill.uncached,
        "cached": bill.cached,
        "output": bill.output,
        "usd": bill.usd,
    }


def _edited(edit: Edited) -> dict[str, object]:
    return {"action": edit.action, "results": edit.results, "before": edit.before, "after": edit.after}


def _print(report: Report, *, kept: bool) -> None:
    say(f"A coding session of {report.without.requests} requests, played twice: straight to a scripted model,")
    say(f"and through ctxgc with the policy {report.policy}. As the answers are scripted, this shows")
    say("what is sent and billed, and not how well a model works with it.")
    say()
    show(_tags(report))
    say()
    show(_billed(report))
    say()
    show(_collected(report))
    say()
    for line in _notes(report):
        say(line)
    say()
    say("Where to look next:")
    for line in _next(report, kept):
        say(f"  {line}")


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


def _collected(report: Report) -> Table:
    rows = [
        (edit.action, f"{edit.results:,}", f"{edit.before:,}", f"{edit.after:,}", _explained(edit.action))
        for edit in report.edits
    ]
    columns = ("<what", ">results", ">tokens before", ">after", "<")
    return Table("What was done to new tool results, once each", columns, rows)


def _explained(action: str) -> str:
    return "; ".join(ACTIONS.get(part, part) for part in action.split("+"))


def _notes(report: Report) -> Iterator[str]:
    store = report.store
    if report.without.usd is None:
        yield f"No price is known for {report.model}: give another --model to see USD."
    if not report.exact:
        yield f"The tokenizer of {report.model} is not public: token counts are estimates."
    verdict = "no findings" if not store.findings else f"{store.findings} FINDINGS"
    yield f"Store verified: {store.entries:,} entries, {verdict}."
    yield f"{store.rebuilt} of {report.through.requests} bodies that the model received hash to what the journal says."
    if store.bypassed:
        yield f"{store.bypassed} requests went on as they came: the journal says why."


def _next(report: Report, kept: bool) -> Iterator[str]:
    if not kept:
        yield "ctxgc demo --keep                                 keep the store, to look into it"
        yield "ctxgc proxy --upstream https://api.openai.com/v1  put it before an agent of yours"
        yield "ctxgc profile transcript.jsonl                    where did the tokens of a transcript go?"
        return
    store, url = report.store, shlex.quote(report.store.url)
    yield f"ctxgc profile --session {store.session[:12]} --store {url}"
    yield f"ctxgc audit verify --store {url}"
    if store.handle:
        yield f"ctxgc recall {store.handle} --store {url}"


def _saved(without: float, through: float) -> str:
    """The part that was saved; negative where it got more."""
    return f"{(without - through) / without:.1%}" if without else "-"
