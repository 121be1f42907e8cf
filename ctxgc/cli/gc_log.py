"""``ctxgc gc-log``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, find_session, journal, opened, sessions, store_option
from ctxgc.cli._output import as_json, progress, say, when
from ctxgc.cli._turns import amount

if TYPE_CHECKING:
    from ctxgc.lab.forecasts import Split
    from ctxgc.lab.gc_log import GcLog, Made
    from ctxgc.store import SessionRow, Store

Logs = list[tuple[bytes, "GcLog"]]


@click.command()
@click.argument("session", required=False)
@click.option("--all", "all_", is_flag=True, help="All sessions of the store, oldest first.")
@click.option("--eden", is_flag=True, help="Also list what was edited before it was ever sent.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.gc-log/1), with all of it.")
@store_option
def command(session: str | None, all_: bool, eden: bool, json_: bool, store: str | None) -> None:
    """List the collections of a session, one line each: what, why, what it was predicted to cost, and what was billed.

    SESSION is any unambiguous beginning of an id [the newest]. Turns are requests, counted from 1. Rent is what the
    garbage has cost since it was due, price what rewriting the cache costs once: in USD at list prices, else in prices
    of one input token. Predicted and billed are input tokens read from the cache and not.

    \b
    Examples:
      ctxgc gc-log
      ctxgc gc-log 3fa2 --eden
      ctxgc gc-log --all --json | jq '.sessions[].net'
    """
    if session and all_:
        raise click.UsageError("give SESSION or --all, not both")
    with opened(store) as found:
        logs = _read(found, _rows(found, session, all_))
    if json_:
        as_json({"schema": "ctxgc.gc-log/1", "sessions": [_document(key, log) for key, log in logs]})
        return
    if not logs:
        say("no sessions yet")
    for key, log in logs:
        for line in _lines(key, log, eden):
            say(line)


def _rows(store: Store, session: str | None, all_: bool) -> Sequence[SessionRow]:
    if session:
        return [find_session(store, session)]
    rows = sessions(store)
    return rows if all_ else rows[-1:]


def _read(store: Store, rows: Sequence[SessionRow]) -> Logs:
    from ctxgc.assemble import prices
    from ctxgc.lab.gc_log import gc_log
    from ctxgc.tokens.tariffs import tariffs

    price_of, logs = prices(), Logs()
    tariff_of = tariffs(price_of)
    with progress("reading sessions") as tell:
        for number, row in enumerate(rows, 1):
            entries = (entry for _, entry in journal(store, row.key))
            logs.append((row.key, gc_log(entries, price_of, lambda model: tariff_of(model).least)))
            tell(number, len(rows))
    return logs


def _lines(key: bytes, log: GcLog, eden: bool) -> Iterator[str]:
    yield f"session {key.hex()[:SHORT]}: {log.requests:,} requests"
    hidden = [made for made in log.made if made.generation == "eden"]
    yield from (_line(made) for made in log.made if eden or made.generation != "eden")
    if hidden and not eden:
        cells, before, after = (sum(getattr(one, name) for one in hidden) for name in ("cells", "before", "after"))
        yield f"eden: {len(hidden):,} collections, {cells:,} cells {before:,}->{after:,} tokens (--eden lists them)"
    yield (
        f"total: {log.saved:,} tokens not sent, {log.rewritten:,} rewritten in the cache;"
        f" input cost {amount(log.paid, usd=log.usd)}, untouched {amount(log.untouched, usd=log.usd)},"
        f" net {'saved' if log.net >= 0 else 'lost'} {amount(abs(log.net), usd=log.usd)}"
    )


def _line(made: Made) -> str:
    """One collection, in the manner of the logs of virtual machines."""
    trigger = f" ({made.trigger})" if made.trigger else ""
    line = (
        f"[turn {made.turn} {when(made.at)}] {made.generation}{trigger} {made.cells:,} cells"
        f" {made.before:,}->{made.after:,} tokens, context {made.context_before:,}->{made.context_after:,}"
    )
    return line if made.predicted is None else f"{line}, {_costs(made)}; {_bill(made.predicted, made.billed)}"


def _costs(made: Made) -> str:
    rent, price, saving = (amount(value, usd=made.usd) for value in (made.rent, made.price, made.saving))
    return f"rewrote {made.rewritten:,}, rent {rent}, price {price}, saves {saving} a turn"


def _bill(predicted: Split, billed: Split | None) -> str:
    if billed is None:
        return f"predicted: cached {predicted.read:,} written {predicted.written:,} (no bill)"
    said = f"predicted {predicted.read:,}/{predicted.written:,}"
    return f"billed: cached {billed.read:,} written {billed.written:,} ({said})"


def _document(key: bytes, log: GcLog) -> dict[str, object]:
    totals = {
        name: getattr(log, name) for name in ("requests", "saved", "rewritten", "paid", "untouched", "net", "usd")
    }
    return {"id": key.hex(), **totals, "collections": [_collection(made) for made in log.made]}


def _collection(made: Made) -> dict[str, object]:
    splits = {name: getattr(made, name) for name in ("predicted", "billed")}
    shown = {name: split and split._asdict() for name, split in splits.items()}
    return {**asdict(made), "at": when(made.at), **shown}
