"""``ctxgc profile``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import find_session, opened, store_option
from ctxgc.cli._output import as_json
from ctxgc.cli._profiled import ASSUMED, Wanted, of_session, of_transcripts, replayed_into
from ctxgc.cli._written import written

if TYPE_CHECKING:
    from ctxgc.cli._profile_json import Profiled

FORMS = ("text", "json", "csv", "speedscope", "pprof", "folded")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True), metavar="[PATH]...")
@click.option("--session", metavar="ID", help="A session of the store (any unambiguous beginning of its id).")
@store_option
@click.option("--model", metavar="NAME", help=f"Count and price as this model [the one named, else {ASSUMED}].")
@click.option("--policy", metavar="NAMES", help="Replay with these policies or this preset [observe: none].")
@click.option("--by", type=click.Choice(["tag", "site", "turn"]), help="Only this table [for csv: tag].")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Rows a table shows.")
@click.option("--format", "form", type=click.Choice(FORMS), help="What to write [text]; the last three: stacks.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.profile/1), all rows.")
@click.option("--csv", "csv_", is_flag=True, help="CSV of one table, all rows.")
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), help="Write there [stdout].")
@click.option("--html", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="The page, as one file.")
@click.option("--include-content", is_flag=True, help="With --html: put in what was said, too. [left out]")
def command(
    paths: tuple[Path, ...],
    session: str | None,
    store: str | None,
    model: str | None,
    policy: str | None,
    by: str | None,
    top: int,
    form: str | None,
    json_: bool,
    csv_: bool,
    output: Path | None,
    html: Path | None,
    include_content: bool,
) -> None:
    """Say where the tokens of transcripts, or of a recorded session, went and what they cost.

    PATH is {"messages": [...]}, a list of messages, or JSON lines of either kind, also gzipped; - is stdin. The
    requests its agent would have sent are replayed; nothing is sent anywhere.

    Stacks are for flame graphs: session, tag, tool, site, with tokens in place of time. speedscope and pprof hold what
    was sent, what was received and what is resident, folded only the first.

    \b
    Examples:
      ctxgc profile transcript.jsonl
      ctxgc profile run.json --policy eden         what would have been sent
      ctxgc profile run.json --by site --top 30
      ctxgc profile *.jsonl --json | jq '.profiles[].total'
      ctxgc profile --session 3fa2 --html report.html
      ctxgc profile --session 3fa2 --format speedscope -o run.speedscope.json
      ctxgc profile --session 3fa2 --format pprof -o run.pb.gz && go tool pprof -top run.pb.gz
      ctxgc profile run.json --format folded | flamegraph.pl > run.svg

    \b
    Exit codes: 0 ok, 2 usage, 3 an unknown policy, 4 input that cannot be read or
    output that cannot be written.
    """
    _usable(paths, session, policy, model if html else None)
    wanted = Wanted(model, policy or "observe")
    if html is not None or include_content:
        _page(paths, session, store, wanted, _only_html(html, by, form or json_ or csv_ or output), include_content)
        return
    chosen = _form(form, json_, csv_)
    _readable(chosen, output)
    profiles = of_session(session, store, model) if session else of_transcripts(paths, wanted)
    if output is None or str(output) == "-":
        _print(profiles, by, top, chosen)
        return
    made = list(profiles)  # a file is only written once all has been read
    with written(output) as out, redirect_stdout(out):
        _print(iter(made), by, top, chosen)


def _usable(paths: tuple[Path, ...], session: str | None, policy: str | None, model: str | None) -> None:
    """Raises ``UsageError`` for options that do not go together."""
    if bool(paths) == bool(session):
        raise click.UsageError("give one or more PATHs, or --session ID")
    if session and policy:
        raise click.UsageError("--policy is for transcripts: a recorded session shows what was sent")
    if session and model:
        raise click.UsageError("--model is not for --html of a session: the page has the prices of its own models")


def _form(form: str | None, json_: bool, csv_: bool) -> str:
    asked = {name for name, given in ((form, form), ("json", json_), ("csv", csv_)) if given and name}
    if len(asked) > 1:
        raise click.UsageError("give one of --format, --json and --csv")
    return asked.pop() if asked else "text"


def _only_html(html: Path | None, by: str | None, other: object) -> Path:
    if html is None:
        raise click.UsageError("--include-content is for --html: other formats hold no content but sites")
    if by or other:
        raise click.UsageError("--html FILE says all of what is written, and where: leave out --by, --format and -o")
    return html


def _readable(form: str, output: Path | None) -> None:
    """Raises ``UsageError`` where bytes would go to a terminal."""
    if form == "pprof" and (output is None or str(output) == "-") and _terminal():
        raise click.UsageError("pprof is no text: give -o FILE, or pipe it on")


def _terminal() -> bool:
    return sys.stdout.isatty()


def _print(profiles: Iterator[Profiled], by: str | None, top: int, form: str) -> None:
    from ctxgc.cli import _profile_json
    from ctxgc.cli._profile_stacks import write_stacks

    if form == "json":
        as_json(_profile_json.document(list(profiles)))
    elif form == "csv":
        _profile_json.write_csv(list(profiles), by or "tag", sys.stdout)
    elif form != "text":
        write_stacks([one.profile for one in profiles], form)
    else:
        from ctxgc.cli._profile_text import show_profile

        for one in profiles:
            show_profile(one, by, top)


def _page(
    paths: tuple[Path, ...], session: str | None, url: str | None, wanted: Wanted, html: Path, content: bool
) -> None:
    """Write the profiler page as one file."""
    from ctxgc.config import load
    from ctxgc.store import open_store
    from ctxgc.web.report import write_report

    config = load().config
    pacer = config.pacer()
    if session:
        with opened(url) as store:
            key = find_session(store, session).key
            with written(html) as out:
                write_report(store, [key], out, content=content, pacer=pacer, ledger=config.ledger)
        return
    store = open_store("sqlite://")
    try:
        keys = replayed_into(store, paths, wanted)
        with written(html) as out:
            write_report(store, keys, out, content=content, pacer=pacer)
    finally:
        store.close()
