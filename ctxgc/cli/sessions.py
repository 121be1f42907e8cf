"""``ctxgc sessions``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, journal, newest, opened, sessions, store_option
from ctxgc.cli._output import Table, as_json, progress, say, show, when

if TYPE_CHECKING:
    from ctxgc.store import SessionRow, Store


@dataclass(frozen=True, slots=True)
class _Line:
    """A session at a glance; tokens are those of the newest request, as it came and as it was sent."""

    key: str
    first: float
    last: float
    model: str
    calls: int
    entries: int
    received: int
    sent: int


@click.command()
@store_option
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.sessions/1).")
def command(store: str | None, json_: bool) -> None:
    """List the sessions in the store, the one active last first.

    Tokens are those of the newest request: as the agent sent it, and as it left. SESSION in other commands is any
    unambiguous beginning of an id.

    \b
    Examples:
      ctxgc sessions
      ctxgc profile --session 3fa2
      ctxgc audit show 3fa2
    """
    with opened(store) as found, progress("reading sessions") as tell:
        rows = sessions(found)
        lines = []
        for number, row in enumerate(rows, 1):
            lines.append(_line(found, row))
            tell(number, len(rows))
        lines.sort(key=lambda line: line.last, reverse=True)
    if json_:
        as_json({"schema": "ctxgc.sessions/1", "sessions": [_document(line) for line in lines]})
    elif lines:
        _table(lines)
    else:
        say("no sessions yet")


def _line(store: Store, row: SessionRow) -> _Line:
    from ctxgc.core.state import fold
    from ctxgc.lab.glance import active

    entries = [entry for _, entry in journal(store, row.key)]
    state, head = fold(entries), newest(entries)
    first = entries[0].at if entries else row.opened / 1000
    last = next((entry.at for entry in reversed(entries) if active(entry)), first)
    received = state.tokens(head.head, head.toolset, sent=False) if head else 0
    sent = state.tokens(head.head, head.toolset, sent=True, offered=head.offered) if head else 0
    model = head.model if head else ""
    return _Line(row.key.hex(), first, last, model, state.calls, len(entries), received, sent)


def _document(line: _Line) -> dict[str, object]:
    return {
        "id": line.key,
        "first": when(line.first),
        "last": when(line.last),
        "model": line.model,
        "calls": line.calls,
        "entries": line.entries,
        "received": line.received,
        "sent": line.sent,
    }


def _table(lines: Sequence[_Line]) -> None:
    columns = ("<session", "<first", "<last", "<model", ">calls", ">tokens", ">sent")
    rows = [
        (
            line.key[:SHORT],
            when(line.first),
            when(line.last),
            line.model,
            f"{line.calls:,}",
            f"{line.received:,}",
            f"{line.sent:,}",
        )
        for line in lines
    ]
    show(Table("Sessions", columns, rows))
