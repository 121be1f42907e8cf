"""``ctxgc gc-log``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, find_session, journal, opened, sessions, store_option
from ctxgc.cli._output import as_json, progress, say, shorten, when
from ctxgc.cli._turns import amount, many

if TYPE_CHECKING:
    from ctxgc.lab.collected import GcLog, Made, Note
    from ctxgc.lab.forecasts import Split
    from ctxgc.store import SessionRow, Store

_MODEL, _TEXT = 15, 110
Logs = list[tuple[bytes, "GcLog"]]


@click.command()
@click.argument("session", required=False)
@click.option("--all", "all_", is_flag=True, help="All sessions of the store, oldest first.")
@click.option("--eden", is_flag=True, help="Also list what was edited before it was ever sent.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.gc-log/1), with all of it.")
@store_option
def command(session: str | None, all_: bool, eden: bool, json_: bool, store: str | None) -> None:
    """List the collections and compactions of a session, one line each with its cost behind it: what, why, what it was
    predicted to cost, and what was billed. Milestones and refused summaries stand between them.

    SESSION is any unambiguous beginning of an id [the newest]. Turns are requests, counted from 1. Rent is what the
    garbage has cost since it was due, price what rewriting the cache costs once: in USD at list prices, else in prices
    of one input token. Predicted and billed are input tokens read from the cache and not.

    \b
    Examples:
      ctxgc gc-log
      ctxgc gc-log 3fa2 --eden
      ctxgc gc-log --all --json | jq '.sessions[].net'

    \b
    Exit codes: 0 ok, 2 usage, 4 no such session or store.
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
    yield f"session {key.hex()[:SHORT]}: {many(log.requests, 'request')}"
    hidden = [made for made in log.made if made.generation == "eden"]
    shown = [(made.turn, made.at, tuple(_made(made))) for made in log.made if eden or made.generation != "eden"]
    shown += [(note.turn, note.at, (_note(note),)) for note in log.notes]
    for *_, lines in sorted(shown, key=lambda one: one[:2]):  # by request, and within one as it happened
        yield from lines
    if hidden and not eden:
        cells, before, after = (sum(getattr(one, name) for one in hidden) for name in ("cells", "before", "after"))
        sums = f"{many(len(hidden), 'collection')}, {many(cells, 'cell')} {before:,}->{after:,} tokens"
        yield f"eden: {sums} (--eden lists them)"
    yield from _summaries(log)
    yield (
        f"total: {log.saved:,} tokens not sent, {log.rewritten:,} rewritten in the cache;"
        f" input cost {amount(log.paid, usd=log.usd)}, untouched {amount(log.untouched, usd=log.usd)},"
        f" net {'saved' if log.net >= 0 else 'lost'} {amount(abs(log.net), usd=log.usd)}"
    )


def _summaries(log: GcLog) -> Iterator[str]:
    asked = log.summaries
    if asked.taken or asked.refused:
        tokens = f"{asked.input:,} tokens in, {asked.output:,} out"
        yield f"summaries: {asked.taken:,} taken, {asked.refused:,} refused; {tokens}"


def _made(made: Made) -> Iterator[str]:
    """One collection, in the manner of the logs of virtual machines, and what it cost."""
    trigger = f" ({made.trigger})" if made.trigger else ""
    what = "compacted" if made.span else made.generation
    turns = f" turns {made.span.first}-{made.span.last}," if made.span else ""
    by = f" by {shorten(made.span.by, _MODEL)}" if made.span and made.span.by else ""
    tokens, record = ("", f", record {made.span.handle}{by}") if made.span else (" tokens", "")
    yield (
        f"[turn {made.turn} {when(made.at)}] {what}{trigger}{turns} {many(made.cells, 'cell')}"
        f" {made.before:,}->{made.after:,}{tokens}, context {made.context_before:,}->{made.context_after:,}{record}"
    )
    if made.predicted is not None:
        yield f"    {_costs(made)}; {_bill(made.predicted, made.billed)}"


def _note(note: Note) -> str:
    what = "summary refused" if note.kind == "summary" else note.kind
    return f"[turn {note.turn} {when(note.at)}] {what}: {shorten(note.text, _TEXT)}"


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
    return {
        "id": key.hex(),
        **totals,
        "collections": [_collection(made) for made in log.made],
        "notes": [{**asdict(note), "at": when(note.at)} for note in log.notes],
        "summaries": asdict(log.summaries),
    }


def _collection(made: Made) -> dict[str, object]:
    splits = {name: getattr(made, name) for name in ("predicted", "billed")}
    shown = {name: split and split._asdict() for name, split in splits.items()}
    return {**asdict(made), "at": when(made.at), **shown}
