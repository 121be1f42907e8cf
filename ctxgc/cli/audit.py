"""``ctxgc audit``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, codec_of, find_session, journal, opened, store_option
from ctxgc.cli._output import as_json, progress, say, when

if TYPE_CHECKING:
    from ctxgc.core.journal import AnyEntry
    from ctxgc.store import Finding, Store, Stored, Tip


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
    """Hash everything again, fold every journal, and rebuild every request to the byte.

    Exit code 0: all agrees; 1: each thing that does not is named. The tip in the last line, kept elsewhere, later
    proves that nothing was cut off or rewritten before it: give it back with --held.
    """
    tip = _held(held)
    with opened(store) as found:
        findings, sessions = _verify(found, tip)
        now = found.tip()
    if json_:
        as_json(_report(findings, sessions, now))
    else:
        for finding in findings:
            say(_line(finding))
        verdict = f"{len(findings)} findings" if findings else "ok: everything agrees, every request rebuilds"
        say(f"{verdict}; {sessions} sessions; tip {_tip(now)}")
    if findings:
        click.get_current_context().exit(1)


def _verify(store: Store, held: Tip | None) -> tuple[list[Finding], int]:
    """All findings, and how many sessions were looked at."""
    from ctxgc.cli._checks import check_session

    with progress("hashing") as tell:
        findings = list(store.verify(tell, held=held))
    rows = store.sessions()
    with progress("rebuilding") as tell:
        for number, row in enumerate(rows, 1):
            findings += check_session(store, row.key)
            tell(number, len(rows))
    return findings, len(rows)


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


def _tip(tip: Tip) -> str:
    return f"{tip.number}:{tip.digest.hex()}"


def _line(finding: Finding) -> str:
    where = [f"session {finding.session[:SHORT]}"] if finding.session else []
    where += [f"entry {finding.seq}"] if finding.seq is not None else []
    where += [finding.ref] if finding.ref and not finding.session else []
    return f"{finding.kind}: {', '.join(where)}{': ' if where else ''}{finding.detail}"


def _report(findings: list[Finding], sessions: int, tip: Tip) -> dict[str, object]:
    keys = ("kind", "session", "seq", "ref", "detail")
    return {
        "schema": "ctxgc.audit.verify/1",
        "ok": not findings,
        "sessions": sessions,
        "tip": _tip(tip),
        "findings": [{key: getattr(finding, key) for key in keys} for finding in findings],
    }


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
    """Show the journal of a session, an entry a line.

    SESSION is any unambiguous beginning of an id that `ctxgc sessions` lists.
    """
    with opened(store) as found:
        key = find_session(found, session).key
        if body is not None:
            _body(found, key, *body)
            return
        lines = _entries(found, key, call, seq)
    if json_:
        as_json({"schema": "ctxgc.audit.show/1", "session": key.hex(), "entries": [_entry(*line) for line in lines]})
    elif seq is not None:
        say(lines[0][2])
        click.echo(json.dumps(json.loads(lines[0][0].body), indent=2))
    else:
        _table(key, lines)


def _entries(store: Store, key: bytes, call: int | None, seq: int | None) -> list[tuple[Stored, AnyEntry, str]]:
    """The entries asked for, each with what it says. Raises ``InputError`` if there are none."""
    from ctxgc.cli._entries import describe
    from ctxgc.core.journal import Allocation
    from ctxgc.core.state import State
    from ctxgc.errors import InputError

    state = State()
    numbers: dict[bytes, int] = {}
    found: list[tuple[Stored, AnyEntry, str]] = []
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


def _entry(stored: Stored, entry: AnyEntry, what: str) -> dict[str, object]:
    document = json.loads(stored.body)
    return {"seq": stored.seq, "at": when(entry.at), "kind": stored.kind, "what": what, "entry": document}


def _table(key: bytes, lines: list[tuple[Stored, AnyEntry, str]]) -> None:
    say(f"session {key.hex()}")
    for stored, entry, what in lines:
        say(f"{stored.seq:>5}  {when(entry.at)}  {stored.kind:<10}  {what}")


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
    from ctxgc.store import verify_bundle
    from ctxgc.store.export import export_bundle

    with opened(store) as found:
        export_bundle(found, folder)
    say(f"wrote {folder}; to verify it without ctxgc installed:")
    say(f"  python {verify_bundle.__file__} {folder}")
