"""Drift: what is left of constraints, facts and requests when a session was compacted again and again.

One session for each summariser, from none to those that answer badly in one way each, and two controls in which the
compaction itself is broken. Exits with 1 if anything was lost, or if a control lost nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import click

from benchmarks.drift_askers import WAYS
from benchmarks.drift_run import Result, drift
from ctxgc.core.block import Author, Kind
from ctxgc.core.record import Original
from ctxgc.session.compacting import Compacting
from ctxgc.session.drafts import Span

COLUMNS = (
    "compactions", "requests", "constraints", "lost", "facts", "unreachable", "posted", "unproven", "asked", "taken",
    "items", "claims", "untrue", "invalid", "bypassed", "waited", "unlisted", "largest",
)  # fmt: skip


_CUT, _READ = Compacting.span, Compacting.originals


def only_the_record(*given: Any, **more: Any) -> Span | None:
    """A span of which no more is kept than the user's newest message, without which nothing is sent at all."""
    found = _CUT(*given, **more)
    return found and replace(found, kept=found.kept[-1:], dropped=tuple(sorted((*found.dropped, *found.kept[:-1]))))


def from_the_record(
    compacting: Compacting, head: int, *given: Any, **more: Any
) -> Generator[None, None, list[Original]]:
    """Not the originals, but the record before, and what has come since."""
    state, found = compacting.state, (yield from _READ(compacting, head, *given, **more))
    made = state.node(head).compacted
    if made is None:
        return found
    text = compacting.kit.codec.decode(made.messages[-1]).blocks[0].text
    handle = next(handle for handle, cell in state.by_handle.items() if cell == made.cells[0])
    said = ("agent_reply", "agent", text, 1)
    shown = Original(made.cells[0], handle, Kind.TEXT, Author.AGENT, *said, pinned=False, node=made.upto)
    return [shown, *(one for one in found if state.nodes[one.node].depth > state.nodes[made.upto].depth)]


CONTROLS = {
    "control: keeps only the record": mock.patch.object(Compacting, "span", only_the_record),
    "control: from the last record": mock.patch.object(Compacting, "originals", from_the_record),
}
"""Compactions that are broken in one way each."""


def one(name: str, compactions: int, seed: int) -> tuple[Result, float]:
    """The session of that name, and the seconds it took."""
    began = time.perf_counter()
    with CONTROLS.get(name, nullcontext()):
        result = drift("good" if name in CONTROLS else name, compactions, seed)
    return replace(result, summariser=name), time.perf_counter() - began


def held(results: Sequence[Result]) -> bool:
    """Whether all held, and all controls were caught."""
    return all(one.ok != (one.summariser in CONTROLS) for one in results)


@click.command()
@click.option("--compactions", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--only", multiple=True, type=click.Choice([*WAYS, *CONTROLS]), help="Only these summarisers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(compactions: int, seed: int, jobs: int, only: tuple[str, ...], as_json: bool) -> None:
    """What is left after so many compactions?"""
    names, began = only or (*WAYS, *CONTROLS), time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        found = list(pool.map(partial(one, compactions=compactions, seed=seed), names))
    results = [result for result, _ in found]
    if as_json:
        rows = [{**result.figures(), "seconds": seconds} for result, seconds in found]
        json.dump({"schema": "ctxgc.bench.drift/1", "seed": seed, "held": held(results), "sessions": rows}, sys.stdout)
    else:
        _table(results)
        print(f"{time.perf_counter() - began:.0f} s, the longest session {max(seconds for _, seconds in found):.0f} s")
    sys.exit(not held(results))


def _table(results: Sequence[Result]) -> None:
    print(f"{'summariser':<31}" + "".join(f"{name:>{max(len(name) + 1, 7)}}" for name in COLUMNS))
    for result in results:
        values = (f"{getattr(result, name):>{max(len(name) + 1, 7)},}" for name in COLUMNS)
        print(f"{result.summariser:<31}{''.join(values)}")
        if result.faults and result.summariser not in CONTROLS:
            print("".join(f"    {fault}\n" for fault in result.faults[:5]), end="")


if __name__ == "__main__":
    main()
