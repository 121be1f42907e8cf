"""What the books notice: random facts followed to their vouchers, and random bytes of a store changed."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import apsw
import click

from ctxgc.ledger import Ledger, Report, Source, json_path_equals, number_equals, open_ledger
from ctxgc.store import Finding, StoreError, open_store
from ctxgc.store.codec import unpack

SIZES = (20, 60, 400, 3_000)
"""Lines that vouchers have, in turn: kept as they are, or compressed."""
_COLUMNS = {"blob": "data", "entry": "body"}


@dataclass(frozen=True, slots=True)
class Tamper:
    """One byte of one stored value, changed; ``ref`` is the voucher's sha256 or the entry's position."""

    table: str
    ref: str

    def in_report(self, report: Report, ledger: Ledger) -> bool:
        """Whether a reconciliation names it."""
        if self.table == "entry":
            named = f"entry {self.ref} "
        else:
            vouchers = ledger.books.artifacts.values()
            named = next((f"voucher {one.id} " for one in vouchers if one.hash == f"sha256:{self.ref}"), "no voucher")
        return any(row.state in ("corrupt", "missing") and named in row.detail for row in report.rows)

    def in_findings(self, findings: list[Finding]) -> bool:
        """Whether verifying the store names it."""
        return any(
            found.kind == self.table and self.ref == (str(found.seq) if self.table == "entry" else found.ref)
            for found in findings
        )


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
    wrong = 0
    with open_ledger(open_store(url, read_only=True)) as ledger:
        periods = ledger.books.periods
        for _ in range(count):
            name = dice.choice(dice.choice(periods).balance)
            trace = ledger.trace(name)
            wrong += not (trace.agree and trace.period and all(_agrees(one, ledger) for one in trace.sources))
        ledger._log.store.close()
    return wrong


def _agrees(source: Source, ledger: Ledger) -> bool:
    """The same once more, from the bytes of the voucher alone."""
    content, evidence = ledger.vault.read(source.artifact.id), source.evidence
    part = sha256(content[evidence.first : evidence.last]).hexdigest()
    return f"sha256:{sha256(content).hexdigest()}" == source.artifact.hash and f"sha256:{part}" == evidence.slice


def campaign(path: Path, count: int, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Change one random byte in a copy, again and again: the table, and who names it (``both``, ``reconcile``,
    ``verify``, ``nobody``). ``void`` is a change of compressed bytes that leaves the content what it was."""
    copy, done = path.with_name("copy.db"), 0
    while done < count:
        shutil.copyfile(path, copy)
        tamper = change(copy, dice)
        if tamper is None:
            yield "", "void"
            continue
        done += 1
        yield tamper.table, _names(*look(copy, tamper))


def change(path: Path, dice: random.Random) -> Tamper | None:
    """Change a byte of a random voucher or entry, guards put back; None where that changes no content."""
    db = apsw.Connection(str(path))
    try:
        table = dice.choice(("blob", "entry"))
        row = dice.randint(1, db.execute(f"SELECT max(id) FROM {table}").get)
        column, ref = _COLUMNS[table], "lower(hex(hash))" if table == "blob" else "CAST(seq AS TEXT)"
        kept, encoding, named = db.execute(f"SELECT {column}, enc, {ref} FROM {table} WHERE id = ?", (row,)).get
        changed = bytearray(kept)
        changed[dice.randrange(len(changed))] ^= dice.randint(1, 255)
        if _content(encoding, bytes(changed)) == unpack(encoding, kept):
            return None
        guard = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (f"{table}_update",)).get
        db.execute(f"DROP TRIGGER {table}_update")
        db.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (bytes(changed), row))
        db.execute(guard)
        return Tamper(table, named)
    finally:
        db.close()


def look(path: Path, tamper: Tamper) -> tuple[bool, bool]:
    """Whether the next reconciliation names a tamper, and whether verifying the store does."""
    store = open_store(f"sqlite:///{path}", read_only=True)
    try:
        ledger = open_ledger(store)
        return tamper.in_report(ledger.reconcile(record=False), ledger), tamper.in_findings(list(store.verify()))
    finally:
        store.close()


def untouched(path: Path) -> int:
    """The control: what is found in a store that nobody has changed."""
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    store = open_store(f"sqlite:///{copy}", read_only=True)
    try:
        return len(open_ledger(store).reconcile(record=False).findings) + len(list(store.verify()))
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


def _names(reconcile: bool, verify: bool) -> str:
    return ("both" if verify else "reconcile") if reconcile else ("verify" if verify else "nobody")


def _content(encoding: int, kept: bytes) -> bytes | None:
    try:
        return unpack(encoding, kept)
    except StoreError:
        return None


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
