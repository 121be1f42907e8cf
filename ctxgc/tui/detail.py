"""One session as lines: its context by tag family, its growth, its largest sites, its newest collections, its suspects.

Rule: families are told apart by a letter, so that nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from ctxgc.tui.text import WIDE, Line, Piece, clock, cut, figure, fit, line, many, money, printable
from ctxgc.tui.watching import Document

SHORT = 12
LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "system_prompt": "S",
        "tool_schema": "H",
        "user_turn": "U",
        "agent_reply": "A",
        "agent_reasoning": "G",
        "tool_call": "C",
        "tool_result": "R",
        "retrieval": "V",
        "summary": "M",
        "recall": "L",
        "ledger": "B",
    }
)
OTHER = "X"
"""The letter of families that an application named itself."""
_LEVELS = "▁▂▃▄▅▆▇█"
_SITES, _MADE, _SUSPECTS = 8, 6, 4
_LABEL = 20


def detail(session: Document, width: int, *, rows: int = _SITES) -> list[Line]:
    """All that is said of a session, each line in at most ``width`` columns."""
    wide = width >= WIDE
    parts = (
        _head(session, wide),
        _context(session, width, wide),
        _growth(session, width),
        _sites(session, width, wide, rows),
        _collections(session, wide, rows),
        _suspects(session, width),
    )
    return [cut(one, width) for part in parts for one in part]


def _head(session: Document, wide: bool) -> Iterator[Line]:
    turns = session["turns"]
    models = ", ".join(name or "no model" for name in session["models"]) or "no model"
    state = f"{', live' if session['live'] else ''}{', plain' if session['plain'] else ''}"
    yield line(
        printable(f"Session {session['id'][:SHORT]}: {models}, {many(turns['count'], 'request')}{state}"),
        "title",
    )
    window = f"window {figure(session['window'], wide=wide)}" if session["window"] else "window not known"
    net = money(turns["net"][-1] if turns["net"] else None, usd=_tile(session, "net").get("unit") == "usd")
    left = _tile(session, "turns_left").get("value")
    turns_left = f", {left:,.0f} turns until room must be made" if left is not None else ""
    yield line(f"  {window}{turns_left}, net {net}")


def _tile(session: Document, name: str) -> Mapping[str, Any]:
    return next((tile for tile in session["tiles"] if tile["id"] == name), {})


def _context(session: Document, width: int, wide: bool) -> Iterator[Line]:
    """The newest request as it came and as it left: two bars on one scale, and what the letters are."""
    turns = session["turns"]
    if not turns["count"]:
        return
    newest = [(name, _newest(turns[name], session["families"])) for name in ("received", "sent")]
    most = max(sum(of.values()) for _, of in newest) or 1
    room = width - _LABEL - 1
    for name, of in newest:
        label = f"  {name:<8} {figure(sum(of.values()), wide=wide):>9}"
        yield (Piece(fit(label, _LABEL) + " "), *_stacked(of, room, most))
    sent = newest[1][1]
    total = sum(sent.values()) or 1
    said = (
        Piece(f"  {_letter(family)} {printable(family)} {tokens / total:.0%}", family)
        for family, tokens in sent.items()
        if tokens
    )
    yield from _wrapped(said, width)


def _newest(series: Mapping[str, Sequence[int]], families: Sequence[str]) -> dict[str, int]:
    return {family: series[family][-1] for family in families if family in series}


def _stacked(of: Mapping[str, int], room: int, most: int) -> Iterator[Piece]:
    """Letters for each family, by its share: where they end follows from the sum, so that they add up."""
    done = tokens = 0
    for family, count in of.items():
        tokens += count
        end = round(tokens / most * room)
        if end > done:
            yield Piece(_letter(family) * (end - done), family)
        done = end


def _letter(family: str) -> str:
    return LETTERS.get(family, OTHER)


def _wrapped(pieces: Iterator[Piece], width: int) -> Iterator[Line]:
    row, used = list[Piece](), 0
    for piece in pieces:
        if row and used + len(piece.text) > width:
            yield tuple(row)
            row, used = [], 0
        row.append(piece)
        used += len(piece.text)
    if row:
        yield tuple(row)


def _growth(session: Document, width: int) -> Iterator[Line]:
    """What was sent with each of the last requests, as a line of small bars."""
    sent = session["turns"]["sent_total"][-(width - _LABEL - 1) :]
    if len(sent) > 1:
        most = max(sent) or 1
        bars = "".join(_LEVELS[min(tokens * len(_LEVELS) // most, len(_LEVELS) - 1)] for tokens in sent)
        yield line(fit("  sent by request", _LABEL) + " " + bars, "dim")


def _sites(session: Document, width: int, wide: bool, rows: int) -> Iterator[Line]:
    found = session["by_site"][:rows]
    if not found:
        return
    yield ()
    yield line("Sites, by what was sent for them in all", "title")
    total = sum(session["turns"]["sent_total"]) or 1
    size = 12 if wide else 8
    name = max(width - 2 * size - 12, 8)
    yield line(f"  {fit('site', name)} {fit('sent', size, right=True)}  share {fit('resident', size, right=True)}")
    for row in found:
        sent, resident = (fit(figure(row[key], wide=wide), size, right=True) for key in ("sent_turns", "resident"))
        yield line(f"  {fit(row['name'], name)} {sent} {row['sent_turns'] / total:>6.1%} {resident}")


def _collections(session: Document, wide: bool, rows: int) -> Iterator[Line]:
    made = session["collections"][-min(rows, _MADE) :]
    if not made:
        return
    yield ()
    yield line(f"Collections, the newest of {len(session['collections']):,}", "title")
    for one in reversed(made):
        why = f" ({one['trigger']})" if one["trigger"] else ""
        what = "compacted" if one["span"] else one["generation"]
        before, after = (figure(one[f"context_{when}"], wide=wide) for when in ("before", "after"))
        at = f" {clock(one['at'], wide=wide)}" if wide else ""
        yield line(
            f"  turn {one['turn']:>4}{at} {what}{why}, {many(one['cells'], 'cell')}, context {before} -> {after}"
        )


def _suspects(session: Document, width: int) -> Iterator[Line]:
    found = session["suspects"]
    yield ()
    yield line("Leak suspects" if found else "No leak suspects", "title")
    for number, one in enumerate(found[:_SUSPECTS], 1):
        yield from _folded(f"{number}. {printable(one['sentence'])}", width, "bad")
        yield from _folded(printable(one["action"]), width, "")
        yield from (line(f"       {printable(part)}", "dim") for part in one["setting"].splitlines())


def _folded(text: str, width: int, style: str) -> Iterator[Line]:
    """A text in as many lines as it takes, set off a little."""
    for number, part in enumerate(wrap(text, max(width - 5, 10))):
        yield line(("  " if style and not number else "     ") + part, style)
