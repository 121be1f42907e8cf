"""What happened, read from the audit store alone: histories are walked message by message, nothing is summed up before.

This is not how the metrics are counted, which is the point: the two have to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Insertion,
    Open,
    Recall,
    Settlement,
)
from ctxgc.lab.carried import carried
from ctxgc.lab.profile import schemas_of
from ctxgc.lab.suspects import suspects
from ctxgc.tokens import Price, PriceTable
from tests.dashboards.bills import MODELS, Ended, reported
from tests.dashboards.facts import Facts
from tests.dashboards.histories import History, Item, Request, saved

LOOKS = (10, 20, 40, 80)
"""Ended requests at which a session is searched for leaks."""


def recompute(journals: Mapping[bytes, Sequence[AnyEntry]]) -> Facts:
    """All that the journals of sessions tell."""
    facts, prices = Facts(), PriceTable.load()
    sessions = [entries for entries in journals.values() if entries and isinstance(entries[0], Open)]
    readers = [_Reader(facts, prices.price) for _ in sessions]
    for reader, entries in zip(readers, sessions, strict=True):
        for entry in entries:
            reader.take(entry)
        reader.end(entries)
    facts.add("sessions", len(sessions))
    facts.add("entries", sum(map(len, sessions)))
    reported(facts, [one for reader in readers for one in reader.ended], prices.price)
    return facts


class _Reader:
    """Reads one session."""

    def __init__(self, facts: Facts, price: Callable[[str], Price | None]) -> None:
        self.facts, self.price = facts, price
        self.history = History()
        self.open: dict[bytes, Request] = {}
        self.ended: list[Ended] = []
        self.newest: Request | None = None
        self.pace = (0.0, 0.0)

    def take(self, entry: AnyEntry) -> None:
        match entry:
            case Allocation():
                self.history.allocate(entry)
                self._look(entry)
                if entry.pace is not None and entry.model in MODELS:
                    self.pace = entry.pace.paid, entry.pace.untouched
            case Collection():
                self._collected(entry)
            case Compaction():
                self._compacted(entry)
            case Insertion():
                self._inserted(entry)
            case Recall():
                self._recalled(entry)
            case Settlement():
                self._settled(entry)
            case Bypass():
                self.facts.add("fail open", 1, reason=entry.reason.split()[0])
            case Milestone():
                self.facts.add("milestones", 1)
            case Gap():
                self.facts.add("gaps", entry.calls)
            case Summary():
                self.facts.add("answers", 1, outcome="taken" if entry.outcome == "taken" else "refused")
                self.facts.add("asked", entry.input, kind="input")
                self.facts.add("asked", entry.output, kind="output")
            case _:
                pass

    def end(self, entries: Sequence[AnyEntry]) -> None:
        """The session as it stands."""
        for kind, dollars in zip(("paid", "untouched"), self.pace, strict=True):
            self.facts.add("input cost", dollars, kind=kind)
        for _ in self.open:
            self.facts.add("in flight", 1)
        for item, tokens in (*self.newest.sent, *self.newest.tools_sent) if self.newest else ():
            self.facts.add("live", tokens, tag=self._place(item.cell)["tag"])
        for rule in _leaks(entries):
            self.facts.add("suspects", 1, rule=rule)

    def _look(self, entry: Allocation) -> None:
        """What a request carries by now: each cell, with its tokens and whether it is new in it."""
        cells, old = self.history.cells, entry.schemas is None
        known = self.open.get(entry.call)
        self.open[entry.call] = Request(
            entry,
            [(item, cells[item.cell].came) for item in self.history.came(entry)],
            [(item, cells[item.cell].sent) for item in self.history.left(entry)],
            [(Item(cell, old), cells[cell].came) for cell in self.history.tools(entry, sent=False)],
            [(Item(cell, old), cells[cell].sent) for cell in self.history.tools(entry, sent=True)],
            known.collected if known else False,
        )

    def _collected(self, entry: Collection) -> None:
        behind = entry.generation != "eden" and all(edit.policy == "compaction" for edit in entry.edits)
        request = self.open[entry.call]
        for edit, (_, action, gone) in zip(entry.edits, [*self.history.collect(entry)], strict=True):
            if gone > 0:
                self.facts.add("collected", gone, action=action, **self._place(edit.cell))
        if not behind:
            pace = request.entry.pace
            eden = entry.generation == "eden"
            trigger = "eden" if eden else pace.trigger if pace else ""
            self.facts.add("collections", 1, trigger=trigger, generation=entry.generation, outcome="collected")
        request.collected = True
        self._look(request.entry)

    def _compacted(self, entry: Compaction) -> None:
        request = self.open[entry.call]
        self.history.spans.append((entry, self.history.new(entry.cells, ours=True)))
        left = {item.cell for item in self.history.left(request.entry)}
        for item, tokens in request.sent:
            if item.cell not in left:
                self.facts.add("collected", tokens, action="summarize", **self._place(item.cell))
        self.facts.add("collections", 1, trigger=entry.trigger, generation="major", outcome="collected")
        self.facts.add("compactions", 1, trigger=entry.trigger, by="model" if entry.by else "code")
        request.collected = True
        self._look(request.entry)

    def _inserted(self, entry: Insertion) -> None:
        self.history.insert(entry)
        if entry.told >= 0:  # it leaves with the request that it was made for
            self.facts.add("news", 1)
            self._look(self.open[entry.call].entry)

    def _recalled(self, entry: Recall) -> None:
        if not entry.found:
            self.facts.add("resurrections", 1, tag="", outcome="miss")
            return
        place = self._place(entry.cell)
        self.facts.add("resurrections", 1, tag=place["tag"], outcome="hit")
        self.facts.add("resurrected", self.history.edited[entry.cell], **place)

    def _settled(self, entry: Settlement) -> None:
        request = self.open.pop(entry.call)
        provider, model = MODELS.get(request.entry.model, ("other", "other"))
        self.facts.add("requests", 1, provider=provider, model=model, outcome=entry.outcome)
        self._carried(request, provider, model)
        self._times(entry, provider, model)
        if not request.collected:
            self.facts.add("collections", 1, trigger="none", generation="none", outcome="noop")
        if self.newest is None or request.entry.continues or not self.newest.entry.continues:
            self.newest = request
        self.ended.append((entry, request))

    def _carried(self, request: Request, provider: str, model: str) -> None:
        stages = {
            "received": [*request.received, *request.tools_received],
            "forwarded": [*request.sent, *request.tools_sent],
        }
        price = self.price(request.entry.model) if model != "other" else None
        for stage, items in stages.items():
            if stage == "received" and request.entry.again:
                continue
            for item, tokens in items:
                residency = "replayed" if item.old else "fresh"
                self.facts.add("context", tokens, stage=stage, residency=residency, **self._place(item.cell))
            size = sum(tokens for _, tokens in items)
            self.facts.add("size", size, stage=stage, model=model)
            if price and price.max_input_tokens:
                self.facts.add("window", size / price.max_input_tokens, stage=stage, model=model)
        self.facts.add("saved", sum(saved(request)), kind="saved")
        pace = request.entry.pace
        if pace is not None and pace.trigger:
            self.facts.add("saved", pace.live, kind="rewritten")
            self.facts.add("invalidated", pace.live, provider=provider, cause=pace.trigger)
            if price:
                self.facts.add("dollars", pace.price, model=model, kind="cache_penalty")

    def _times(self, entry: Settlement, provider: str, model: str) -> None:
        self.facts.add("overhead", entry.overhead)
        if entry.outcome == "ok":
            self.facts.add("duration", entry.duration, provider=provider, model=model)
        if entry.first_token > 0:
            self.facts.add("first token", entry.first_token, provider=provider, model=model)

    def _place(self, cell: int) -> dict[str, str]:
        tag, _, source = self.history.cells[cell].tag.partition(":")
        return {"tag": tag, "source": source}


def _leaks(entries: Sequence[AnyEntry]) -> Iterator[str]:
    """The rule of each suspect that some look at the session finds."""
    ends = [at for at, entry in enumerate(entries, 1) if isinstance(entry, Settlement)]
    found = set[tuple[str, str]]()
    for look in LOOKS:
        if look <= len(ends):
            whole = carried(entries[: ends[look - 1]])
            found.update((one.rule, one.subject) for one in suspects(whole, schemas_of(whole)))
    return (rule for rule, _ in found)
