"""What deciding a request costs, beside the floor of reading its body, for histories of several lengths.

The floor is what any proxy must do that looks at messages one by one: split the body with msgspec.Raw, take the sha256 of
every message, join them. ``prepare`` is what happens before a request leaves; ``admit`` is booked while the upstream thinks.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from dataclasses import replace
from itertools import islice

import click
import msgspec

from benchmarks.workload import body, history, spread, turns
from ctxgc.assemble import make_kit
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import open_store
from ctxgc.tokens import counter_for

CASES = (
    ("40 messages", 40, 1_000),
    ("4,000 messages", 4_000, 350),
    ("200,000 tokens", 438, 2_530),
    ("300,000 tokens", 2_600, 560),
    ("550,000 tokens", 1_080, 2_900),
)


class _Body(msgspec.Struct):
    messages: list[msgspec.Raw]


def floor(text: bytes) -> None:
    raws = msgspec.json.decode(text, type=_Body).messages
    for raw in raws:
        hashlib.sha256(raw).digest()
    b",".join(raws)


def measure(count: int, size: int, rounds: int, policy: str) -> dict[str, object]:
    """One history, grown by a turn at a time, and at last collected: the cache has gone cold, so all that is dead goes."""
    kit = make_kit(open_store("sqlite://"), preset(policy))
    clock = [kit.clock()]
    kit = replace(kit, clock=lambda: clock[0], pacer=replace(kit.pacer, high=1.0))
    session = Session(os.urandom(32), bytes(32), "benchmark", kit)
    messages = history(count, size)
    prepares, admits, floors, rewrites = [], [], [], 0
    for number, turn in enumerate(islice(turns(size, seed=11), rounds + 3)):
        text = body(messages)
        started = time.perf_counter()
        prepared = session.prepare(text)
        decided = time.perf_counter()
        session.admit()
        booked = time.perf_counter()
        floor(text)
        ended = time.perf_counter()
        assert not prepared.bypass, prepared.bypass
        rewrites += bool(session.state.pace.trigger)
        if number == 0:
            cold = (decided - started) * 1e3, (booked - decided) * 1e3
        elif number > 2:
            prepares.append(decided - started)
            admits.append(booked - decided)
            floors.append(ended - booked)
        messages += turn
    clock[0] += 3600
    started = time.perf_counter()
    session.prepare(body(messages))
    collected = time.perf_counter() - started
    session.admit()
    ratio = spread(prepares)["median"] / spread(floors)["median"]
    return {
        "messages": count,
        "bytes": len(text),
        "tokens": session.state.tokens(len(session.state.nodes) - 1, 0, sent=True),
        "prepare_ms": spread(prepares, 1e3),
        "floor_ms": spread(floors, 1e3),
        "admit_ms": spread(admits, 1e3),
        "prepare_over_floor": ratio,
        "cold_prepare_ms": cold[0],
        "cold_admit_ms": cold[1],
        "cells": len(session.state.cells),
        "rewrites": rewrites,
        "collection_ms": collected * 1e3,
        "collected_cells": len(session.state.evacuated),
    }


@click.command()
@click.option("--rounds", default=60, show_default=True, help="Turns measured per history.")
@click.option("--policy", default="generational", show_default=True, help="The preset in force.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(rounds: int, policy: str, as_json: bool) -> None:
    """What deciding a request costs, beside the floor of reading its body."""
    counter_for("gpt-5").count("warm the tokenizer")
    results = {name: measure(count, size, rounds, policy) for name, count, size in CASES}
    if as_json:
        json.dump({"schema": "ctxgc.bench.prepare/1", "results": results}, sys.stdout, indent=2)
        return
    print(
        f"{'history':<16}{'MB':>7}{'prepare ms (p10-p90)':>26}{'floor ms':>10}{'ratio':>7}{'admit ms':>10}{'first ms':>10}{'major ms':>10}{'cells':>7}"
    )
    for name, row in results.items():
        prepare = row["prepare_ms"]
        shown = f"{prepare['median']:.2f} ({prepare['p10']:.2f}-{prepare['p90']:.2f})"  # type: ignore[index]
        print(
            f"{name:<16}{row['bytes'] / 1e6:>7.2f}{shown:>26}{row['floor_ms']['median']:>10.2f}"  # type: ignore[index,operator]
            f"{row['prepare_over_floor']:>7.2f}{row['admit_ms']['median']:>10.2f}{row['cold_prepare_ms']:>10.1f}"  # type: ignore[index]
            f"{row['collection_ms']:>10.1f}{row['collected_cells']:>7}"
        )


if __name__ == "__main__":
    main()
