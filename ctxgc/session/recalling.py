"""The model's recalls: what it asks for is read, and stands in its history from then on.

Rule: what is given back is data. It is read from the store, exactly, but nothing in it can pass for a stub of ours; and
it is never more than the window has room for, as far as that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxgc.core import stub
from ctxgc.core.heap import content_digest, site_of
from ctxgc.core.journal import Allocation, Insertion, NewCell, Recall
from ctxgc.core.state import State
from ctxgc.errors import CtxgcError, UnknownHandle
from ctxgc.session.admission import Meter
from ctxgc.session.booking import Books
from ctxgc.session.eden import clean
from ctxgc.session.kit import Kit
from ctxgc.session.originals import content
from ctxgc.session.reading import SMALLEST, Asked, excerpt, parse
from ctxgc.session.tags import RECALL
from ctxgc.store import StoreError, StoreMissing
from ctxgc.wire.codec import Asking, Use

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger

TAG = RECALL
UNKNOWN = "no content of this conversation has that handle: use the 16 characters of a line that says [... not shown]"
UNREADABLE = "that content cannot be read now: go on without it, or ask again later"
UNFIT = "it does not fit into the context: go on without it"
LIMITED = "the limit of recalls for one answer is reached: answer with what is there"
LIMIT = 20_000
"""Characters that all recalls of one round are given together."""
RESERVE = 8
"""The part of a model's window, one in so many, that is left to its answer."""
_HANDLE = 64
_SITE = 300


