"""One cell of a session: what it is, what keeps it alive, why it was sent as it was, and its texts.

Rule: what is said of a cell is what the journal says; of what policies might do with it, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.state import EDEN
from ctxgc.errors import InputError
from ctxgc.lab.index import OURS
from ctxgc.lab.links import Reference
from ctxgc.session.collecting import YOUNG
from ctxgc.session.originals import content
from ctxgc.store import Store, StoreError
from ctxgc.web.views.figures import SYSTEM
from ctxgc.web.views.plain import Document, cut, plain

if TYPE_CHECKING:
    from ctxgc.web.views.session import SessionView

SCHEMA = "ctxgc.page.cell/1"
_MOST = 100
"""References that are listed: the newest."""
_NAMES = ("tag", "site", "kind", "generation", "verdict")
_LISTS = {"tag": "tags", "site": "sites", "kind": "kinds", "generation": "generations", "verdict": "verdicts"}


class Unknown(InputError, LookupError):
    """There is no such cell, or no such turn."""


def document(view: SessionView, number: int, store: Store | None) -> Document:
    """The document: see ``ctxgc.web.views``. Raises ``Unknown``, ``StoreError``."""
    whole = view.cells()
    if not 0 <= number < len(view.state.cells):
        raise Unknown(f"the session has no cell {number}")
    row = _row(whole, number)
    edit = view.state.edits.get(number)
    text, sent_text, was_cut = _texts(view, number, edit, store)
    return {
        "schema": SCHEMA,
        "id": view.key.hex(),
        "cell": row,
        "kept_by": _references(view, view.links.into(view.state, number)),
        "why": list(_why(view, number, row)),
        "refers_to": _references(view, view.links.out(view.state, number)),
        "partner": _partner(view, number),
        "edit": None if edit is None else _edit(edit),
        "stale": _stale(view, number),
        "text": text,
        "sent_text": sent_text,
        "cut": was_cut,
        "explained": _explained(view, number, row, edit),
    }


def _row(whole: Document, number: int) -> Document:
    """A row of the columns, with names for their numbers."""
    columns = whole["columns"]
    assert isinstance(columns, dict)
    row = {name: column[number] for name, column in columns.items()}
    for name in _NAMES:
        names = whole[_LISTS[name]]
        assert isinstance(names, list)
        row[name] = names[row[name]]
    return row


def _references(view: SessionView, found: Iterable[Reference]) -> list[Document]:
    newest = tuple(found)[-_MOST:]
    cells = view.state.cells
    return [
        {"cell": one.cell, "request": one.turn, "site": plain(cells[one.cell].site), "evidence": plain(one.said)}
        for one in newest
    ]


def _edit(edit: Edit) -> Document:
    return {
        "policy": plain(edit.policy),
        "action": plain(edit.action),
        "reason": plain(edit.reason),
        "handle": plain(edit.handle),
    }


def _partners(view: SessionView, number: int) -> list[int]:
    """The results of a call, or the call of a result."""
    return [result if call == number else call for call, result in view.walk.answers if number in (call, result)]


def _partner(view: SessionView, number: int) -> int | None:
    return next(iter(_partners(view, number)), None)


def _why(view: SessionView, number: int, row: Document) -> Iterator[str]:
    """What keeps a cell alive, a sentence each."""
    if not row["resident"]:
        yield "Nothing: the newest request does not carry it."
        return
    state, cell = view.state, view.state.cells[number]
    if cell.tag in OURS:
        yield f"It is ctxgc's own: {OURS[cell.tag]}."
    elif cell.kind is Kind.TOOL_SCHEMA:
        yield "It is a tool's schema: tool lists are sent as they come."
    elif cell.tag == SYSTEM:
        yield "It is a system prompt."
    elif cell.pinned:
        yield "It is pinned."
    elif cell.kind not in (Kind.TOOL_RESULT, Kind.THINKING):
        yield "It is words of people or of the agent, or a call: only results and reasoning are collected."
    now = state.node(view.newest.head).turn if view.newest else 0
    if state.owners[number] >= 0 and now - cell.turn <= YOUNG:
        yield f"It is of the last {YOUNG} turns."
    marks = state.marks.get(number)
    if marks is not None and marks.by:
        by, ago = marks.by[-1], max(now - marks.turn, 0)
        yield f"It was referred to {_ago(ago)}, by c{by} ({plain(state.cells[by].site)})."
    yield from _needed(view, number)


def _needed(view: SessionView, number: int) -> Iterator[str]:
    flags = view.residents.flags
    for other in _partners(view, number):
        if flags[other]:
            what = "call" if view.state.cells[other].kind is Kind.TOOL_CALL else "result"
            yield f"Its {what} c{other} is resident: a call and its result stand together."
    pointers = view.figures().pointers.get(number, 0)
    if pointers:
        what = "One resident is only a pointer" if pointers == 1 else f"{pointers} residents are only pointers"
        yield f"{what} to it, and would point at nothing."


def _ago(turns: int) -> str:
    return "in this turn" if not turns else "a turn ago" if turns == 1 else f"{turns} turns ago"


def _stale(view: SessionView, number: int) -> str:
    gone = view.state.overwritten.get(number)
    if gone is None:
        return ""
    why = "a failure that was overcome" if gone.overcome else plain(gone.why)
    return f"{why} (c{gone.by}, request {view.links.arrived(gone.by)})"


def _explained(view: SessionView, number: int, row: Document, edit: Edit | None) -> str:
    """Why it was sent as it was."""
    if number in view.residents.out:
        made = view.state.node(view.newest.head).compacted if view.newest else None
        request, handle = view.links.compacted.get(made.upto, (0, "")) if made else (0, "")
        return f"It is not sent: record {plain(handle)} stands for it and for others since request {request}."
    if edit is not None:
        request, generation = view.links.edited[number]
        when = "before it was ever sent, in" if generation == EDEN else "in"
        said = f"{plain(edit.policy)}, {plain(edit.action)}: {plain(edit.reason)}"
        return f"It was changed {when} request {request} by {said}."
    if not row["resident"]:
        return "It is sent as it came, by the requests that carry it; the newest is not one of them."
    return "It is sent as it came: nothing has changed it."


def _texts(
    view: SessionView, number: int, edit: Edit | None, store: Store | None
) -> tuple[str | None, str | None, bool]:
    """The text as it came, the text as it is sent, and whether one of them was cut."""
    if store is None:
        return None, None, False
    original = _original(view, number, store)
    left_out = number in view.residents.out
    came, came_cut = (None, False) if original is None else cut(original)
    sent, sent_cut = ("", False) if left_out else (came, came_cut) if edit is None else cut(edit.text)
    return came, sent, came_cut or sent_cut


def _original(view: SessionView, number: int, store: Store) -> str | None:
    """The text as it came; None where it is not kept by itself: of tools, and of what is ctxgc's own."""
    state = view.state
    codec = view.codec()
    if number in state.records or (state.owners[number] >= 0 and number in state.node(state.owners[number]).cells):
        try:
            return content(state, store, codec, number)
        except (StoreError, ValueError, LookupError):
            return None
    raws = _own(view, number)
    return next((block for cell, block in raws if cell == number), None)


def _own(view: SessionView, number: int) -> Iterator[tuple[int, str]]:
    """What stands of ours behind the node of a cell, or is offered: each cell with its text."""
    state, codec = view.state, view.codec()
    for offer in state.own.offers:
        if offer.cell == number:
            yield number, offer.tool.decode("utf-8", "replace")
    for each in state.own.behind(state.owners[number]) if state.owners[number] >= 0 else ():
        blocks = (block.text for raw in each.messages for block in codec.decode(raw).blocks)
        yield from zip(each.cells, blocks, strict=False)
