"""The Pareto curve: what presets, baselines and steps of the default's parameters cost, and what of use they leave in sight.

``python -m benchmarks.pareto PATH...`` replays transcripts, or folders of them, as ``ctxgc replay`` does, with everything in
``GRID``. Costs are of input, relative to never collecting: of the sum of all sessions, in the median one, in the worst.
Survival is the share of lines used again that were still visible; ``named`` also counts those whose names were. A policy is
dominated where another is no dearer, loses no more and is better in one of the two. The oracle knows the recorded future:
it is the mark to aim at, and dominates nobody.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from ctxgc.assemble import prices as price_table
from ctxgc.errors import CtxgcError
from ctxgc.lab.batch import Batch, Plan, files, run_batch
from ctxgc.lab.classes import PriceClass, price_class
from ctxgc.lab.comparison import ORACLE
from ctxgc.lab.totals import Totals, dominated, totals
from ctxgc.policies.generational import Generational

PRESETS = ("observe", "lossless", "eden", "generational", "aggressive")
BASELINES = (
    "window",
    "keep_last_n",
    "clear_tool_uses",
    "refcount@eager=true@keep=0.0",
    "refcount@idle=6@keep=0.0",
    "refcount@idle=12@keep=0.0",
    "refcount@idle=20@keep=0.0",
    "recency",
    ORACLE,
)
DIGITS = 6
"""Of every ratio, before it is compared: a difference that is not printed in the JSON dominates nothing."""
STEPPED = ("idle", "idle_referenced", "old_idle", "density", "keep")
"""The parameters of the default preset that are varied, one at a time."""


def steps(default: float) -> tuple[float, float]:
    """Half and twice a parameter's default; of whole numbers the half is rounded down, to 1 at least."""
    if isinstance(default, int):
        return max(1, default // 2), default * 2
    return round(default / 2, DIGITS), round(default * 2, DIGITS)


def _varied() -> Iterator[str]:
    usual = Generational()
    return (f"generational@generational.{key}={at:g}" for key in STEPPED for at in steps(getattr(usual, key)))


GRID = (*PRESETS, *BASELINES, *_varied())


@dataclass(frozen=True, slots=True)
class Point:
    """One policy at one class. ``named`` is None where nothing was needed."""

    policy: str
    cost: float
    median: float
    worst: float
    survival: float
    named: float | None
    rewrites: float
    dominated: bool = False


def curve(found: Sequence[Totals]) -> list[Point]:
    """The points of one class, the cheapest first."""
    ordered = sorted(found, key=lambda one: (round(one.cost, DIGITS), -one.survival.survived))
    places = {one.policy: (round(one.cost, DIGITS), round(one.survival.survived, DIGITS)) for one in ordered}
    attainable = {policy: at for policy, at in places.items() if policy != ORACLE}
    beaten = dict(zip(attainable, dominated(list(attainable.values())), strict=True))
    return [_point(one, beaten.get(one.policy, False)) for one in ordered]


def _point(one: Totals, beaten: bool) -> Point:
    survival = one.survival
    return Point(
        policy=one.policy,
        cost=round(one.cost, DIGITS),
        median=round(one.costs.median, DIGITS),
        worst=round(one.costs.worst, DIGITS),
        survival=round(survival.survived, DIGITS),
        named=round(survival.named / survival.needed, DIGITS) if survival.needed else None,
        rewrites=round(one.rewrites, DIGITS),
        dominated=beaten,
    )


def curves(batch: Batch, classes: Sequence[PriceClass]) -> Mapping[PriceClass, list[Point]]:
    """The curve of each class."""
    summed = totals(batch.compared)
    return {at: curve([one for one in summed if one.price_class == at.name]) for at in classes}


def figures(batch: Batch) -> dict[str, int]:
    """What was measured on: sessions, their turns, lines used again; and what went wrong, in requests of all replays."""
    runs = [run for one in batch.compared for run in one.runs]
    return {
        "sessions": len(batch.compared),
        "turns": sum(one.never.turns for one in batch.compared),
        "needed": sum(one.runs[0].judged.survival.needed for one in batch.compared),
        "invalid": sum(len(run.judged.invalid) for run in runs),
        "bypasses": sum(run.bypasses for run in runs),
    }


def document(batch: Batch, found: Mapping[PriceClass, list[Point]]) -> dict[str, object]:
    """The one document of a run."""
    return {
        "schema": "ctxgc.bench.pareto/1",
        **figures(batch),
        "classes": [asdict(at) for at in found],
        "points": [{"class": at.name, **asdict(point)} for at, points in found.items() for point in points],
    }


def show(batch: Batch, found: Mapping[PriceClass, list[Point]]) -> None:
    """Print a table for each class."""
    print(
        "{sessions:,} sessions, {turns:,} turns, {needed:,} lines used again; "
        "{invalid:,} requests sent invalid, {bypasses:,} bypassed".format(**figures(batch))
    )
    for at, points in found.items():
        print(f"\nprice class {at.name} (read {at.read:g}, write {at.write:g})")
        print(f"{'policy':<46}{'total':>7}{'median':>8}{'worst':>8}{'survival':>10}{'named':>8}{'rewrites':>10}")
        for point in points:
            print(line(point))


def line(point: Point) -> str:
    """A row of the table."""
    named = "-" if point.named is None else f"{point.named:.1%}"
    mark = "dominated" if point.dominated else "knows the future" if point.policy == ORACLE else ""
    return (
        f"{point.policy:<46}{point.cost:>7.3f}{point.median:>8.3f}{point.worst:>8.3f}"
        f"{point.survival:>10.1%}{named:>8}{point.rewrites:>10.1%}  {mark}"
    ).rstrip()


def measure(paths: Sequence[Path], plan: Plan, jobs: int) -> Batch:
    """Everything in paths under a plan, with a bar on stderr. Raises ``InputError`` for what cannot be read."""
    found = files(paths)
    with click.progressbar(length=len(set(found)), file=sys.stderr, label="replaying") as bar:
        return run_batch(found, plan, jobs, progress=lambda done, _total: bar.update(done - bar.pos))


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--prices", default="11.5", show_default=True, help="Price classes or models, with commas.")
@click.option(
    "--min-tokens",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Only sessions with a request larger than this.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes; a file is the unit of work."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(paths: tuple[Path, ...], prices: str, min_tokens: int, jobs: int, as_json: bool) -> None:
    """What policies cost, against what of use they leave in sight."""
    price_of = price_table()
    try:
        classes = tuple(dict.fromkeys(price_class(name.strip(), price_of) for name in prices.split(",")))
        batch = measure(paths, Plan(GRID, classes, min_tokens), jobs)
    except CtxgcError as error:
        raise click.ClickException(str(error)) from None
    found = curves(batch, classes)
    if as_json:
        json.dump(document(batch, found), sys.stdout, indent=2)
    else:
        show(batch, found)


if __name__ == "__main__":
    main()