@dataclass(frozen=True, slots=True)
class Refused(Asking):
    """Recalls whose answers, inserted for ``call``, the provider refused. ``again`` says that they are answered once
    more, with a line in place of the content; else nothing is left of them."""

    call: bytes
    again: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call is answered, and what the journal says of it (None: nothing was looked up)."""

    text: str
    entry: Recall | None = None


def recalls(
    state: State, kit: Kit, entry: Allocation, asking: Asking, ledger: Ledger | None = None, *, limited: bool
) -> list[Recall | Insertion]:
    """What is booked of the recalls in the reply to a request: what was looked up, and what goes into its history.

    Where they are ``limited``, nothing is looked up, and the model is told so. ``Refused`` ones are taken back.
    """
    if isinstance(asking, Refused):
        return _taken_back(kit, entry, asking)
    answers = [Answer(LIMITED)] * len(asking.uses) if limited else _answers(state, kit, entry, asking, ledger)
    inserted = _insertion(kit, entry, asking, [answer.text for answer in answers])
    return [*(answer.entry for answer in answers if answer.entry), inserted]


def recalled(state: State, kit: Kit, books: Books, handle: str, *, by: str, ledger: Ledger | None) -> str:
    """What a host, or whoever it is, reads back under a handle; booked, but for nobody (``by`` is empty), who only
    looks on and needs nothing of it. Raises ``UnknownHandle``, ``StoreError``."""
    cell = state.by_handle.get(handle, -1)
    voucher = ledger.read(handle) if cell < 0 and ledger else None
    found = cell >= 0 or voucher is not None
    if by:
        books.write(books.line(Recall(at=kit.clock(), handle=clean(handle), by=by, cell=cell, found=found)))
    if voucher is not None:
        return voucher
    if cell < 0:
        raise UnknownHandle(f"no content of this session has the handle {handle!r}")
    try:
        return content(state, kit.store, kit.codec, cell)
    except StoreMissing:  # it is on its way to the store
        books.journal.flush()
        return content(state, kit.store, kit.codec, cell)


def _taken_back(kit: Kit, entry: Allocation, refused: Refused) -> list[Recall | Insertion]:
    void = Insertion(at=kit.clock(), call=refused.call, head=entry.head, messages=(), cells=(), void=True)
    return [void, _insertion(kit, entry, refused, [UNFIT] * len(refused.uses))] if refused.again else [void]


def _insertion(kit: Kit, entry: Allocation, asking: Asking, texts: Sequence[str]) -> Insertion:
    messages = (asking.message, *kit.codec.answers(asking.uses, texts))
    meter = kit.meter(entry.model)
    cells = tuple(cell for raw in messages for cell in _cells(kit, raw, meter))
    return Insertion(at=kit.clock(), call=entry.call, head=entry.head, messages=messages, cells=cells)


@dataclass(slots=True)
class _Room:
    """What answers may still take: characters, and tokens by ``count`` (None: the window is not known).

    ``share`` is for how many answers it has to do.
    """

    count: Callable[[str], int]
    characters: int
    tokens: int | None
    share: int

    def fitted(self, read: Callable[[int], str]) -> str:
        """What ``read`` gives for the largest limit that fits this answer's share, halved until it does; else
        ``UNFIT``. The smallest limit need not fit the share, if there is room."""
        limit = min(max(self.characters // self.share, SMALLEST), self.characters)
        while limit >= SMALLEST:
            text = read(limit)
            if self.tokens is None or self.count(text) * (self.share if limit > SMALLEST else 1) <= self.tokens:
                return text
            limit = max(limit // 2, SMALLEST) if limit > SMALLEST else 0
        return UNFIT

    def take(self, text: str) -> None:
        """Have an answer stand in the room."""
        self.characters -= len(text)
        self.tokens = None if self.tokens is None else self.tokens - self.count(text)
        self.share -= 1


def _room(state: State, kit: Kit, entry: Allocation, asking: Asking) -> _Room:
    """The room for answers: the window, less what the request sends by now, the calls, and the reserve."""
    window, meter, tokens = kit.tariff(entry.model).window, kit.meter(entry.model), None
    if window > 0:
        sent = state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered)
        tokens = window - window // RESERVE - sent - _tokens(kit, meter, [asking.message])
    return _Room(
        lambda text: _tokens(kit, meter, kit.codec.answers(asking.uses[:1], [text])), LIMIT, tokens, len(asking.uses)
    )


def _tokens(kit: Kit, meter: Meter, raws: Sequence[bytes]) -> int:
    return sum(meter.measure(block) for raw in raws for block in kit.codec.decode(raw).blocks)


def _answers(state: State, kit: Kit, entry: Allocation, asking: Asking, ledger: Ledger | None) -> list[Answer]:
    room, found = _room(state, kit, entry, asking), []
    for use in asking.uses:
        answer = _answer(state, kit, entry.call, use, room, ledger)
        room.take(answer.text)
        found.append(answer)
    return found


def _answer(state: State, kit: Kit, call: bytes, use: Use, room: _Room, ledger: Ledger | None) -> Answer:
    try:
        asked = parse(use.arguments)
    except ValueError as error:
        return Answer(stub.defuse(clean(str(error))), _recall(kit, call, "", -1))
    cell = state.by_handle.get(asked.handle, -1)
    text = _read(state, kit, cell, asked, room) if cell >= 0 else _voucher(ledger, asked, room)
    if text is None:
        return Answer(UNKNOWN, _recall(kit, call, asked.handle, -1))
    return Answer(text, None if text == UNFIT else _recall(kit, call, asked.handle, cell, found=True))


def _recall(kit: Kit, call: bytes, handle: str, cell: int, *, found: bool = False) -> Recall:
    shown = clean(handle)[:_HANDLE]
    return Recall(at=kit.clock(), handle=shown, by="model", cell=cell, found=found, call=call)


def _voucher(ledger: Ledger | None, asked: Asked, room: _Room) -> str | None:
    """What is given of a voucher of the ledger's; None where it has none of that handle."""
    try:
        text = ledger.read(asked.handle) if ledger else None
        return None if text is None else _fitted("a voucher", text, asked, room)
    except (StoreError, CtxgcError, ValueError):
        return UNREADABLE


def _read(state: State, kit: Kit, cell: int, asked: Asked, room: _Room) -> str:
    site = " ".join(state.cells[cell].site[:_SITE].split())
    try:
        return _fitted(site, content(state, kit.store, kit.codec, cell), asked, room)
    except (StoreError, ValueError):
        return UNREADABLE


def _fitted(site: str, text: str, asked: Asked, room: _Room) -> str:
    opening = f"recalled from {site}:\n"
    return room.fitted(lambda limit: stub.defuse(opening + excerpt(text, asked, max(limit - len(opening), SMALLEST))))


def _cells(kit: Kit, raw: bytes, meter: Meter) -> list[NewCell]:
    blocks = kit.codec.decode(raw).blocks
    return [
        NewCell(
            str(block.kind), TAG, clean(site_of(block, block.text)), meter.measure(block),
            content_digest(block.text), True, exact=meter.exact,
        )
        for block in blocks
    ]  # fmt: skip
