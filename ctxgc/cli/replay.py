"""``ctxgc replay``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._output import as_json, progress
from ctxgc.cli._replay_keys import KEYS

if TYPE_CHECKING:
    from ctxgc.lab.batch import Plan

PRICES = "3,9,11.5,24,none"
DEFAULT = "generational"
ORACLE = "oracle"


@click.command(epilog=KEYS)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--policy", metavar="NAMES", default=DEFAULT, show_default=True, help="A preset, or policies with commas."
)
@click.option("--compare", metavar="A,B+C,...", multiple=True, help="More to compare; + joins policies to one.")
@click.option("--prices", metavar="CLASSES", default=PRICES, show_default=True, help="Price classes, or models.")
@click.option("--min-tokens", type=click.IntRange(0), default=0, help="Only segments larger than this [0: all].")
@click.option(
    "--size",
    type=click.Choice(["calibrated", "counted", "reported"]),
    default="calibrated",
    show_default=True,
    help="What --min-tokens goes by: the largest request, or the input reported last.",
)
@click.option("--by", type=click.Choice(["tool", "use", "session"]), help="One more table.")
@click.option("--pareto", is_flag=True, help="Cost against survival, and which policies are dominated.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.replay/1); see below.")
@click.option("--keep-going", is_flag=True, help="Leave out files that cannot be read, and say so.")
@click.option("--jobs", type=click.IntRange(1), default=None, help="Processes [as many as there are cores].")
def command(
    paths: tuple[Path, ...],
    policy: str,
    compare: tuple[str, ...],
    prices: str,
    min_tokens: int,
    size: str,
    by: str | None,
    pareto: bool,
    json_: bool,
    keep_going: bool,
    jobs: int | None,
) -> None:
    """Replay recorded transcripts with policies, and say what each costs and what of use it leaves in sight.

    PATH is a transcript, or a folder of them. Each stretch between recorded compactions is a session of its own. Only
    input is compared: as a prefix cache bills it, relative to never collecting. A line of an earlier result that the
    agent uses again survives if it is still visible in the request.

    \b
    Price classes are named by w/r - 1, write and read relative to uncached:
      3: 0.25/1   9: 0.1/1   11.5: 0.1/1.25   24: 0.05/1.25   49: 0.025/1.25
      none: no cache   NAME: a model of the price table

    \b
    Examples:
      ctxgc replay runs/ --compare observe,lossless
      ctxgc replay runs/ --prices claude-sonnet-4-5 --by tool
      ctxgc replay runs/ --min-tokens 40000 --pareto --compare lossless,dedup+minify
      ctxgc replay runs/ --json | jq '.totals[] | {policy, class, cost_ratio, survival}'
    """
    from ctxgc.lab.batch import files, run_batch
    from ctxgc.lab.totals import totals

    plan = _plan(list(_names(policy, compare)), prices, min_tokens, size)
    with progress("replay") as tell:
        found = files(paths)
        batch = run_batch(found, plan, jobs or os.cpu_count() or 1, keep_going=keep_going, progress=tell)
    summed = totals(batch.compared)
    if json_:
        from ctxgc.cli._replay_json import document

        as_json(document(batch, plan, summed))
    else:
        from ctxgc.cli._replay_text import show_comparison

        show_comparison(batch, plan, summed, by, pareto)


def _names(policy: str, compare: Sequence[str]) -> Iterator[str]:
    """Each policy to compare, by the name that configuration would give it."""
    wanted = [policy, *(name for names in compare for name in names.split(","))]
    cleaned = (",".join(part.strip() for part in name.replace("+", ",").split(",")) for name in wanted)
    yield from dict.fromkeys(name for name in cleaned if name)


def _plan(names: Sequence[str], prices: str, min_tokens: int, size: str) -> Plan:
    """Raises ``ConfigError`` for what does not exist, before anything is replayed."""
    from ctxgc.assemble import prices as price_table
    from ctxgc.lab.batch import Plan
    from ctxgc.lab.classes import price_class

    for name in names:
        _known(name)
    price_of = price_table()
    wanted = dict.fromkeys(name.strip() for name in prices.split(",") if name.strip())
    if not wanted:
        raise click.UsageError("--prices names no class")
    return Plan(tuple(names), tuple(price_class(name, price_of) for name in wanted), min_tokens, size)


def _known(name: str) -> None:
    from ctxgc.errors import ConfigError
    from ctxgc.policies import PolicyError, from_config

    rest = ",".join(one for one in name.split(",") if one != ORACLE)
    try:
        if rest:
            from_config(rest)
    except PolicyError as error:
        raise ConfigError(str(error)) from None
