"""``ctxgc audit``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, codec_of, find_log, find_session, journal, opened, store_option
from ctxgc.cli._ledgers import is_ledger, ledgers, title
from ctxgc.cli._output import as_json, say, when

if TYPE_CHECKING:
    from ctxgc.core.journal import AnyEntry
    from ctxgc.store import Store, Stored, Tip

    Line = tuple[Stored, AnyEntry, str]


@click.group()
def command() -> None:
    """Verify, show or export what was stored.

    \b
    Examples:
      ctxgc audit verify
      ctxgc audit show 3fa2 --call 7
      ctxgc audit show 3fa2 --body sent 7 > request.json
      ctxgc audit export ./bundle
    """


@command.command()
@store_option
@click.option("--held", metavar="TIP", help="A tip printed by an earlier verify: nothing up to it may have changed.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.audit.verify/1).")
def verify(store: str | None, held: str | None, json_: bool) -> None:
    """Hash everything again, fold every journal, rebuild every request to the byte, and hold every fact of a ledger
    against its voucher.

    Exit code 0: all agrees; 1: each thing that does not is named. The tip in the last line, kept elsewhere, later
    proves that nothing was cut off or rewritten before it: give it back with --held.
    """
    from ctxgc.cli._audited import audited, line, report, verdict

    tip = _held(held)
    with opened(store) as found:
        whole = audited(found, tip)
    if json_:
        as_json(report(whole))
    else:
        for finding in whole.findings:
            say(line(finding, whole.ledgers))
        say(verdict(whole))
    if whole.findings:
        click.get_current_context().exit(1)


def _held(text: str | None) -> Tip | None:
    from ctxgc.store import Tip

    if text is None:
        return None
    number, _, digest = text.partition(":")
    try:
        tip = Tip(int(number), bytes.fromhex(digest))
    except ValueError:
        tip = Tip(-1, b"")
    if tip.number < 0 or len(tip.digest) != 32:
        raise click.BadParameter("give NUMBER:HEX as `ctxgc audit verify` prints it", param_hint="--held")
    return tip


@command.command("show")
@click.argument("session")
@click.option("--call", type=click.IntRange(1), help="Only the entries of this request, counted from 1.")
@click.option("--seq", type=click.IntRange(0), help="Only this entry, in full.")
@click.option(
    "--body",
    type=(click.Choice(["received", "sent"]), click.IntRange(1)),
    metavar="received|sent CALL",
    help="Print the bytes of a request as it came or as it left, and nothing else.",
)
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.audit.show/1).")
@store_option
def show_(
    session: str, call: int | None, seq: int | None, body: tuple[str, int] | None, json_: bool, store: str | None
) -> None:
    """Show the journal of a session or ledger, an entry a line.

    SESSION is any unambiguous beginning of an id that `ctxgc sessions` lists, or the name of a ledger, such as main.
    """
    with opened(store) as found:
        if body is not None:
            _body(found, find_session(found, session).key, *body)
            return
        row = find_log(found, session)
        key, name = row.key, ledgers(found)[row.key] if is_ledger(found, row) else None
        lines = _entries(found, key, call, seq) if name is None else _bookings(found, key, name, call, seq)
    if json_:
        entries = [_entry(*line) for line in lines]
        as_json({"schema": "ctxgc.audit.show/1", "session": key.hex(), "ledger": name, "entries": entries})
    elif seq is not None:
        say(lines[0][2])
        click.echo(json.dumps(json.loads(lines[0][0].body), indent=2))
    else:
        _table(f"{title(name)}, {key.hex()}" if name else f"session {key.hex()}", lines)


def _entries(store: Store, key: bytes, call: int | None, seq: int | None) -> list[Line]:
    """The entries asked for, each with what it says. Raises ``InputError`` if there are none."""
    from ctxgc.cli._entries import describe
    from ctxgc.core.journal import Allocation
    from ctxgc.core.state import State
    from ctxgc.errors import InputError

    state = State()
    numbers: dict[bytes, int] = {}
    found: list[Line] = []
    for stored, entry in journal(store, key):
        state.apply(entry)
        if isinstance(entry, Allocation):
            numbers[entry.call] = len(numbers) + 1
        wanted = call is None or numbers.get(getattr(entry, "call", b"")) == call
        if wanted and seq in (None, stored.seq):
            found.append((stored, entry, describe(entry, state, numbers)))
    if not found:
        raise InputError(f"session {key.hex()[:SHORT]} has no such entry: it has {len(numbers)} requests")
    return found


def _bookings(store: Store, key: bytes, name: str, call: int | None, seq: int | None) -> list[Line]:
    """The entries of a ledger that are asked for, each with what it says and, if it does not count, why not."""
    from ctxgc.cli._entries import describe
    from ctxgc.cli._ledger_checks import taken
    from ctxgc.core.state import State
    from ctxgc.errors import InputError

    if call is not None:
        raise InputError(f"{title(name)} has entries and no requests: pick one with --seq")
    lines = list(taken(journal(store, key)))
    found = [
        (stored, entry, describe(entry, State(), {}) + (f" (REFUSED: {why})" if why else ""))
        for stored, entry, why in lines
        if seq in (None, stored.seq)
    ]
    if not found:
        raise InputError(f"{title(name)} has no such entry: it has {len(lines)}")
    return found


def _entry(stored: Stored, entry: AnyEntry, what: str) -> dict[str, object]:
    document = json.loads(stored.body)
    return {"seq": stored.seq, "at": when(entry.at), "kind": stored.kind, "what": what, "entry": document}


def _table(heading: str, lines: list[Line]) -> None:
    say(heading)
    width = max(10, *(len(stored.kind) for stored, _, _ in lines))
    for stored, entry, what in lines:
        say(f"{stored.seq:>5}  {when(entry.at)}  {stored.kind:<{width}}  {what}")


def _body(store: Store, key: bytes, which: str, call: int) -> None:
    """Print a rebuilt body, as it was when it left, if its hash is the one that was booked."""
    from ctxgc.core.journal import Allocation
    from ctxgc.core.state import State
    from ctxgc.errors import InputError
    from ctxgc.session.originals import received, sent

    state, wanted = State(), None
    for _, entry in journal(store, key):
        if isinstance(entry, Allocation):
            if wanted is not None:
                break
            wanted = entry if state.calls + 1 == call else None
        state.apply(entry)
    if wanted is None or state.opened is None:
        raise InputError(f"session {key.hex()[:SHORT]} has no request {call}: it has {state.calls}")
    codec = codec_of(state.opened.codec)
    text = received(state, store, codec, wanted) if which == "received" else sent(state, store, codec, wanted)
    _proved(text, wanted.received if which == "received" else wanted.sent)
    with click.open_file("-", "wb") as out:
        out.write(text)


def _proved(text: bytes, digest: bytes) -> None:
    import hashlib

    from ctxgc.store import StoreCorrupt

    if hashlib.sha256(text).digest() != digest:
        raise StoreCorrupt("the request does not rebuild to the bytes that were booked: run `ctxgc audit verify`")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@store_option
def export(folder: Path, store: str | None) -> None:
    """Write everything into a new FOLDER that anyone can verify with one file of standard Python."""
    from ctxgc.store.export import export_bundle

    with opened(store) as found:
        export_bundle(found, folder)
    say(f"wrote {folder}; to verify it, where ctxgc is not installed with a copy of that one module:")
    say(f"  python -m ctxgc.store.verify_bundle {folder}")
