"""What the agent sent against what the model got in one request, or what the model got in one against another.

Rule: made from the journal up to the requests in question; texts come from the store, and without one there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.core.collector import Edit
from ctxgc.core.heap import Cell
from ctxgc.core.journal import Allocation, AnyEntry, Open
from ctxgc.core.state import State, fold
from ctxgc.errors import InputError
from ctxgc.lab.compactions import Part, parts
from ctxgc.lab.differences import Change, compare, difference
from ctxgc.lab.links import Links
from ctxgc.lab.moments import Moment, moment
from ctxgc.session.originals import content
from ctxgc.store import Store, StoreError
from ctxgc.web.views.cell import Unknown
from ctxgc.web.views.codecs import codec_of
from ctxgc.web.views.plain import Document, lines, plain

SCHEMA = "ctxgc.page.diff/1"


def diff_document(
    entries: Sequence[AnyEntry], turn: int, against: int | None = None, store: Store | None = None, *, key: bytes = b""
) -> Document:
    """The document: see ``ctxgc.web.views``. Raises ``Unknown``, ``InputError`` and ``StoreError``."""
    one = _moment(entries, turn)
    codec = codec_of(next((entry.codec for entry in entries if isinstance(entry, Open)), ""))
    head: Document = {"schema": SCHEMA, "id": key.hex(), "turn": turn, "against": against}
    if against is not None:
        return {**head, **_Two(_moment(entries, against), one, store).document()}
    state = fold((*one.before, *one.own))
    if store is None:
        changes = [_change(change, None) for change in _outline(state, one)]
    else:
        found = difference(one, store, codec, state)
        changes = [_change(change, lines(change.lines)) for change in found.changes]
    return {**head, **_sizes(state, one.entry), "changes": changes}


def _moment(entries: Sequence[AnyEntry], turn: int) -> Moment:
    if turn < 1:
        raise Unknown(f"there is no request {turn}: they are counted from 1")
    try:
        return moment(entries, turn)
    except InputError as error:
        raise Unknown(str(error)) from None


def _sizes(state: State, entry: Allocation) -> Document:
    """Tokens and messages of a request."""
    out = sum(part.out and not part.own for part in parts(state, entry.head))
    return {
        "received": state.tokens(entry.head, entry.toolset, sent=False),
        "sent": state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered),
        "messages": state.node(entry.head).depth + 1,
        "left_out": out,
    }


def _outline(state: State, one: Moment) -> Iterator[Change]:
    """The changes of a request as the journal alone has them, as the model would have come to them."""
    made = state.node(one.entry.head).compacted
    since, record = Links(one).compacted[made.upto] if made else (0, "")
    for part in parts(state, one.entry.head):
        stands = made is not None and part.own and part.cells == made.cells
        for number in part.cells:
            cell, edit = state.cells[number], state.edits.get(number)
            if stands or (part.out and not part.own):
                yield _whole(part, cell, 0 if part.out else cell.sent, None, record, since)
            elif edit is not None and not part.own:
                yield _whole(part, cell, cell.sent, edit, "", 0)


def _whole(part: Part, cell: Cell, sent: int, edit: Edit | None, record: str, since: int) -> Change:
    role = cell.tag if part.own else part.node.role
    return Change(
        part.node.depth + 1, role, cell.tag, cell.site, cell.id, cell.tokens, sent, edit, (), record, since
    )  # fmt: skip


def _change(change: Change, found: list[list[str]] | None) -> Document:
    edit = change.edit
    return {
        "message": change.message,
        "role": plain(change.role),
        "tag": plain(change.tag),
        "site": plain(change.site),
        "cell": change.cell,
        "tokens": change.tokens,
        "sent": change.sent,
        "policy": plain(edit.policy) if edit else "",
        "action": plain(edit.action) if edit else "",
        "reason": plain(edit.reason) if edit else "",
        "record": plain(change.record),
        "since": change.since,
        "lines": found,
    }


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a request sent: the tokens of each of its cells, with their edits and the messages they stand in."""

    cells: Mapping[int, int]
    edits: Mapping[int, Edit]
    messages: Mapping[int, tuple[int, str]]


