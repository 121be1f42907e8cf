"""``ctxgc statusline``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, find_session, journal, opened, sessions, store_option
from ctxgc.cli._output import as_json, say

if TYPE_CHECKING:
    from ctxgc.lab.glance import Glance
    from ctxgc.store import SessionRow, Store

TAIL = 240
"""Entries at the end of a long journal that are looked at."""
WHOLE = 3000
"""Entries up to which a journal is read as a whole."""
RECENT = 16
"""Sessions, the newest by their beginning, among which the one active last is looked for."""
_LAST = 4
"""Entries at the end of a journal among which an end of a request mostly is."""
NOTHING = "ctxgc: no session yet"
_WARM, _HOT = 0.5, 0.75


@dataclass(frozen=True, slots=True)
class _Line:
    """What is said of a session. ``net`` is in USD where ``usd``, else in prices of one input token; ``left`` are the
    requests until room must be made in the window. ``matched`` says whether the session is the one that the agent named
    (None: it named none)."""

    key: str
    glance: Glance
    window: int
    net: float
    usd: bool
    left: float | None
    matched: bool | None = None

    @property
    def share(self) -> float | None:
        """Share of the window that is taken."""
        return self.glance.sent / self.window if self.window else None


@click.command()
@click.option("--session", metavar="ID", default="newest", help="Any beginning of an id [newest: active last].")
@click.option("--color", is_flag=True, help="Colour the window's share, green to red; NO_COLOR wins.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.statusline/1).")
@store_option
def command(session: str, color: bool, json_: bool, store: str | None) -> None:
    """Print one short line about a session, for agents that show one: the context as the model gets it and its share of
    the window, what is left out of it, what collecting has saved or lost by now, and the turns until room must be made.

    It never fails: where there is nothing to say, it says that. What an agent writes to stdin (JSON) is read if it is
    there; a session_id in it that is the beginning of an id of ours names the session, and model.id the window where
    the session's model has none. Agents have ids of their own, and an agent that does not go through the proxy has no
    session here: for an id that is not ours the newest session is shown, and called that ("matched": false in JSON).
    Figures that would take reading a very long journal are left out.

    \b
    Examples:
      ctxgc statusline
      ctxgc statusline --session 3fa2 --json | jq .share
    For Claude Code, in settings.json:
      {"statusLine": {"type": "command", "command": "ctxgc statusline"}}

    \b
    Exit codes: 0 always, but for 2 where it was called wrongly.
    """
    try:
        line = _look(session, store)
    except Exception as error:  # a status line that fails takes the agent's screen with it
        as_json({"schema": "ctxgc.statusline/1", "session": None, "error": _why(error)}) if json_ else say(_why(error))
        return
    if json_:
        as_json(_document(line))
    else:
        click.echo(_text(line, color) if line else NOTHING, color=True if color else None)


def _look(wanted: str, url: str | None) -> _Line | None:
    from ctxgc.cli._stdin import Caller, caller

    told: Caller = caller()
    with opened(url) as store:
        row, matched = _row(store, wanted, told.session)
        if row is None:
            return None
        found = _glance(store, row)
    return replace(_line(row, found, told.model, _high(url)), matched=matched) if found else None


def _row(store: Store, wanted: str, told: str) -> tuple[SessionRow | None, bool | None]:
    """The session to show, and whether it is the one that the agent named (None: it named none)."""
    if wanted != "newest":
        return find_session(store, wanted), None
    rows = sessions(store)
    named = [row for row in rows if len(told) >= SHORT and row.key.hex().startswith(told)]
    if len(named) == 1:
        return named[0], True
    newest = max(rows[-RECENT:], key=lambda row: _active(store, row), default=None)
    return newest, False if told else None


def _active(store: Store, row: SessionRow) -> float:
    """When a session's newest request began or ended, in Unix seconds; of a long one, as far as its end tells."""
    from ctxgc.lab.glance import active

    for entries in (_LAST, TAIL):
        end = journal(store, row.key, max(row.entries - entries, 0))
        at = max((entry.at for _, entry in end if active(entry)), default=0.0)
        if at:
            return at
    return row.opened / 1000


def _glance(store: Store, row: SessionRow) -> Glance | None:
    from ctxgc.lab.glance import glance

    whole = row.entries <= WHOLE
    start = 0 if whole else row.entries - TAIL
    return glance((entry for _, entry in journal(store, row.key, start)), whole=whole)


def _high(url: str | None) -> float:
    """The share of the window at which room is made."""
    from ctxgc.config import load

    return load({"store": url}).config.window_high


def _line(row: SessionRow, found: Glance, model: str, high: float) -> _Line:
    from ctxgc.lab.forecasts import in_usd
    from ctxgc.lab.glance import turns_left
    from ctxgc.tokens import PriceTable, TokenDataUnavailable

    try:
        table = PriceTable.load()
        price, other = table.price(found.model), table.price(model) if model else None
    except TokenDataUnavailable:
        price = other = None
    window = (price.max_input_tokens if price else 0) or (other.max_input_tokens if other else 0) or 0
    pace = found.pace
    usd, net = in_usd(pace.write, price), pace.untouched - pace.paid
    return _Line(row.key.hex(), found, window, net, usd, turns_left(found.sizes, int(high * window)))


def _text(line: _Line, color: bool) -> str:
    from os import environ

    found, share = line.glance, line.share
    context = f"{_short(found.sent)}/{_short(line.window)} ({share:.0%})" if share is not None else _short(found.sent)
    if color and share is not None and not environ.get("NO_COLOR"):
        context = click.style(context, fg="green" if share < _WARM else "yellow" if share < _HOT else "red")
    parts = [f"ctxgc newest session: {context}" if line.matched is False else f"ctxgc {context}"]
    if found.received:
        out = found.received - found.sent
        parts.append(f"{_short(out)} left out ({out / found.received:.0%})" if out > 0 else "nothing left out")
    parts.append(f"net {_net(line)}")
    parts += [f"{int(line.left):,} turns left"] if line.left is not None else []
    return " | ".join(parts)


def _net(line: _Line) -> str:
    sign = "+" if line.net >= 0 else "-"
    return f"{sign}${abs(line.net):,.4f}" if line.usd else f"{sign}{_short(abs(line.net))} input tokens"


def _short(count: float) -> str:
    """A count in at most five characters or so: 950, 12.3k, 1.2M."""
    for above, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= above * 0.9995:
            return f"{count / above:.1f}{unit}"
    return f"{count:.0f}"


def _why(error: Exception) -> str:
    from ctxgc.cli._output import shorten
    from ctxgc.errors import CtxgcError
    from ctxgc.store import StoreError

    if isinstance(error, CtxgcError | StoreError):
        return shorten(f"ctxgc: {error}", 100)
    return "ctxgc: the session cannot be read"


def _document(line: _Line | None) -> dict[str, object]:
    """Keys that stay; all figures but ``net``, ``share`` and times are tokens, and null is not known. ``matched``:
    whether the session is the one that the agent named on stdin (null: it named none)."""
    if line is None:
        return {"schema": "ctxgc.statusline/1", "session": None, "error": None}
    found = line.glance
    return {
        "schema": "ctxgc.statusline/1",
        "session": line.key,
        "matched": line.matched,
        "at": found.at,
        "model": found.model,
        "sent": found.sent,
        "received": found.received,
        "window": line.window or None,
        "share": line.share,
        "net": line.net,
        "usd": line.usd,
        "turns_left": line.left,
        "error": None,
    }
