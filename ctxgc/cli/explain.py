"""``ctxgc explain``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import SHORT, opened, store_option
from ctxgc.cli._output import as_json, say, show
from ctxgc.cli._turns import SETTINGS, codec_for, find_moment, turn_argument

if TYPE_CHECKING:
    from ctxgc.lab.explained import Line
    from ctxgc.lab.moments import Moment
    from ctxgc.lab.plans import Rebuilt
    from ctxgc.session import Kit
    from ctxgc.store import Store


@click.command(context_settings=SETTINGS)
@turn_argument
@click.option("--cell", type=click.IntRange(0), metavar="N", help="Only this cell, in full.")
@click.option("--policy", metavar="NAMES", help="The policies to plan with [the configured ones].")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.explain/1).")
@store_option
def command(session: str, turn: int, cell: int | None, policy: str | None, json_: bool, store: str | None) -> None:
    """Say of each cell of a request why it was sent as it was, and for what could go what it waits for.

    SESSION is any unambiguous beginning of an id. TURN counts the session's requests from 1, below zero from the end
    [-1, the newest]. The plan is made again by the code that made it then. Rent is what garbage has cost since it was
    due, price what rewriting the cache for it costs once: in USD at list prices, else in prices of one input token.

    \b
    Examples:
      ctxgc explain 3fa2
      ctxgc explain 3fa2 12 --cell 31
      ctxgc explain 3fa2 -1 --policy aggressive --json

    \b
    Exit codes: 0 ok, 2 usage, 3 an unknown policy, 4 no such session, request, cell or store.
    """
    from ctxgc.assemble import prices
    from ctxgc.lab.explained import explained
    from ctxgc.lab.forecasts import in_usd
    from ctxgc.lab.plans import rebuild

    with opened(store) as found:
        key, moment = find_moment(found, session, turn)
        kit = _kit(found, policy, moment)
        rebuilt = rebuild(moment, kit, key)
        usd = in_usd(rebuilt.tariff.write, prices()(moment.entry.model))
        lines = explained(moment, rebuilt, "USD" if usd else "")
        if cell is None:
            _whole(key, moment, rebuilt, lines, usd=usd, json_=json_)
        else:
            _one(found, kit, moment, rebuilt, _find(lines, cell), json_=json_)


def _kit(store: Store, policy: str | None, moment: Moment) -> Kit:
    """What a proxy with this configuration would give its sessions. Raises ``ConfigError``, ``PolicyError``."""
    from ctxgc.assemble import make_kit
    from ctxgc.config import load
    from ctxgc.policies import from_config

    config = load({"policy": policy}).config
    kit = make_kit(store, from_config(config.policy, config.policies), config.tags, pacer=config.pacer())
    return replace(kit, codec=codec_for(moment))


def _find(lines: tuple[Line, ...], cell: int) -> Line:
    from ctxgc.errors import InputError

    found = next((line for line in lines if line.cell == cell), None)
    if found is None:
        raise InputError(f"this request carries no cell {cell}: without --cell, all of them are listed")
    return found


def _whole(key: bytes, moment: Moment, rebuilt: Rebuilt, lines: tuple[Line, ...], *, usd: bool, json_: bool) -> None:
    from ctxgc.cli._explained import document, summary, table

    if json_:
        as_json(
            {
                "schema": "ctxgc.explain/1",
                "session": key.hex(),
                "turn": moment.number,
                "requests": moment.requests,
                "model": moment.entry.model,
                "agrees": rebuilt.agrees,
                "usd": usd,
                "trigger": rebuilt.decision.trigger,
                "cells": [document(line) for line in lines],
            }
        )
        return
    for text in summary(key.hex()[:SHORT], moment, rebuilt, usd):
        say(text)
    say()
    show(table(lines))


def _one(store: Store, kit: Kit, moment: Moment, rebuilt: Rebuilt, line: Line, *, json_: bool) -> None:
    """One cell, with its text as it came and as it was sent."""
    from ctxgc.cli._explained import document, in_full

    text = _text(store, kit, moment, rebuilt, line)
    sent = "" if line.verdict == "left out" else line.edit.text if line.edit else text
    if json_:
        as_json({"schema": "ctxgc.explain/1", "cell": document(line), "text": text, "sent": sent})
        return
    for each in in_full(line):
        say(each)
    for title, body in (("as it came" if line.tokens else "as it was made", text), ("as it was sent", sent)):
        if title != "as it was sent" or (sent != text and line.verdict != "left out"):
            say(f"{title}:")
            for each in (body or "").split("\n"):
                say(f"  {each}")


def _text(store: Store, kit: Kit, moment: Moment, rebuilt: Rebuilt, line: Line) -> str | None:
    """The text of a cell as it came, or of one of ours as it was made; None for a tool's schema: that is no message."""
    from ctxgc.lab.compactions import parts
    from ctxgc.session.originals import content

    ours = (part for part in parts(rebuilt.state, moment.entry.head) if part.own and line.cell in part.cells)
    part = next(ours, None)
    if part is not None:
        return dict(part.texts(kit.codec))[line.cell]
    return content(rebuilt.state, store, kit.codec, line.cell) if line.message else None
