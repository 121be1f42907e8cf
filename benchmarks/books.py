"""What the books notice: random facts followed to their vouchers, and random bytes of a store changed."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from ctxgc.examples import auditing
from ctxgc.examples.tampering import Tamper as Tamper
from ctxgc.examples.tampering import campaign, untouched
from ctxgc.examples.tampering import change as change
from ctxgc.examples.tampering import look as look
from ctxgc.ledger import json_path_equals, number_equals, open_ledger
from ctxgc.store import open_store

SIZES = (20, 60, 400, 3_000)
"""Lines that vouchers have, in turn: kept as they are, or compressed."""


def build(url: str, vouchers: int, dice: random.Random) -> None:
    """A ledger with so many vouchers, a fact on each, some of them overturned, and a close now and then."""
    with open_ledger(url) as ledger:
        for number in range(vouchers):
            value = dice.randrange(10**6)
            filler = "".join(f"line {line} {dice.random()}\n" for line in range(SIZES[number % 4] // 20))
            text = json.dumps({"name": f"result {number}", "value": value}) if number % 5 == 0 else f"value={value}\n"
            kept = ledger.vault.store(
                ref=f"query {number}", content=text if number % 5 == 0 else text + filler, kind="query"
            )
            check = json_path_equals("value", value) if number % 5 == 0 else number_equals(value, near="value=")
            old = f"F{number - 2}" if number % 10 == 9 else ""
            critical = "critical" if number % 3 == 0 else "normal"
            ledger.post(f"The value of {number} is {value}", [ledger.verify(kept, check)], critical, supersedes=old)
            if number % 25 == 24:
                ledger.close(f"part {number // 25}")


def picks(url: str, count: int, dice: random.Random) -> int:
    """How many of so many random facts of random balances do not agree with the bytes that they rest on."""
    store = open_store(url, read_only=True)
    try:
        return auditing.disagreeing(open_ledger(store), count, dice)
    finally:
        store.close()


def measure(vouchers: int, tampers: int, count: int, seed: int, *, progress: bool = False) -> dict[str, object]:
    """The whole campaign in a folder of its own."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "books.db"
        url = f"sqlite:///{path}"
        build(url, vouchers, dice)
        disagreeing, control = picks(url, count, dice), untouched(path)
        named: dict[str, Counter[str]] = {"blob": Counter(), "entry": Counter(), "": Counter()}
        for number, (table, by) in enumerate(campaign(path, tampers, dice)):
            named[table][by] += 1
            if progress and number % 50 == 0:
                print(f"\r{number} of {tampers} tampers", end="", file=sys.stderr, flush=True)
    if progress:
        print(f"\r{tampers} tampers done      ", file=sys.stderr)
    return {
        "schema": "ctxgc.bench.books/1",
        "seed": seed,
        "vouchers": vouchers,
        "picks": count,
        "disagreeing": disagreeing,
        "control": control,
        "tampers": tampers,
        "void": named[""]["void"],
        "named": {table: dict(sorted(named[table].items())) for table in ("blob", "entry")},
        "missed": named["blob"]["nobody"] + named["entry"]["nobody"],
    }


@click.command()
@click.option("--vouchers", default=200, show_default=True)
@click.option("--tampers", default=1000, show_default=True)
@click.option("--picks", default=1000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(vouchers: int, tampers: int, picks: int, seed: int, as_json: bool) -> None:
    """Do facts agree with their vouchers, and is every changed byte named?"""
    found = measure(vouchers, tampers, picks, seed, progress=True)
    if as_json:
        json.dump(found, sys.stdout, indent=2)
    else:
        print(f"{picks} facts of balances followed to their vouchers: {found['disagreeing']} disagree")
        print(f"untouched: {found['control']} findings")
        print(f"{tampers} bytes changed: {found['missed']} missed ({found['void']} more changed no content)")
        print(f"{'':>8}{'reconcile':>11}{'verify':>8}{'both':>8}{'nobody':>8}")
        for table, by in found["named"].items():  # type: ignore[attr-defined]
            row = "".join(
                f"{by.get(key, 0):>{size}}"
                for key, size in (("reconcile", 11), ("verify", 8), ("both", 8), ("nobody", 8))
            )
            print(f"{table:>8}{row}")
    if found["missed"] or found["disagreeing"] or found["control"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
