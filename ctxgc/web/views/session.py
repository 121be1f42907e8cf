"""The view of one session: fed with its journal, entry by entry, it gives the documents of the page at any time.

Rule: one state and one walk over the journal serve all documents; what is asked for twice is made once, and a request
that is not whole is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Insertion, Marking, Open, Settlement
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.state import State
from ctxgc.lab import gc_log
from ctxgc.lab.carried import Carried, Request, Walk
from ctxgc.lab.costs import PriceOf
from ctxgc.lab.glance import active
from ctxgc.lab.links import Links
from ctxgc.lab.profile import schemas_of
from ctxgc.lab.suspects import Schema, Suspect, suspects
from ctxgc.store import Store
from ctxgc.tokens.tariffs import tariffs as tariffs_of
from ctxgc.web.views import cell, cells, summary
from ctxgc.web.views.codecs import codec_of
from ctxgc.web.views.figures import UNIT, Figures, Fixed, figures
from ctxgc.web.views.holding import Holding
from ctxgc.web.views.plain import Document
from ctxgc.web.views.references import References
from ctxgc.web.views.reports import Reports
from ctxgc.web.views.residents import Residents
from ctxgc.web.views.turns import Turns
from ctxgc.web.views.verdicts import Verdicts
from ctxgc.wire.codec import Codec

T = TypeVar("T")
_MODELS = 64
"""Models whose prices are remembered; anyone can name models without end."""


class SessionView:
    """See ``ctxgc.web.views`` for the documents. ``prices`` and ``tariffs`` are asked once for each model.

    A document's lists are not to be changed. Not thread-safe.
    """

    def __init__(self, key: bytes, prices: PriceOf, tariffs: Callable[[str], Tariff], pacer: Pacer) -> None:
        self.key, self.pacer = key, pacer
        self.price, self.tariff = lru_cache(_MODELS)(prices), lru_cache(_MODELS)(tariffs)
        self.state = State()
        self.walk = Walk(self.state, lru_cache(_MODELS)(self._charge))
        self.gc = gc_log.Walk(lambda model: self.tariff(model).least, self.price, self.state)
        self.links, self.fixed, self.turns = Links(), Fixed(), Turns()
        self.references, self.reports = References(), Reports(self.price)
        self.residents, self.verdicts = Residents(self.state), Verdicts(self.state)
        self.handles: list[str] = []
        self.entries, self.first, self.last = 0, 0.0, 0.0
        self.newest: Request | None = None
        self.reply: tuple[int, bytes] = 0, b""
        self.last_calls: tuple[str, ...] = ()
        self._holding, self._changes = Holding(), 0
        self._made: dict[str, object] = {}

    def take(self, entry: AnyEntry) -> None:
        """The next entry of the journal. Raises ``ValueError`` for one that does not fit what came before it."""
        self.entries += 1
        for one in self._holding.take(entry):
            self._apply(one)

    def end(self) -> None:
        """Nothing more will come: a request that is still open is shown as it is."""
        for one in self._holding.rest():
            self._apply(one)

    def replied(self, calls: Sequence[str]) -> None:
        """Take the tools called in the newest reply (``reply``: the request that it answers, and where the store has
        it), which no request carries yet."""
        if tuple(calls) != self.last_calls:
            self.last_calls = tuple(calls)
            self._made.clear()

    def summary(self) -> Document:
        """The session without its cells: ``ctxgc.page.session/1``."""
        return dict(self._once("summary", lambda: summary.document(self)))

    def cells(self) -> Document:
        """Its cells, in columns: ``ctxgc.page.cells/1``."""
        return dict(self._once("cells", lambda: cells.document(self)))

    def line(self) -> Document:
        """Its row in the list of sessions."""
        return dict(self._once("line", lambda: summary.line(self)))

    def cell(self, number: int, store: Store | None = None) -> Document:
        """One cell: ``ctxgc.page.cell/1``; without a store, without its texts. Raises ``Unknown``."""
        return cell.document(self, number, store)

    def codec(self) -> Codec:
        """The codec of its messages. Raises ``InputError``."""
        return codec_of(self.state.opened.codec if self.state.opened else "")

    def carried(self) -> Carried:
        """What was carried so far."""
        return self._once("carried", self._carried)

    def figures(self) -> Figures:
        """The figures of its cells."""
        return self._once("figures", self._figures)

    def schemas(self) -> tuple[Schema, ...]:
        """The tools on offer."""
        return self._once("schemas", lambda: schemas_of(self.carried(), self.last_calls))

    def suspects(self) -> tuple[Suspect, ...]:
        """The leak suspects."""
        return self._once("suspects", lambda: suspects(self.carried(), self.schemas()))

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What was made since the last entry, or is made now."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[return-value]

    def _charge(self, model: str) -> tuple[int, int]:
        tariff = self.tariff(model)
        return round(tariff.read * UNIT), round(tariff.write * UNIT)

    def _apply(self, entry: AnyEntry) -> None:
        self._made.clear()
        self.first = self.first or entry.at
        if active(entry) or not self.last:
            self.last = entry.at
        if isinstance(entry, Marking):  # these two change nothing of what is sent
            self.state.apply(entry)
            self.links.take(entry)
            self.references.take(entry.edges, self.state, self.links.arrivals)
        elif isinstance(entry, Settlement):
            self.state.apply(entry)
            self._settled(entry)
            self.reply = self.links.numbers.get(entry.call, 0), entry.reply
        else:
            self._changing(entry)

    def _settled(self, entry: Settlement) -> None:
        self.walk.after(entry)
        self.gc.after(entry)
        self.reports.take(entry)
        if entry.call in self.links.numbers:
            self.turns.end(self.links.numbers[entry.call], entry)

    def _changing(self, entry: AnyEntry) -> None:
        known = len(self.state.cells)
        self.walk.before(entry)
        self.gc.before(entry)
        self.state.apply(entry)
        self.walk.after(entry)
        self.gc.after(entry)
        self.links.take(entry)
        self.handles += [""] * (len(self.state.cells) - known)
        self._note(entry)

    def _note(self, entry: AnyEntry) -> None:
        if isinstance(entry, Allocation | Insertion):  # which carry what the reply before them calls
            self.reply, self.last_calls = (0, b""), ()
        match entry:
            case Allocation():
                self.turns.pace(entry.pace)
            case Collection():
                for edit in entry.edits:
                    self.handles[edit.cell] = edit.handle
            case Compaction():
                self._changes += 1
                self._compacted(entry)
            case Insertion() | Bypass() | Open():
                self._changes += 1

    def _compacted(self, entry: Compaction) -> None:
        for handle, number in entry.handles.items():
            self.handles[number] = handle
        for number in range(len(self.state.cells) - len(entry.cells), len(self.state.cells)):
            self.handles[number] = entry.handle

    def _carried(self) -> Carried:
        found = self.walk.end()
        self.fixed.take(self.state.cells)
        for request in found.requests[self.turns.count :]:
            self.turns.add(request)
            if request.continues or self.newest is None or not self.newest.continues:
                self.newest = request
        self.residents.update(self.newest, self._changes)
        return found

    def _figures(self) -> Figures:
        return figures(self.carried(), self.fixed, self.residents.flags)


def cell_document(
    entries: Iterable[AnyEntry],
    number: int,
    store: Store | None = None,
    *,
    key: bytes = b"",
    prices: PriceOf = lambda _: None,
    tariffs: Callable[[str], Tariff] | None = None,
    pacer: Pacer | None = None,
) -> Document:
    """``SessionView.cell`` of a journal that is given whole. Raises ``Unknown``, ``StoreError``."""
    view = SessionView(key, prices, tariffs or tariffs_of(prices), pacer or Pacer())
    for entry in entries:
        view.take(entry)
    view.end()
    return view.cell(number, store)
