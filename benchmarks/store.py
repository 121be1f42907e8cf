"""How many bytes a history takes that is resent on every call: the store on disk, beside what went over the wire."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import click

from benchmarks.workload import body, history, turns
from ctxgc.assemble import make_kit
from ctxgc.core.journal import Settlement, Usage
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import open_store


def measure(calls: int, size: int, folder: Path) -> dict[str, float]:
    """Play a growing session and weigh what it left."""
    store = open_store(f"sqlite:///{folder / 'bench.db'}")
    session = Session(os.urandom(32), bytes(32), "benchmark", make_kit(store, preset("eden")))
    messages, wire, waits = history(4, size), 0, []
    for turn in islice(turns(size, seed=3), calls):
        text = body(messages)
        prepared = session.prepare(text)
        reply = json.dumps({"choices": [{"message": turn[0]}]}).encode()
        settled = Settlement(at=time.time(), call=prepared.call, outcome="ok", status=200, usage=Usage(uncached=1))
        started = time.perf_counter()
        session.settle(settled, reply).result()
        waits.append(time.perf_counter() - started)
        wire += len(text) + len(reply)
        messages += turn
    session.flush()
    findings = list(store.verify())
    assert not findings, findings[0]
    stored = store.size()
    store.close()
    on_disk = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "calls": calls,
        "wire_bytes": wire,
        "open_bytes": stored,
        "store_bytes": on_disk,
        "ratio": wire / on_disk,
        "open_ratio": wire / stored,
        "settle_ms_median": sorted(waits)[len(waits) // 2] * 1e3,
    }


@click.command()
@click.option("--calls", default=500, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(calls: int, as_json: bool) -> None:
    """How many bytes a history takes that is resent on every call."""
    rows = []
    for size in (500, 2_000, 8_000):
        with tempfile.TemporaryDirectory() as folder:
            rows.append({"result_chars": size, **measure(calls, size, Path(folder))})
    if as_json:
        json.dump({"schema": "ctxgc.bench.store/1", "results": rows}, sys.stdout, indent=2)
        return
    print(
        f"{'chars a result':>15}{'calls':>7}{'wire MB':>10}{'store MB':>10}{'1/n':>7}{'with its log, MB':>18}{'1/n':>7}{'on disk after, ms':>20}"
    )
    for row in rows:
        print(
            f"{row['result_chars']:>15}{row['calls']:>7}{row['wire_bytes'] / 1e6:>10.1f}{row['store_bytes'] / 1e6:>10.2f}"
            f"{row['ratio']:>7.0f}{row['open_bytes'] / 1e6:>18.2f}{row['open_ratio']:>7.0f}{row['settle_ms_median']:>20.2f}"
        )


if __name__ == "__main__":
    main()
