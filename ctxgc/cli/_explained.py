"""An explanation in words and tables, and as JSON with stable keys.

Rule: references are quoted shortened and as data; whether the plan was really the one applied is said before anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ctxgc.cli._output import Table, shorten, when
from ctxgc.cli._turns import amount, many
from ctxgc.core.block import Kind
from ctxgc.core.compaction import Compaction

if TYPE_CHECKING:
    from ctxgc.lab.explained import Line
    from ctxgc.lab.links import Reference
    from ctxgc.lab.moments import Moment
    from ctxgc.lab.plans import Offer, Rebuilt

_SITE, _SAID = 40, 30
_COLUMNS = (">cell", ">msg", "<what", ">tokens", ">sent", ">age", "<gen", ">refs", "<last referred", "<verdict", "<why")
_NAMES = (
    "cell", "message", "role", "kind", "tag", "site", "tokens", "sent", "arrived", "age", "generation", "verdict",
    "why", "stale", "references",
)  # fmt: skip


def summary(key: str, moment: Moment, rebuilt: Rebuilt, usd: bool) -> Iterator[str]:
    """What was decided about the request as a whole."""
    entry, state = moment.entry, rebuilt.state
    came, left = (state.tokens(entry.head, entry.toolset, sent=sent, offered=entry.offered) for sent in (False, True))
    named = entry.model or "no model named"
    yield f"session {key}, turn {moment.number} of {moment.requests}, {when(entry.at)}, {named}"
    yield f"{came:,} tokens came, {left:,} were sent"
    pace, made = entry.pace, next((one for one in moment.own if isinstance(one, Compaction)), None)
    if made is not None:
        by = f" by {shorten(made.by, _SITE)}" if made.by else ""
        stands = f"{made.tokens:,} in record {made.handle}{by}"
        yield f"compacted ({made.trigger}): {made.before:,} tokens were left out, for them stand {stands}"
    if pace is not None and pace.trigger:
        rent, price = amount(pace.rent, usd=usd), amount(pace.price, usd=usd)
        yield (
            f"collected ({pace.trigger}): {pace.dead:,} tokens for {pace.live:,} rewritten, rent {rent}, price {price}"
        )
    waiting = sum(not offer.taken for offer in rebuilt.offers)
    yield f"{many(len(rebuilt.offers), 'cell')} could go, {waiting:,} of them {'waits' if waiting == 1 else 'wait'}"
    if not rebuilt.agrees:
        yield "note: with the policies and prices of now, the plan is another one than the journal says was applied"


def table(lines: Sequence[Line]) -> Table:
    """A row for each cell."""
    return Table("Cells, as the model reads them", _COLUMNS, [_row(line) for line in lines])


def _row(line: Line) -> Sequence[str]:
    last = _said(line.into[-1]) if line.into else ""
    why = f"{line.why}; out of date: {line.stale}" if line.stale else line.why
    return (
        str(line.cell), str(line.message), what(line), f"{line.tokens:,}", f"{line.sent:,}", str(line.age),
        line.generation, str(line.references or ""), last, line.verdict, why,
    )  # fmt: skip


def what(line: Line) -> str:
    """The kind of a cell and where it is from."""
    tool = line.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT)
    return f"{line.tag.partition(':')[0]} {shorten(line.site, _SITE)}" if tool else shorten(line.tag, _SITE)


def _said(one: Reference) -> str:
    return f"turn {one.turn} {one.tag} said {shorten(one.said, _SAID)!r}"


def in_full(line: Line) -> Iterator[str]:
    """One cell with all that is known of it, but its text."""
    for name in _NAMES:
        yield f"{name}: {getattr(line, name)}"
    if line.edit is not None:
        yield f"handle: {line.edit.handle}"
    for title, references in (("referred to by", line.into), ("refers to", line.out)):
        for one in references:
            yield f"{title} cell {one.cell}: {_said(one)}"


def document(line: Line) -> dict[str, object]:
    """A cell as JSON."""
    edit = line.edit
    return {
        **{name: getattr(line, name) for name in _NAMES},
        "into": [_reference(one) for one in line.into],
        "out": [_reference(one) for one in line.out],
        "edit": edit
        and {key: getattr(edit, key) for key in ("policy", "action", "reason", "handle", "before", "after")},
        "offer": line.offer and _offer(line.offer),
    }


def _reference(one: Reference) -> dict[str, object]:
    return {"cell": one.cell, "turn": one.turn, "tag": one.tag, "said": one.said, "marks": list(one.marks)}


def _offer(offer: Offer) -> dict[str, object]:
    edit, load, figures = offer.candidate.edit, offer.load, offer.figures
    return {
        "policy": edit.policy,
        "action": edit.action,
        "reason": edit.reason,
        "after": edit.after,
        "saves": load.saved,
        "behind": load.behind,
        "since": load.since,
        "urgency": load.urgency,
        "rent": figures and figures.rent,
        "price": figures and figures.price,
        "needed": offer.needed,
        "taken": offer.taken,
    }
