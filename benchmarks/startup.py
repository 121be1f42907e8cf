"""How long the command line and the import take, beside an empty interpreter, and whether they load what they must not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import click

from benchmarks.workload import spread

HEAVY = ("litellm", "opentelemetry", "starlette", "pydantic", "tiktoken", "rich")
CASES = {
    "python -c pass": "pass",
    "import ctxgc": "import ctxgc",
    "ctxgc --help": "import sys; sys.argv = ['ctxgc', '--help']; from ctxgc.cli import main; main()",
}


def once(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env={**os.environ})
    return time.perf_counter() - started


def loaded(code: str) -> list[str]:
    """Which of the heavy packages a command loads."""
    probe = f"import atexit, sys; atexit.register(lambda: print(*sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)); {code}"
    done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    return done.stderr.split()


@click.command()
@click.option("--rounds", default=15, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(rounds: int, as_json: bool) -> None:
    """How long `ctxgc --help` and `import ctxgc` take."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(rounds):
        for name, code in CASES.items():
            times[name].append(once(code))
    results = {name: {"seconds": spread(times[name]), "loads": loaded(code)} for name, code in CASES.items()}
    if as_json:
        json.dump({"schema": "ctxgc.bench.startup/1", "results": results}, sys.stdout, indent=2)
        return
    for name, row in results.items():
        seconds = row["seconds"]
        print(
            f"{name:<16}{seconds['median']:.3f} s ({seconds['p10']:.3f}-{seconds['p90']:.3f})  loads: {row['loads'] or 'nothing heavy'}"
        )  # type: ignore[index,call-overload]


if __name__ == "__main__":
    main()
