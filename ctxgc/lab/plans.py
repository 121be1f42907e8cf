"""The plan for a request, made again: which cells could have gone with it, and how that was decided.

Rule: nothing is decided here. What a session plans and decides with is given the state and the texts of that moment,
so that the plan that is shown is the plan that was applied; where the journal says otherwise, that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ctxgc.core import pacer, stub
from ctxgc.core.block import Author, Message
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction
from ctxgc.core.evacuation import Candidate
from ctxgc.core.journal import Allocation, AnyEntry, Collection
from ctxgc.core.nodes import Node
from ctxgc.core.pacer import Circumstances, Decision, Load, Pacer, Tariff
from ctxgc.core.state import EDEN, State
from ctxgc.lab.moments import Moment
from ctxgc.session import Kit, drain
from ctxgc.session.collecting import Standing, circumstances
from ctxgc.session.cycle import Cycle, fresh_tokens
from ctxgc.session.drafts import Draft
from ctxgc.session.originals import Originals, content
from ctxgc.session.pacing import cold, tariff_for
from ctxgc.store import Store
from ctxgc.wire.codec import Codec


@dataclass(frozen=True, slots=True)
class Offer:
    """A candidate, its load, and what collecting it and all newer ones would have meant.

    ``figures`` are None where it was ``needed`` by a new message, or goes only to make room and none was asked for.
    """

    candidate: Candidate
    load: Load
    figures: Decision | None
    needed: bool
    taken: bool


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A plan and its decision. ``offers`` are the candidates, newest first; ``reprieves`` say by cell what spared it.

    ``state`` is that of the request as it left. ``agrees`` is whether the same cells went, in the same form, and by
    the same trigger, as the journal says: other policies, prices or versions than those in force then make it False.
    ``compaction`` is the span that was left out with the request; what a ledger said in its record is not made again.
    """

    state: State
    offers: tuple[Offer, ...]
    reprieves: Mapping[int, str]
    decision: Decision
    now: Circumstances
    tariff: Tariff
    pacer: Pacer
    agrees: bool
    compaction: Draft | None = None


def rebuild(moment: Moment, kit: Kit, key: bytes) -> Rebuilt:
    """Make the plan of a request of the session ``key`` again, with the policies and the pacer of ``kit``.

    Raises ``StoreError`` where the store has lost what the plan was made from, ``ValueError`` for entries that do not
    fit together.
    """
    alone = replace(kit, summariser=None, ledger=None)  # nobody is asked anything here
    cycle = Cycle(key, State(), alone, partial(stub.mint, kit.store.secret, key))
    return _Again(moment, alone, cycle, waits=kit.summariser is not None).rebuilt()


