"""Asking a model for its part of a record: about what, and whether that is worth its price.

Rule: one question at a time, about what no model was asked about yet. At a milestone none is asked unless the pacer
would compact even with the price of asking on the bill; where room must be made, the price is no reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from ctxgc.core.compaction import Item
from ctxgc.core.nodes import Node
from ctxgc.core.pacer import Circumstances, Pacer, Tariff
from ctxgc.core.record import Original, Record, still_open, with_items
from ctxgc.core.state import State
from ctxgc.session.admission import Meter
from ctxgc.session.drafts import Draft
from ctxgc.session.kit import Kit
from ctxgc.summarise import Breaker, Job

LEAST = 2_000
"""Characters of a span below which no model is asked about it."""
SHARE = 4
"""The part of a span, one in so many, that no model was asked about yet, from which on one is asked."""
WINDOW = 32_000
"""Tokens that a summariser's window is taken to have, if it is not known."""
FRAME, MOST = 1_000, 1_500
"""Tokens of a question besides the originals, and of one original that it shows at most: about."""


@dataclass(slots=True)
class Questions:
    """What one session asks models. ``jobs`` are for whoever takes them; ``out`` says that an answer is waited for."""

    state: State
    kit: Kit
    pacer: Pacer
    jobs: list[Job] = field(default_factory=list)
    out: bool = False

    def consider(
        self,
        draft: Draft,
        path: Sequence[Node],
        originals: Sequence[Original],
        meter: Meter,
        tariff: Tariff,
        now: Circumstances,
    ) -> None:
        """Have a model asked about what of a draft's span none was asked about yet, unless they failed too often."""
        summariser, state = self.kit.summariser, self.state
        if summariser is None or self.out or not Breaker.of(state.outcomes).asks:
            return
        unsaid = self._unsaid(path, originals)
        if not unsaid or not self._worth(draft, unsaid, tariff, now):
            return
        items, resolved, _ = said(state, path)
        model = summariser.model or state.heads[path[-1].id].model
        job = Job(
            model=model, originals=unsaid, count=meter.count, after=draft.span.after, upto=draft.span.upto,
            at=self.kit.clock(), still_open=still_open(with_items(Record(), items, resolved)), number=len(items),
            window=summariser.window or self.kit.tariff(model).window or WINDOW,
        )  # fmt: skip
        self.jobs.append(job)
        self.out = True

    def answered(self) -> None:
        """Wait for no answer any more."""
        self.out = False

    def _unsaid(self, path: Sequence[Node], originals: Sequence[Original]) -> tuple[Original, ...]:
        """What is to be asked about; nothing where that is too little."""
        depths = {node.id: node.depth for node in path}
        done = max((depths.get(one.upto, -1) for one in self.state.summaries), default=-1)
        found = tuple(one for one in originals if depths[one.node] > done and not one.pinned)
        size = sum(len(one.text) for one in originals)
        return found if sum(len(one.text) for one in found) >= max(LEAST, size // SHARE) else ()

    def _worth(self, draft: Draft, unsaid: Sequence[Original], tariff: Tariff, now: Circumstances) -> bool:
        """Whether a draft is going to be used, even if asking is paid for: by the prices of the session's own model."""
        load = draft.load()
        if load.urgency == "forced":
            return True
        tokens = FRAME + sum(min(self.state.cells[one.cell].tokens, MOST) for one in unsaid)
        asked = replace(now, paid=now.paid + tariff.write * tokens)
        return bool(self.pacer.decide([load], tariff, asked).taken)


def said(state: State, path: Sequence[Node]) -> tuple[tuple[Item, ...], frozenset[int], str]:
    """What models have said of a history: the items, the numbers of those that are done with, and which model.

    Items are numbered in the order of the log; those of other histories keep their places, and say nothing.
    """
    here = {node.id for node in path}
    items: list[Item] = []
    resolved: set[int] = set()
    by = ""
    for summary in state.summaries:
        if summary.upto in here:
            items += summary.items
            resolved |= set(summary.resolved)
            by = summary.model if summary.items else by
        else:
            items += (structs.replace(item, field="") for item in summary.items)
    return tuple(items), frozenset(resolved), by
