"""The model's recalls: what it asks for is read, and stands in its history from then on.

Rule: what is given back is data. It is read from the store, exactly, but nothing in it can pass for a stub of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxgc.core import stub
from ctxgc.core.heap import content_digest, site_of
from ctxgc.core.journal import Allocation, Insertion, NewCell, Recall
from ctxgc.core.state import State
from ctxgc.session.admission import Meter
from ctxgc.session.eden import clean
from ctxgc.session.kit import Kit
from ctxgc.session.originals import content
from ctxgc.session.reading import Asked, excerpt, parse
from ctxgc.store import StoreError
from ctxgc.wire.codec import Asking, Use

TAG = "recall"
UNKNOWN = "no content of this conversation has that handle: use the 16 characters of a line that says [... not shown]"
UNREADABLE = "that content cannot be read now: go on without it, or ask again later"
LIMITED = "the limit of recalls for one answer is reached: answer with what is there"
_HANDLE = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call is answered, and what the journal says of it (None: nothing was looked up)."""

    text: str
    entry: Recall | None = None


def recalls(state: State, kit: Kit, entry: Allocation, asking: Asking, *, limited: bool) -> list[Recall | Insertion]:
    """What is booked of the recalls in the reply to a request: what was looked up, and what goes into its history.

    Where they are ``limited``, nothing is looked up, and the model is told so.
    """
    answers = [Answer(LIMITED) if limited else _answer(state, kit, entry.call, use) for use in asking.uses]
    inserted = _insertion(kit, entry, asking, [answer.text for answer in answers])
    return [*(answer.entry for answer in answers if answer.entry), inserted]


def _insertion(kit: Kit, entry: Allocation, asking: Asking, texts: Sequence[str]) -> Insertion:
    messages = (asking.message, *kit.codec.answers(asking.uses, texts))
    meter = kit.meter(entry.model)
    cells = tuple(cell for raw in messages for cell in _cells(kit, raw, meter))
    return Insertion(at=kit.clock(), call=entry.call, head=entry.head, messages=messages, cells=cells)


def _answer(state: State, kit: Kit, call: bytes, use: Use) -> Answer:
    try:
        asked = parse(use.arguments)
    except ValueError as error:
        return Answer(stub.defuse(clean(str(error))), _recall(kit, call, "", -1))
    cell = state.by_handle.get(asked.handle, -1)
    if cell < 0:
        return Answer(UNKNOWN, _recall(kit, call, asked.handle, -1))
    return Answer(_read(state, kit, cell, asked), _recall(kit, call, asked.handle, cell))


def _recall(kit: Kit, call: bytes, handle: str, cell: int) -> Recall:
    shown = clean(handle)[:_HANDLE]
    return Recall(at=kit.clock(), handle=shown, by="model", cell=cell, found=cell >= 0, call=call)


def _read(state: State, kit: Kit, cell: int, asked: Asked) -> str:
    try:
        text = excerpt(content(state, kit.store, kit.codec, cell), asked)
    except (StoreError, ValueError):
        return UNREADABLE
    site = " ".join(state.cells[cell].site.split())
    return stub.defuse(f"recalled from {site}:\n{text}")


def _cells(kit: Kit, raw: bytes, meter: Meter) -> list[NewCell]:
    blocks = kit.codec.decode(raw).blocks
    return [
        NewCell(
            str(block.kind), TAG, clean(site_of(block, block.text)), meter.measure(block),
            content_digest(block.text), True, exact=meter.exact,
        )
        for block in blocks
    ]  # fmt: skip
