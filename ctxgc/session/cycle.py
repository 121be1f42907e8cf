"""The cycle of a session's collections: mark and plan when a request has left, decide when the next one comes.

Rule: whatever goes wrong in here, the history is sent as it was sent before, and the journal says what it was.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace

from ctxgc.core.block import Author
from ctxgc.core.heap import content_digest
from ctxgc.core.journal import AnyEntry, Bypass
from ctxgc.core.pacer import Decision, Pacer, Tariff
from ctxgc.core.state import State
from ctxgc.session import forms
from ctxgc.session.admission import Meter, Pending
from ctxgc.session.collecting import Collected, Collecting, Standing
from ctxgc.session.coming import Came
from ctxgc.session.compacting import Compacting, terms_of
from ctxgc.session.drafts import Draft
from ctxgc.session.eden import Planned
from ctxgc.session.errands import Closing, Errand, Writing
from ctxgc.session.kit import Kit
from ctxgc.session.marking import Marker
from ctxgc.session.originals import Originals
from ctxgc.session.pacing import cold, pace_of
from ctxgc.session.recognise import Recognised
from ctxgc.session.telling import ROOM, Telling
from ctxgc.session.timing import MARK, SWEEP
from ctxgc.session.watching import reached
from ctxgc.wire.codec import Body

URGENT, OVER = 0.9, 1.25
"""The share of the window, and of the quality budget, from which on a record does without what a model would say."""
BYTES_PER_TOKEN = 4
"""Of new messages, before they are counted: only how full the window is depends on it."""
TRACKS = 8
"""Histories of one session that are kept ready to be resumed: the main one, its branches, helper calls."""


class Cycle:
    """See the module. ``reported`` are the faults of policies that the journal has, ``marker`` the indices."""

    def __init__(self, key: bytes, state: State, kit: Kit, mint: Callable[[bytes], str]) -> None:
        self.state, self.kit = state, kit
        self.collecting = Collecting(state, kit.policies, _pacer(kit), mint)
        self.reported: set[str] = set()
        self.marker = Marker()
        self.collecting.said = self.marker.said
        terms = terms_of(kit.policies)
        self.telling = Telling(state, kit, key, terms.opening if terms else ROOM)
        self.compacting = Compacting(
            state, kit, self.collecting.pacer, mint, terms, self.telling.balance, self.telling.listed
        )
        self._standing: OrderedDict[int, Standing] = OrderedDict()
        self._failed: list[str] = []
        self._closes: list[str] = []

    def collected(
        self,
        found: Recognised,
        planned: Sequence[Planned],
        body: Body,
        model: str,
        meter: Meter,
        tariff: Tariff,
        at: float,
    ) -> Generator[None, None, Collected]:
        """What of the residents goes with this request; at worst nothing does, and the journal will say why."""
        is_cold = cold(self.state, tariff, found.parent, model, at)
        nothing = Collected((), pace_of(Decision(), 0, tariff, cold=is_cold))
        if self.state.plain or not self.kit.policies or found.parent not in self.state.heads:
            return nothing
        if self.state.heads[found.parent].model != model:  # another tokenizer: what was planned does not fit it
            self.forget()
            self.collecting.forget()
        try:
            return (yield from self._decided(found, planned, body, meter, tariff, nothing))
        except Exception as error:  # fail open: sent again as it was
            self._failed.append(f"not collected: {type(error).__name__}")
            return nothing

    def told(self, collected: Collected, came: Came, model: str, meter: Meter) -> Collected:
        """With what the ledger has to tell, at the end of a request that goes on, or is the session's first."""
        drafts = came.found.drafts
        speaks = bool(drafts) and drafts[-1].message.author is not Author.AGENT
        goes_on = came.begun or not self.state.heads
        if self.state.plain or not self.kit.policies or collected.compaction is not None or not (speaks and goes_on):
            return collected
        try:
            text, told = self.telling.news(came.found.parent, meter.count)
        except Exception as error:  # fail open: it is told later
            self._failed.append(f"not told: {type(error).__name__}")
            return collected
        news = self._news(came, model, text) if text else ()
        return replace(collected, news=news, told=told) if news else collected

    def _news(self, came: Came, model: str, text: str) -> tuple[bytes, ...]:
        """The messages that tell it; none where it has to wait for a request behind which it may stand."""
        state, parent, new = self.state, came.found.parent, [draft.message for draft in came.found.drafts]
        path = state.path(parent)
        tool = forms.tool(state, parent, signed=forms.signed(state, path, new), model=model)
        if not tool and not forms.hears(model, new[-1]):
            return ()
        handle = self.compacting.mint(content_digest(text))
        return self.kit.codec.news(text, handle, tool, reasoning=forms.reasons(state, path, new))

    def marking(self, pending: Pending | None) -> Generator[None, None, AnyEntry | None]:
        """Mark what is new in a request that has been booked (None: what a process that died had not marked)."""
        call, at = (pending.call, pending.at) if pending else (b"", self.kit.clock())
        messages = [plan.draft.message for plan in pending.planned] if pending else []
        known = dict(enumerate(messages, len(self.state.nodes) - len(messages)))
        try:
            taking = self.marker.take(self.state, known, self.kit.store, self.kit.codec, call, at)
            return (yield from self.kit.timer.steps(MARK, taking))
        except Exception as error:  # fail open: less is known to be in use
            return next(self._new(call, at, [f"not marked: {type(error).__name__}"]), None)

    def planning(self, pending: Pending) -> Generator[None, None, tuple[AnyEntry, ...]]:
        """Plan for the request after one that was booked and marked: the faults that the journal is to hold."""
        try:
            head = pending.track.head
            self._standing.pop(head, None)
            self._standing[head] = yield from self._plan(head, pending.body, pending.meter, pending.tariff)
            while len(self._standing) > TRACKS:
                self._standing.popitem(last=False)
            yield from self._draft(self._standing[head], pending.body, pending.meter, pending.tariff)
            faults = [*self._failed, *self._standing[head].plan.faults]
            return tuple(self._new(pending.call, pending.at, faults))
        except Exception as error:  # fail open: less is collected
            faults = [*self._failed, f"not planned: {type(error).__name__}"]
            return tuple(self._new(pending.call, pending.at, faults))

    def _decided(
        self,
        found: Recognised,
        planned: Sequence[Planned],
        body: Body,
        meter: Meter,
        tariff: Tariff,
        nothing: Collected,
    ) -> Generator[None, None, Collected]:
        fresh = fresh_tokens(self.state, found.parent, (draft.raw for draft in found.drafts))
        is_cold = nothing.pace.cold
        standing = self._standing.get(found.parent)
        if standing is None or standing.marked != self.state.marked:
            yield from self.marker.catch_up(self.state, self.kit.store, self.kit.codec)
            standing = yield from self._plan(found.parent, body, meter, tariff)
        if not standing.surplus and self.collecting.pacer.surplus(tariff, standing.tokens + fresh):
            standing = yield from self._plan(found.parent, body, meter, tariff, fresh)
        lacks = standing.surplus and not self.compacting.made(found.parent)
        if lacks or not self.compacting.planned(found.parent):
            yield from self._draft(standing, body, meter, tariff, fresh)
        draft = self.compacting.ready(found.parent, urgent=self._urgent(standing, tariff, fresh))
        if draft is not None:
            decision = self.collecting.compact(draft, standing, tariff, fresh, cold=is_cold)
            if decision.taken:
                self.forget()
                pace = pace_of(decision, len(standing.loads), tariff, cold=is_cold)
                return Collected(draft.edits, pace, "major", draft)
        if not standing.loads or not (standing.due or is_cold or standing.surplus):
            return replace(nothing, pace=pace_of(Decision(), len(standing.loads), tariff, cold=is_cold))
        needed = self._needed(found, planned)
        decision, taken = self.collecting.decide(standing, needed, tariff, fresh, cold=is_cold)
        edits = tuple(candidate.edit for candidate in taken)
        pace = pace_of(decision, len(standing.loads), tariff, cold=is_cold)
        if edits:  # what was planned for other histories may hold the same cells
            self.forget()
        return Collected(edits, pace, self.collecting.generation(taken, found.parent))

    def _urgent(self, standing: Standing, tariff: Tariff, fresh: int) -> bool:
        """Whether there is so little room left that no model's answer is waited for."""
        total, quality = standing.tokens + fresh, self.compacting.pacer.quality
        return bool((tariff.window and total > URGENT * tariff.window) or (quality and total > OVER * quality))

    def took(self, pending: Pending) -> None:
        """A request was booked: milestones may be reached with it, and a compaction closes the period where none is."""
        names = list(dict.fromkeys(reached(self.kit.milestones, pending.planned)))
        draft = pending.collected.compaction
        self._closes += names or ([""] if draft is not None and draft.trigger != "milestone" else [])

    def errands(self) -> list[Errand]:
        """What is to be run in a thread, since it was last asked."""
        found: list[Errand] = []
        summariser, ledger = self.kit.summariser, self.telling.ledger
        found += (Closing(ledger, name) for name in self._closes if name or ledger is not None)
        if summariser is not None:
            ref, own = f"session {self.telling.key.hex()[:16]}", not summariser.model
            found += (Writing(job, summariser.ask, own, ledger, ref) for job in self.compacting.questions.jobs)
        self._closes.clear()
        self.compacting.questions.jobs.clear()
        return found

    def forget(self) -> None:
        """Let go of what was planned for histories: something of them has changed."""
        self._standing.clear()
        self.compacting.forget()

    def _needed(self, found: Recognised, planned: Sequence[Planned]) -> frozenset[int]:
        """The residents that the new messages need: those the agent refers to, and those a new pointer stands for."""
        agent = [draft.message for draft in found.drafts if draft.message.author is Author.AGENT]
        targets = {edit.of for plan in planned for edit in plan.edits if edit.of is not None}
        return frozenset(targets.union(*map(self.marker.referred, agent)))

    def _plan(
        self, head: int, body: Body, meter: Meter, tariff: Tariff, fresh: int = 0
    ) -> Generator[None, None, Standing]:
        texts = Originals(body, self.kit.codec, self.state)
        toolset, quotable = self.state.heads[head].toolset, self.marker.quotable()
        planning = self.collecting.standing(head, toolset, tariff, quotable, texts, meter.count, fresh)
        return (yield from self.kit.timer.steps(SWEEP, planning))

    def _draft(
        self, standing: Standing, body: Body, meter: Meter, tariff: Tariff, fresh: int = 0
    ) -> Generator[None, None, Draft | None]:
        texts = Originals(body, self.kit.codec, self.state)
        return (yield from self.compacting.preparing(standing, texts, meter, tariff, fresh))

    def _new(self, call: bytes, at: float, faults: Iterable[str]) -> Iterator[Bypass]:
        """The faults that the journal does not have yet, once each."""
        for fault in faults:
            if fault not in self.reported:
                self.reported.add(fault)
                yield Bypass(at=at, call=call, reason=fault)


def fresh_tokens(state: State, parent: int, raws: Iterable[bytes]) -> int:
    """About the tokens that a request sends for the first time: its new messages, and what is ours before them."""
    return sum(map(len, raws)) // BYTES_PER_TOKEN + state.fresh(parent)


def _pacer(kit: Kit) -> Pacer:
    """The kit's pacer; a budget among the policies that has a target sets its quality budget."""
    targets = (getattr(policy, "target", 0) for policy in kit.policies if policy.name == "budget")
    target = max((one for one in targets if isinstance(one, int)), default=0)
    return replace(kit.pacer, quality=target) if target else kit.pacer
