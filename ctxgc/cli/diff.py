"""``ctxgc diff``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, opened, store_option
from ctxgc.cli._output import as_json, say, shorten
from ctxgc.cli._turns import SETTINGS, codec_for, find_moment, many, turn_argument

if TYPE_CHECKING:
    from ctxgc.lab.differences import Change, Difference, Line
    from ctxgc.lab.moments import Moment

_ENDS = 3
"""Lines shown at each end of a run that is cut."""
_WIDTH = 120


@click.command(context_settings=SETTINGS)
@turn_argument
@click.option("--full", is_flag=True, help="Every line, however many in a row went.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.diff/1), every line.")
@store_option
def command(session: str, turn: int, full: bool, json_: bool, store: str | None) -> None:
    """Show what the agent sent against what the model got, in one request.

    SESSION is any unambiguous beginning of an id. TURN counts the session's requests from 1, below zero from the end
    [-1, the newest]. Only messages that were changed are shown: - came and was not sent, + was put in its place. Of a
    span that was left out each message is one line [--full: all of it], with the record that stands for it before.

    \b
    Examples:
      ctxgc diff 3fa2
      ctxgc diff 3fa2 12 --full
      ctxgc diff 3fa2 -2 --json

    \b
    Exit codes: 0 ok, 2 usage, 4 no such session, request or store.
    """
    from ctxgc.lab.differences import difference

    with opened(store) as found:
        key, moment = find_moment(found, session, turn)
        whole = difference(moment, found, codec_for(moment))
    if json_:
        as_json(_document(key, moment, whole))
        return
    say(_summary(key, moment, whole))
    for out, changes in groupby(whole.changes, key=_is_out):
        for line in _left_out(list(changes), full) if out else _changed(changes, full):
            say(line)


def _summary(key: bytes, moment: Moment, whole: Difference) -> str:
    changed = len({change.message for change in whole.changes if not change.record})
    out = f", {whole.left_out:,} left out" if whole.left_out else ""
    return (
        f"session {key.hex()[:SHORT]}, turn {moment.number} of {moment.requests}: {changed:,} of {whole.messages:,}"
        f" messages changed{out}, {whole.received:,} tokens came and {whole.sent:,} were sent"
    )


def _is_out(change: Change) -> bool:
    return bool(change.record and not change.sent)


def _left_out(changes: Sequence[Change], full: bool) -> Iterator[str]:
    """Messages in a row that a record stands for."""
    from ctxgc.lab.differences import Line

    first, last = changes[0], changes[-1]
    count = len({change.message for change in changes})
    names = f"message {first.message}" if count == 1 else f"messages {first.message} to {last.message}"
    tokens = sum(change.tokens for change in changes)
    yield ""
    yield f"@@ {names}: {tokens:,} tokens left out; {_stands(first)} @@"
    if full:
        yield from (f"{line.sign}{line.text}" for change in changes for line in change.lines)
        return
    shown = (shorten(f"message {one.message} {one.role}: {one.lines[0].text}", _WIDTH) for one in changes)
    yield from _cut([Line("-", text) for text in shown], full)


def _stands(change: Change) -> str:
    return f"stands in record {change.record} since turn {change.since}"


def _changed(changes: Iterable[Change], full: bool) -> Iterator[str]:
    return (line for change in changes for line in _change(change, full))


def _change(change: Change, full: bool) -> Iterator[str]:
    edit = change.edit
    said = f"; {edit.policy}, {edit.action}: {edit.reason}" if edit else "; fields for ctxgc alone were taken out"
    yield ""
    if change.record:
        yield f"@@ behind message {change.message}: record {change.record}, {many(change.sent, 'token')} @@"
        yield from (f"{line.sign}{line.text}" for line in change.lines)
        return
    yield (
        f"@@ message {change.message} {change.role}, {shorten(change.site)}, cell {change.cell}:"
        f" {change.tokens:,} tokens to {change.sent:,}{said} @@"
    )
    for sign, run in groupby(change.lines, key=lambda line: line.sign):
        yield from _cut(list(run), full or sign == "+")


def _cut(run: Sequence[Line], full: bool) -> Iterator[str]:
    """The lines of a run; of a long one its ends, and how many stand between."""
    shown = [f"{line.sign}{line.text}" for line in run]
    if full or len(run) <= 2 * _ENDS + 1:
        yield from shown
        return
    yield from shown[:_ENDS]
    yield f"{run[0].sign}... {len(run) - 2 * _ENDS:,} more lines (--full shows them)"
    yield from shown[-_ENDS:]


def _document(key: bytes, moment: Moment, whole: Difference) -> dict[str, object]:
    return {
        "schema": "ctxgc.diff/1",
        "session": key.hex(),
        "turn": moment.number,
        "requests": moment.requests,
        "messages": whole.messages,
        "left_out": whole.left_out,
        "received": whole.received,
        "sent": whole.sent,
        "changes": [_as_dict(change) for change in whole.changes],
    }


def _as_dict(change: Change) -> dict[str, object]:
    edit = change.edit
    names = ("message", "role", "tag", "site", "cell", "tokens", "sent")
    return {
        **{name: getattr(change, name) for name in names},
        "handle": edit.handle if edit else "",
        "policy": edit.policy if edit else "",
        "action": edit.action if edit else "",
        "reason": edit.reason if edit else "",
        "record": change.record,
        "since": change.since,
        "lines": [list(line) for line in change.lines],
    }
