"""Hostile policies over generated histories: how many requests were invalid, unreadable or could not be followed back.

``python -m benchmarks.validity --histories 20000`` runs the property of ``tests/session/test_hostile.py`` at length, and
prints what was seen; the number of faults must be 0. Each history has a seed, which reproduces it alone (``--only``).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from random import Random

import click

from tests.session.histories import story
from tests.session.hostile import Counted, compacting, equipped, hostile, settings, tell
from tests.session.scripts import memory

PIECE = 50
FIGURES = ("histories", "requests", "edits", "residents", "refused", "bypassed", "compacted")
LONG = 24
"""Turns of histories that are to be compacted."""


def one(seed: str) -> Counted:
    """One history under one set of hostile policies, every third of them compacted; every eighth also with a restart
    before each request.

    Those have no branches: what one branch refers to counts in the plans of another only when they are made anew.
    """
    chance = Random(seed)
    restarts, compacts = chance.randrange(8) == 0, chance.randrange(3) == 0
    policies, (tariff, pacer) = (compacting if compacts else hostile)(chance), settings(chance)
    turns, milestones = LONG if compacts else 12, compacts and not restarts
    told = story(chance, turns, branches=not restarts, milestones=milestones)
    try:
        with memory() as store:
            counted, sent = tell(told, *equipped(store, policies, tariff, pacer))
        if restarts:
            steps = [step for step in told if step]
            with memory() as store:
                _, again = tell(steps, *equipped(store, policies, tariff, pacer), forgetful=True)
            counted.faults += ["a restart changed what was sent"] * (sent != again)
    except Exception as error:
        counted = Counted(faults=[f"{type(error).__name__}: {error}"])
    counted.faults = [f"{seed}: {fault}" for fault in counted.faults]
    return counted


def piece(seed: int, start: int, end: int) -> Counted:
    total = Counted()
    for number in range(start, end):
        total.add(one(f"{seed}/{number}"))
    return total


def pieces(seed: int, start: int, histories: int, jobs: int) -> Iterator[Counted]:
    ranges = [(at, min(at + PIECE, start + histories)) for at in range(start, start + histories, PIECE)]
    if jobs == 1:
        yield from (piece(seed, *each) for each in ranges)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(piece, [seed] * len(ranges), *zip(*ranges, strict=True))


@click.command()
@click.option("--histories", default=1000, show_default=True)
@click.option("--start", default=0, show_default=True, help="Number of the first history, to run a campaign in pieces.")
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option("--only", default="", help="One history by its seed, such as 1/42.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(histories: int, start: int, seed: int, jobs: int, only: str, as_json: bool) -> None:
    """What hostile policies come to."""
    total, began = Counted(), time.perf_counter()
    for found in [one(only)] if only else pieces(seed, start, histories, jobs):
        total.add(found)
    figures = {name: getattr(total, name) for name in FIGURES}
    seconds = time.perf_counter() - began
    if as_json:
        json.dump(
            {"schema": "ctxgc.bench.validity/1", **figures, "faults": total.faults, "seconds": seconds}, sys.stdout
        )
    else:
        print(f"{total.histories:,} histories, {total.requests:,} requests, {seconds:.0f} s")
        print(f"{total.edits:,} edits, {total.residents:,} of them of residents; {total.compacted:,} compactions")
        print(f"{total.refused:,} requests whose edits the last check refused, {total.bypassed:,} bypassed in all")
        print(f"{len(total.faults):,} faults" + "".join(f"\n  {fault}" for fault in total.faults[:40]))
    sys.exit(bool(total.faults))


if __name__ == "__main__":
    main()