def _sent(state: State, entry: Allocation) -> _Sent:
    cells: dict[int, int] = {}
    messages: dict[int, tuple[int, str]] = {}
    offer = state.node(entry.head).offer if entry.offered else -1
    own = (state.own.offers[offer].cell,) if offer >= 0 else ()
    for number in (*state.toolset(entry.toolset).cells, *own):
        cells[number], messages[number] = state.cells[number].sent, (0, "tools")
    for part in parts(state, entry.head):
        for number in () if part.out else part.cells:
            cell = state.cells[number]
            cells[number] = cell.sent
            messages[number] = part.node.depth + 1, cell.tag if part.own else part.node.role
    edits = {number: state.edits[number] for number in cells.keys() & state.edits.keys()}
    return _Sent(cells, edits, messages)


class _Two:
    """What the model got in one request, and then in another; either may be the older one."""

    def __init__(self, before: Moment, after: Moment, store: Store | None) -> None:
        first, last = sorted((before, after), key=lambda one: one.number)
        state = fold((*first.before, *first.own))
        sent = {first.number: _sent(state, first.entry)}
        sizes = {first.number: _sizes(state, first.entry)}
        # What is the first's own may stand among other entries: those are taken with the rest.
        taken = {id(entry) for entry in first.own}
        for entry in (*last.before[len(first.before) :], *last.own):
            if id(entry) not in taken:
                state.apply(entry)
        sent[last.number], sizes[last.number] = _sent(state, last.entry), _sizes(state, last.entry)
        self._state, self._store = state, store
        self._before, self._after = sent[before.number], sent[after.number]
        self._sizes = sizes[after.number]
        opened = state.opened
        self._codec = codec_of(opened.codec if opened else "")

    def document(self) -> Document:
        old, new = self._before.cells, self._after.cells
        changed = [number for number in new if number in old and self._differs(number)]
        return {
            **self._sizes,
            "new": [self._named(number, new[number]) for number in new if number not in old],
            "gone": [self._named(number, old[number]) for number in old if number not in new],
            "changed": [
                {**self._named(number), "before": old[number], "after": new[number]} for number in changed
            ],
            "by_tag": self._by_tag(old, new),
            "changes": [self._changed(number) for number in changed],
        }  # fmt: skip

    def _differs(self, number: int) -> bool:
        one, other = self._before.edits.get(number), self._after.edits.get(number)
        return (one.text if one else None) != (other.text if other else None)

    def _named(self, number: int, tokens: int | None = None) -> Document:
        cell = self._state.cells[number]
        size: Document = {} if tokens is None else {"tokens": tokens}
        return {"cell": number, "tag": plain(cell.tag), "site": plain(cell.site), **size}

    def _by_tag(self, old: Mapping[int, int], new: Mapping[int, int]) -> list[Document]:
        sums: dict[str, list[int]] = {}
        for at, sent in enumerate((old, new)):
            for number, tokens in sent.items():
                sums.setdefault(self._state.cells[number].tag, [0, 0])[at] += tokens
        largest = sorted(sums.items(), key=lambda one: (-max(one[1]), one[0]))
        return [{"tag": plain(tag), "before": before, "after": after} for tag, (before, after) in largest]

    def _changed(self, number: int) -> Document:
        cell, edit = self._state.cells[number], self._after.edits.get(number)
        message, role = self._after.messages[number]
        change = Change(
            message, role, cell.tag, cell.site, number, self._before.cells[number], self._after.cells[number], edit, ()
        )
        return _change(change, self._lines(number))

    def _lines(self, number: int) -> list[list[str]] | None:
        """The lines of what was sent for a cell before, and what was sent for it then."""
        if self._store is None:
            return None
        texts = [self._text(number, side.edits.get(number)) for side in (self._before, self._after)]
        found = [text for text in texts if text is not None]
        return lines(compare(found[0], found[1])) if len(found) == len(texts) else None

    def _text(self, number: int, edit: Edit | None) -> str | None:
        if edit is not None:
            return edit.text
        assert self._store is not None
        try:
            return content(self._state, self._store, self._codec, number)
        except (StoreError, ValueError, LookupError):
            return None