class _Again:
    """The work on one moment: the state is brought forward step by step, as it was live."""

    def __init__(self, moment: Moment, kit: Kit, cycle: Cycle, *, waits: bool) -> None:
        self.moment, self.kit, self.state, self.waits = moment, kit, cycle.state, waits
        self.collecting, self.compacting, self.marker = cycle.collecting, cycle.compacting, cycle.marker

    def rebuilt(self) -> Rebuilt:
        """Plan as when the request before had left, decide as when this one came, and take what it brought."""
        moment, state = self.moment, self.state
        earlier, since = moment.before[: moment.planned], moment.before[moment.planned :]
        for entry in earlier:
            state.apply(entry)
        stale = any(isinstance(entry, Compaction) or _collects(entry) for entry in since)
        standing = self._plan(moment.previous or moment.entry) if self._possible() and not stale else None
        for entry in since:
            state.apply(entry)
        if not self._possible():
            standing = None
        elif standing is None or standing.marked != state.marked:
            standing = self._plan(moment.entry)
        tariff = self._tariff(moment.entry)
        raws = (self.kit.store.blob(node.blob) for node in moment.entry.nodes)
        fresh = fresh_tokens(state, moment.entry.parent, raws)
        if standing and not standing.surplus and self._surplus(standing, tariff, fresh):
            standing = self._plan(moment.entry, fresh)
        found = self._decided(standing, tariff, fresh)
        for entry in moment.own:
            state.apply(entry)
        return found

    def _possible(self) -> bool:
        return bool(self.kit.policies) and not self.state.plain and self.moment.entry.parent in self.state.heads

    def _surplus(self, standing: Standing, tariff: Tariff, fresh: int) -> int:
        return self.collecting.pacer.surplus(tariff, standing.tokens + fresh)

    def _plan(self, of: Allocation, fresh: int = 0) -> Standing:
        head, store, codec = self.moment.entry.parent, self.kit.store, self.kit.codec
        drain(self.marker.catch_up(self.state, store, codec))
        texts, meter = partial(content, self.state, store, codec), self.kit.meter(of.model)
        toolset, quotable = self.state.heads[head].toolset, self.marker.quotable()
        return drain(self.collecting.standing(head, toolset, self._tariff(of), quotable, texts, meter.count, fresh))

    def _decided(self, standing: Standing | None, tariff: Tariff, fresh: int) -> Rebuilt:
        entry, state = self.moment.entry, self.state
        is_cold = entry.pace.cold if entry.pace else cold(state, tariff, entry.parent, entry.model, entry.at)
        tokens = standing.tokens if standing else 0
        now = circumstances(self.state, tariff, entry.parent, tokens, fresh, cold=is_cold)
        needed = self._needed() if standing and standing.loads else frozenset[int]()
        decision, draft = self._compacts(standing, tariff, fresh, cold=is_cold) if standing else (Decision(), None)
        taken = tuple[Candidate, ...]()
        if draft is None and standing and standing.loads and (standing.due or is_cold or standing.surplus):
            decision, taken = self.collecting.decide(standing, needed, tariff, fresh, cold=is_cold)
        cells = {candidate.edit.cell for candidate in taken}
        forced = bool(standing and self._surplus(standing, tariff, fresh))
        offers = tuple(_offers(standing, needed, cells, tariff, now, forced=forced)) if standing else ()
        spared = standing.plan.reprieves if standing else ()
        reprieves = {one.cell: f"{one.policy} would have it go: {one.why}" for one in spared}
        agrees = self._agrees(draft.edits if draft else [one.edit for one in taken], decision, len(offers), draft)
        return Rebuilt(state, offers, reprieves, decision, now, tariff, self.collecting.pacer, agrees, draft)

    def _compacts(self, standing: Standing, tariff: Tariff, fresh: int, *, cold: bool) -> tuple[Decision, Draft | None]:
        """Whether a span is left out with the request, as ``Cycle`` decides it: the draft was made ready before, or is
        made now. One that the journal does not have may have waited for a model's answer, or been larger by what the
        ledger said."""
        done = any(isinstance(entry, Compaction) for entry in self.moment.own)
        if not done and (self.waits or self.state.told(self.moment.entry.parent) >= 0):
            return Decision(), None
        texts = _Stored(self.state, self.kit.store, self.kit.codec)
        meter = self.kit.meter(self.moment.entry.model)
        draft = drain(self.compacting.preparing(standing, texts, meter, tariff))
        if draft is None and standing.surplus:
            draft = drain(self.compacting.preparing(standing, texts, meter, tariff, fresh))
        decision = self.collecting.compact(draft, standing, tariff, fresh, cold=cold) if draft else Decision()
        return (decision, draft) if decision.taken else (Decision(), None)

    def _needed(self) -> frozenset[int]:
        """The cells that the request's new messages refer to, and those that a new pointer stands for."""
        drain(self.marker.catch_up(self.state, self.kit.store, self.kit.codec))
        collections = [entry for entry in self.moment.own if isinstance(entry, Collection)]
        pointed = {edit.of for entry in collections for edit in entry.edits if edit.of is not None}
        messages = (self.kit.codec.decode(self.kit.store.blob(node.blob)) for node in self.moment.entry.nodes)
        agent = [message for message in messages if message.author is Author.AGENT]
        return frozenset(pointed.union(*map(self.marker.referred, agent)))

    def _tariff(self, of: Allocation) -> Tariff:
        """The model's tariff at the prices that its request was decided by."""
        tariff, pace = tariff_for(self.state, self.kit.tariff(of.model)), of.pace
        return replace(tariff, read=pace.read, write=pace.write) if pace and (pace.read or pace.write) else tariff

    def _agrees(self, edits: Iterable[Edit], decision: Decision, candidates: int, draft: Draft | None) -> bool:
        own, pace = self.moment.own, self.moment.entry.pace
        made = [edit for entry in own if isinstance(entry, Collection) and _collects(entry) for edit in entry.edits]
        out = [(one.after, one.upto, one.kept, one.trigger) for one in own if isinstance(one, Compaction)]
        span = draft.span if draft else None
        again = [(span.after, span.upto, span.kept, draft.trigger)] if draft and span else []
        same = pace is None or (pace.trigger, pace.candidates) == (decision.trigger, candidates)
        return same and made == list(edits) and out == again


def _collects(entry: AnyEntry) -> bool:
    """Whether an entry changes what was sent before."""
    return isinstance(entry, Collection) and entry.generation != EDEN


def _offers(
    standing: Standing, needed: frozenset[int], taken: set[int], tariff: Tariff, now: Circumstances, *, forced: bool
) -> Iterator[Offer]:
    pairs = list(zip(standing.plan.candidates, standing.loads, strict=True))
    open_ = [one.edit.cell not in needed and (forced or load.urgency != "forced") for one, load in pairs]
    figures = pacer.figures([load for (_, load), free in zip(pairs, open_, strict=True) if free], tariff, now)
    for (candidate, load), free in zip(pairs, open_, strict=True):
        cell = candidate.edit.cell
        yield Offer(candidate, load, next(figures) if free else None, cell in needed, cell in taken)


class _Stored(Originals):
    """The original texts of a session, read from its store."""

    def __init__(self, state: State, store: Store, codec: Codec) -> None:
        self._state, self._store, self._codec = state, store, codec

    def __call__(self, cell: int) -> str:
        return content(self._state, self._store, self._codec, cell)

    def message(self, node: Node) -> Message:
        return self._codec.decode(self._store.blob(node.blob))
